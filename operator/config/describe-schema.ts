import * as z from 'zod';
import { configSchema } from '../../lib/config/schema.ts';

/**
 * The allowed values of a schema without defaults, in words: for the faults of a configuration and for its
 * documentation.
 */
export function allowedIn(schema: z.core.$ZodType): string {
  const { allowed } = meta(schema);
  if (typeof allowed === 'string') return allowed;
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape).join(', ');
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `\`${option}\``).join(' or ');
  const { type, minimum, maximum } = z.toJSONSchema(schema, { io: 'input' });
  return `${type === 'integer' ? 'a whole number' : 'a number'}, ${minimum} to ${maximum}`;
}

/**
 * The schema at a path of the configuration, without its defaults; undefined if the schema has no such path. Every
 * element of a list has the same.
 */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const name of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element);
    else at = at instanceof z.ZodObject ? unwrap(at.shape[String(name)]) : undefined;
  }
  return at;
}

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

/** The schema without its defaults and `optional`. */
function unwrap<T extends z.core.$ZodType | undefined>(schema: T): T | z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.def.innerType);
  return schema;
}

function meta(schema: z.core.$ZodType) {
  return z.globalRegistry.get(schema) ?? {};
}
