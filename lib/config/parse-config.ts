import type * as z from 'zod';
import { contradictions } from './contradictions.ts';
import { allowed, nearest } from './hints.ts';
import { type Config, configSchema } from './schema.ts';

/** Says all that is wrong with a configuration at once, a line a fault, each with its field and what is allowed. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration in cdk.json has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join('\n')}`);
    this.faults = faults;
  }
}

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
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const known = allowed(issue.path);
      const guess = nearest(key, known);
      return `${field}.${key} is not known${guess ? `; did you mean ${guess}?` : ''} Allowed: ${known.join(', ')}.`;
    });
  return [`${field} is ${JSON.stringify(issue.input) ?? 'missing'}, which is not allowed: ${issue.message}.`];
}
