import * as z from 'zod/mini';

/** Gives an object schema its name in the document, and words for it and for those of its members that need some. */
export function nameSchema<Schema extends z.core.$ZodObject>(
  schema: Schema,
  id: string,
  description: string,
  members: { [Member in keyof Schema['_zod']['def']['shape']]?: string } = {},
): Schema {
  z.globalRegistry.add(schema, { id, description });
  for (const [member, words] of Object.entries(members)) {
    const memberSchema = schema._zod.def.shape[member];
    if (memberSchema) z.globalRegistry.add(memberSchema, { description: String(words) });
  }
  return schema;
}
