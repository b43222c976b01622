import * as z from 'zod';
import { configSchema } from './schema.ts';

/** The names that may stand at a path of the configuration, in the order of the schema. */
export function allowed(path: readonly PropertyKey[]): string[] {
  let at: z.core.$ZodType = configSchema;
  for (const name of path) {
    const shape = unwrap(at);
    if (!(shape instanceof z.ZodObject)) return [];
    at = shape.shape[String(name)] ?? z.never();
  }
  const shape = unwrap(at);
  return shape instanceof z.ZodObject ? Object.keys(shape.shape) : [];
}

/** The schema below defaults and optional. */
export function unwrap(schema: z.core.$ZodType): z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.def.innerType);
  return schema;
}

/** The candidate that `word` was probably meant to be: at most a third of its letters differ. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ candidate, distance }) => distance <= Math.max(2, candidate.length / 3))
    .sort((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** Levenshtein distance, by rows. */
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
