import * as z from 'zod';
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

/** Fields that are right by themselves and wrong together, a sentence each. */
export function contradictions({ stage, region, domain, encryptionKey, removalPolicy, throttle }: Config): string[] {
  const faults: string[] = [];
  if (domain) {
    const { name, certificateArn, hostedZoneName } = domain;
    if (name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`))
      faults.push(`bagAdres.domain.name is ${name}, which is not in the zone ${hostedZoneName}: give a name in it.`);
    if (regionOf(certificateArn) !== region) faults.push(elsewhere('domain.certificateArn', certificateArn, region));
  }
  if (encryptionKey.startsWith('arn:') && regionOf(encryptionKey) !== region)
    faults.push(elsewhere('encryptionKey', encryptionKey, region));
  if (removalPolicy === 'destroy' && stage === 'prod')
    faults.push(
      'bagAdres.removalPolicy is "destroy" while bagAdres.stage is "prod": name a trial otherwise, for instance "trial".',
    );
  if (throttle.burst < throttle.ratePerSecond / 10)
    faults.push(
      `bagAdres.throttle.burst is ${throttle.burst}, less than a tenth of ratePerSecond (${throttle.ratePerSecond}): most of that rate would be refused. Allowed: ${Math.ceil(throttle.ratePerSecond / 10)} or more.`,
    );
  return faults;
}

function regionOf(arn: string): string | undefined {
  return arn.split(':')[3];
}

function elsewhere(field: string, arn: string, region: string): string {
  return `bagAdres.${field} lies in ${regionOf(arn)} while bagAdres.region is "${region}": they must be the same region.`;
}

/** The schema at a path of the configuration, without its defaults; undefined where there is none. */
export function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const name of path) at = at instanceof z.ZodObject ? unwrap(at.shape[String(name)]) : undefined;
  return at;
}

/** What may be given for a schema without defaults, in words. */
export function allowedIn(schema: z.core.$ZodType): string {
  const { allowed } = z.globalRegistry.get(schema) ?? {};
  if (typeof allowed === 'string') return allowed;
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape).join(', ');
  if (schema instanceof z.ZodEnum) return schema.options.map((option) => `\`${option}\``).join(' or ');
  const { type, minimum, maximum } = z.toJSONSchema(schema, { io: 'input' });
  return `${type === 'integer' ? 'a whole number' : 'a number'}, ${minimum} to ${maximum}`;
}

/** The schema below defaults and optional. */
export function unwrap<T extends z.core.$ZodType | undefined>(schema: T): T | z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.def.innerType);
  return schema;
}

/** The candidate that `word` was probably meant to be: one begins with the other, or at most a third of it differs. */
export function nearest(word: string, candidates: readonly string[]): string | undefined {
  return candidates
    .map((candidate) => ({ candidate, distance: distance(word.toLowerCase(), candidate.toLowerCase()) }))
    .filter(
      ({ candidate, distance }) =>
        candidate.startsWith(word) || word.startsWith(candidate) || distance <= Math.max(2, candidate.length / 3),
    )
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

/** The context key of the record; `-c bagAdres.stage=test` sets one field of it on the command line. */
const KEY = 'bagAdres';

/** What `cdk cli-telemetry` and `cdk acknowledge` note of their own in `cdk.context.json`. */
const toolKeys = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/**
 * The raw configuration in a CDK context: the record, with the single fields of the command line over it. The CDK's own
 * keys hold a slash or a colon, but for two; any other is a mistake, for which this throws ConfigError.
 */
export function readContext(context: Record<string, unknown>): unknown {
  const strangers = Object.keys(context).filter((key) => !/[/:]|^bagAdres($|\.)/.test(key) && !toolKeys.has(key));
  if (strangers.length > 0)
    throw new ConfigError(
      strangers.map((key) => `${key} is not known. Allowed: fields of ${KEY}, ${KEY}.stage for instance.`),
    );
  const given = context[KEY] ?? {};
  const overrides = Object.entries(context).filter(([key]) => key.startsWith(`${KEY}.`));
  if (overrides.length === 0 || typeof given !== 'object' || given === null) return given;
  const record: Record<string, unknown> = structuredClone({ ...given });
  for (const [key, value] of overrides) assign(record, key.slice(KEY.length + 1).split('.'), literal(value));
  return record;
}

function assign(record: Record<string, unknown>, [name = '', ...rest]: readonly string[], value: unknown): void {
  if (rest.length === 0) {
    record[name] = value;
    return;
  }
  const inner = record[name];
  const child = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  record[name] = child;
  assign(child as Record<string, unknown>, rest, value);
}

/** On the command line everything is text: `30` and `true` mean what they mean in JSON. */
function literal(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
