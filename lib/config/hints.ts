import * as z from 'zod';
import { configSchema } from './schema.ts';

/** The schema at a path of the configuration, without its defaults; undefined if the schema has no such path. Every element of a list has the same. */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const name of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element);
    else at = at instanceof z.ZodObject ? unwrap(at.shape[String(name)]) : undefined;
  }
  return at;
}

/** The allowed values of a schema without defaults, in words. */
export function allowedIn(schema: z.core.$ZodType): string {
  const { allowed } = z.globalRegistry.get(schema) ?? {};
  if (typeof allowed === 'string') return allowed;
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape).join(', ');
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `\`${option}\``).join(' or ');
  const { type, minimum, maximum } = z.toJSONSchema(schema, { io: 'input' });
  return `${type === 'integer' ? 'a whole number' : 'a number'}, ${minimum} to ${maximum}`;
}

/** The schema without its defaults and `optional`. */
export function unwrap<T extends z.core.$ZodType | undefined>(schema: T): T | z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.def.innerType);
  return schema;
}

/** The most similar candidate: one starts with the other, or at most a third of the characters differ. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        candidate.startsWith(word) || word.startsWith(candidate) || distance <= Math.max(2, candidate.length / 3),
    )
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Levenshtein distance, row by row. */
function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const substituted = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(substituted, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
