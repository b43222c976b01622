import type * as z from 'zod';
import { allowedIn, schemaAt } from './describe-schema.ts';
import { tagForm } from './fields.ts';
import { type Config, configSchema } from './schema.ts';

/** All errors of a configuration at once, one line each, with the field and the allowed values. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration in cdk.json has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The context key of the configuration; `-c bagAdres.stage=test` overrides one field on the command line. */
const KEY = 'bagAdres';

/** Keys that `cdk cli-telemetry` and `cdk acknowledge` write to `cdk.context.json`. */
const toolKeys = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/**
 * The unchecked configuration in a CDK context: the record, overridden by single fields from the command line. The CDK's own
 * keys contain a slash or a colon, except two; any other key is a mistake and throws ConfigError.
 */
export function readContext(context: Record<string, unknown>): unknown {
  const unknown = Object.keys(context).filter((key) => !/[/:]|^bagAdres($|\.)/.test(key) && !toolKeys.has(key));
  if (unknown.length > 0)
    throw new ConfigError(
      unknown.map((key) => `${key} is not known. Allowed: fields of ${KEY}, ${KEY}.stage for instance.`),
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

/** Values from the command line are text: `30` and `true` mean what they mean in JSON. */
function literal(value: unknown): unknown {
  // The id of an account is digits, but no number.
  if (typeof value !== 'string' || /^\d{12}$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}

/** The complete configuration of a record, with its defaults; throws ConfigError if a field is invalid or two contradict each other. */
export function parseConfig(record: unknown): Config {
  const parsed = configSchema.safeParse(record ?? {}, { reportInput: true });
  if (!parsed.success) throw new ConfigError(parsed.error.issues.flatMap(describe));
  const faults = contradictions(parsed.data);
  if (faults.length > 0) throw new ConfigError(faults);
  return parsed.data;
}

/** Fields of earlier releases, by their paths. */
const movedFields: Record<string, string> = {
  'bagAdres.portal.company': 'bagAdres.branding.name',
  'bagAdres.portal.colour': 'bagAdres.branding.colour',
  'bagAdres.portal.logo': 'bagAdres.branding.logo',
};

function describe(issue: z.core.$ZodIssue): string[] {
  const field = ['bagAdres', ...issue.path].join('.');
  const schema = schemaAt(issue.path);
  // Only a tag can be invalid at a path that the schema does not have.
  const allowed = schema ? allowedIn(schema) : tagForm;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const moved = movedFields[`${field}.${key}`];
      if (moved) return `${field}.${key} is now ${moved}.`;
      const guess = nearest(key, allowed.split(', '));
      return `${field}.${key} is not known.${guess ? ` Did you mean ${guess}?` : ''} Allowed: ${allowed}.`;
    });
  const given = issue.input === undefined ? 'is missing' : `is ${JSON.stringify(issue.input)}`;
  return [`${field} ${given}. Allowed: ${allowed}.`];
}

/** The most similar candidate: one starts with the other, or at most a third of the characters differ. */
function nearest(word: string, candidates: readonly string[]): string | undefined {
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

/** Fields that are valid by themselves but not together, one sentence each. */
function contradictions(config: Config): string[] {
  const { stage, region, domain, portal, encryptionKey, removalPolicy, throttle } = config;
  const { reservedConcurrency: reserved, provisionedConcurrency: provisioned } = config;
  const faults: string[] = [];
  for (const [field, given] of [
    ['domain', domain],
    ['portal.domain', portal?.domain],
  ] as const) {
    if (!given) continue;
    const { name, certificateArn, hostedZoneName } = given;
    if (name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`))
      faults.push(`bagAdres.${field}.name is ${name}, which is not in the zone ${hostedZoneName}.`);
    if (regionOf(certificateArn) !== region) faults.push(elsewhere(`${field}.certificateArn`, certificateArn, region));
  }
  if (domain && portal?.domain.name === domain.name)
    faults.push(`bagAdres.portal.domain.name is that of the API, ${domain.name}: give the portal another one.`);
  if (encryptionKey.startsWith('arn:') && regionOf(encryptionKey) !== region)
    faults.push(elsewhere('encryptionKey', encryptionKey, region));
  if (removalPolicy === 'destroy' && stage === 'prod')
    faults.push(
      'bagAdres.removalPolicy is "destroy" but bagAdres.stage is "prod": give a trial another stage, "trial" for instance.',
    );
  if (reserved !== undefined && provisioned !== undefined && provisioned > reserved)
    faults.push(
      `bagAdres.provisionedConcurrency is ${provisioned}, more than reservedConcurrency (${reserved}): Lambda refuses that.`,
    );
  for (const [burst, rate] of [
    ['burst', 'ratePerSecond'],
    ['otherBurst', 'otherRatePerSecond'],
  ] as const)
    if (throttle[burst] < throttle[rate] / 10)
      faults.push(
        `bagAdres.throttle.${burst} is ${throttle[burst]}, less than a tenth of ${rate} (${throttle[rate]}): most of that rate would be refused. Allowed: ${Math.ceil(throttle[rate] / 10)} or more.`,
      );
  const [current, previous] = config.checksumSecretVersions;
  if (current !== undefined && current === previous)
    faults.push(
      `bagAdres.checksumSecretVersions has the version ${current} twice: name it once, or another one with it.`,
    );
  const certificateAccount = domain?.certificateArn.split(':')[4];
  if (config.account !== undefined && certificateAccount !== undefined && certificateAccount !== config.account)
    faults.push(
      `bagAdres.domain.certificateArn belongs to account ${certificateAccount}, but bagAdres.account is "${config.account}": they must be the same account.`,
    );
  return faults;
}

function regionOf(arn: string): string | undefined {
  return arn.split(':')[3];
}

function elsewhere(field: string, arn: string, region: string): string {
  return `bagAdres.${field} is in ${regionOf(arn)} but bagAdres.region is "${region}": they must be the same region.`;
}
