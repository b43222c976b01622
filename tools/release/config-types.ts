import * as z from 'zod';
import { configSchema } from '../../lib/config/config-schema.ts';
import { allowedIn, meta, unwrap } from '../../operator/config/parse-config.ts';
import { stageFields } from '../../operator/config/settings.ts';

/** What this reads of a JSON schema. */
type Schema = {
  type?: string;
  description?: string;
  default?: unknown;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: Schema | boolean;
};

function fieldsOfAStage(): Record<string, Schema> {
  const { properties = {} } = z.toJSONSchema(configSchema, {
    io: 'input',
    target: 'draft-7',
    override({ jsonSchema }) {
      const { allowed, description } = jsonSchema;
      delete jsonSchema.allowed; // ours: only its text is of use in an editor
      if (typeof allowed === 'string') {
        jsonSchema.description = `${description ?? ''} Allowed: ${allowed}.`.trim();
      }
    },
  }) as Schema;
  return properties;
}

/** The JSON schema of `bag-adres.json`, with which an editor completes and checks it. */
export function configJsonSchema(): object {
  const { stage, ...fields } = fieldsOfAStage();
  const pattern = (stage as { pattern?: string }).pattern;
  const own = stageFields.map((field) => [field, fields[field]]);
  // A group may have one part in `shared` and another in a stage.
  const others = Object.entries(fields).filter(([name]) => !stageFields.includes(name));
  const shared = Object.fromEntries(others.map(([name, field]) => [name, withoutRequired(field)]));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    title: 'bag-adres.json',
    description: 'The settings of a bag-adres deployment, by stage.',
    type: 'object',
    properties: {
      $schema: { type: 'string' },
      shared: {
        description: 'What all stages share.',
        type: 'object',
        properties: shared,
        additionalProperties: false,
      },
      stages: {
        description:
          'What differs by stage. A stage is one deployment: its stacks are named bag-adres-STAGE-...',
        type: 'object',
        minProperties: 1,
        propertyNames: { pattern },
        additionalProperties: {
          type: 'object',
          properties: { ...shared, ...Object.fromEntries(own) },
          additionalProperties: false,
        },
      },
    },
    required: ['stages'],
    additionalProperties: false,
  };
}

function withoutRequired({ required: _, ...schema }: Schema): Schema {
  if (!schema.properties) return schema;
  const properties = Object.entries(schema.properties).map(([name, field]) => [
    name,
    withoutRequired(field),
  ]);
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** The type of a configuration as an operator writes it, with the documentation of each field. */
export function configInputDeclaration(): string {
  return `export type ConfigInput = ${object({ properties: fieldsOfAStage() }, '')};`;
}

function object({ properties = {}, required = [] }: Schema, indent: string): string {
  const inner = `${indent}    `;
  const members = Object.entries(properties).flatMap(([name, field]) => {
    const given =
      field.default === undefined ? '' : ` Default: \`${JSON.stringify(field.default)}\`.`;
    const text = `${field.description ?? ''}${given}`.replaceAll('*/', '*\\/');
    const optional = required.includes(name) ? '' : '?';
    const type = `${typeOf(field, inner)}${optional ? ' | undefined' : ''}`;
    return [`${inner}/** ${text} */`, `${inner}${name}${optional}: ${type};`];
  });
  return `{\n${members.join('\n')}\n${indent}}`;
}

function typeOf(field: Schema, indent: string): string {
  if (field.const !== undefined) return JSON.stringify(field.const);
  if (field.enum) return field.enum.map((value) => JSON.stringify(value)).join(' | ');
  if (field.anyOf) return field.anyOf.map((variant) => typeOf(variant, indent)).join(' | ');
  if (field.properties) return object(field, indent);
  if (typeof field.additionalProperties === 'object') {
    return `Record<string, ${typeOf(field.additionalProperties, indent)}>`;
  }
  if (field.items) return `(${typeOf(field.items, indent)})[]`;
  if (field.type === 'integer' || field.type === 'number') return 'number';
  if (field.type === 'string' || field.type === 'boolean') return field.type;
  throw new Error(`This field has a form that its type has no words for: ${JSON.stringify(field)}`);
}

/** The configuration as a Markdown table, one row for each field, generated from the schema. */
export function configTable(): string {
  return [
    '| field | allowed | default | what it does |',
    '|---|---|---|---|',
    ...rows(configSchema, []),
  ].join('\n');
}

function rows(schema: z.core.$ZodType, path: readonly string[]): string[] {
  const inner = unwrap(schema);
  const row =
    path.length === 0
      ? []
      : [
          `| \`${path.join('.')}\` | ${inner instanceof z.ZodObject ? (sameAs(inner) ?? 'the fields below') : allowedIn(inner)} | ${defaultOf(schema)} | ${meta(schema).description} |`,
        ];
  if (!(inner instanceof z.ZodObject) || sameAs(inner)) return row;
  return [
    ...row,
    ...Object.entries(inner.shape).flatMap(([name, field]) => rows(field, [...path, name])),
  ];
}

/**
 * Where all fields of a group are also those of one at the top, which has more: the names that are
 * left.
 */
function sameAs(group: z.ZodObject): string | undefined {
  const fields = Object.entries(group.shape);
  for (const [name, schema] of Object.entries(configSchema.shape)) {
    const other = unwrap(schema);
    if (!(other instanceof z.ZodObject) || Object.keys(other.shape).length <= fields.length) {
      continue;
    }
    if (!fields.every(([field, of]) => other.shape[field] === of)) continue;
    return `${fields.map(([field]) => `\`${field}\``).join(', ')}, as in \`${name}\``;
  }
  return undefined;
}

function defaultOf(schema: z.core.$ZodType): string {
  if (schema instanceof z.ZodDefault) return `\`${JSON.stringify(schema.def.defaultValue)}\``;
  if (schema instanceof z.ZodOptional) return 'none';
  return schema instanceof z.ZodPrefault ? 'theirs' : 'required';
}
