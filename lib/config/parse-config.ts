import type * as z from 'zod';
import { ConfigError } from './config-error.ts';
import { contradictions } from './contradictions.ts';
import { allowedIn, nearest, schemaAt } from './hints.ts';
import { type Config, configSchema } from './schema.ts';

/** A configuration that is complete and free of contradictions; throws ConfigError otherwise. */
export function parseConfig(record: unknown): Config {
  const parsed = configSchema.safeParse(record ?? {}, { reportInput: true });
  if (!parsed.success) throw new ConfigError(parsed.error.issues.flatMap(describe));
  const faults = contradictions(parsed.data);
  if (faults.length > 0) throw new ConfigError(faults);
  return parsed.data;
}

function describe(issue: z.core.$ZodIssue): string[] {
  const field = ['bagAdres', ...issue.path].join('.');
  const schema = schemaAt(issue.path);
  // Only a tag can be wrong at a place that the schema does not name.
  const allowed = schema ? allowedIn(schema) : 'a tag that AWS accepts, whose name does not begin with aws:';
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const guess = nearest(key, allowed.split(', '));
      return `${field}.${key} is not known.${guess ? ` Did you mean ${guess}?` : ''} Allowed: ${allowed}.`;
    });
  const given = issue.input === undefined ? 'is missing' : `is ${JSON.stringify(issue.input)}`;
  return [`${field} ${given}. Allowed: ${allowed}.`];
}
