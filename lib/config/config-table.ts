import * as z from 'zod';
import { allowedIn, unwrap } from './hints.ts';
import { configSchema } from './schema.ts';

/** The configuration as a Markdown table, one row for each field, generated from the schema. */
export function configTable(): string {
  return ['| field | allowed | default | what it does |', '|---|---|---|---|', ...rows(configSchema, [])].join('\n');
}

function rows(schema: z.core.$ZodType, path: readonly string[]): string[] {
  const inner = unwrap(schema);
  const row =
    path.length === 0
      ? []
      : [
          `| \`${path.join('.')}\` | ${inner instanceof z.ZodObject ? 'the fields below' : allowedIn(inner)} | ${defaultOf(schema)} | ${meta(schema).description} |`,
        ];
  if (!(inner instanceof z.ZodObject)) return row;
  return [...row, ...Object.entries(inner.shape).flatMap(([name, field]) => rows(field, [...path, name]))];
}

function defaultOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodDefault) return `\`${JSON.stringify(schema.def.defaultValue)}\``;
  if (schema instanceof z.ZodOptional) return 'none';
  return schema instanceof z.ZodPrefault ? 'theirs' : 'required';
}

function meta(schema: z.core.$ZodType) {
  return z.globalRegistry.get(schema) ?? {};
}
