import * as z from 'zod';
import { ConfigError, nearest } from '../../lib/config/config-error.ts';
import { tagForm } from '../../lib/config/fields.ts';
import { type Config, configSchema } from '../../lib/config/schema.ts';

/**
 * The complete configuration of a record, with its defaults.
 * @param source where the record is from, for the message
 * @throws ConfigError if a field is invalid or two contradict each other
 */
export function parseConfig(record: unknown, source = 'cdk.json'): Config {
  const parsed = configSchema.safeParse(record ?? {}, { reportInput: true });
  const faults = parsed.success ? contradictions(parsed.data) : parsed.error.issues.flatMap(describe);
  if (parsed.success && faults.length === 0) return parsed.data;
  // The faults name fields as `cdk.json` does.
  throw new ConfigError(
    source === 'cdk.json' ? faults : faults.map((fault) => fault.replaceAll('bagAdres.', '')),
    source,
  );
}

function describe(issue: z.core.$ZodIssue): string[] {
  const field = ['bagAdres', ...issue.path].join('.');
  const schema = schemaAt(issue.path);
  // Only a tag can be invalid at a path that the schema does not have.
  const allowed = schema ? allowedIn(schema) : tagForm;
  if (issue.code === 'unrecognized_keys')
    return issue.keys.map((key) => {
      const guess = nearest(key, allowed.split(', '));
      return `${field}.${key} is not known.${guess ? ` Did you mean ${guess}?` : ''} Allowed: ${allowed}.`;
    });
  const given = issue.input === undefined ? 'is missing' : `is ${JSON.stringify(issue.input)}`;
  return [`${field} ${given}. Allowed: ${allowed}.`];
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
    const { name, certificateArn, hostedZoneId, hostedZoneName } = given;
    if ((hostedZoneId === undefined) !== (hostedZoneName === undefined))
      faults.push(
        `bagAdres.${field} has one of hostedZoneId and hostedZoneName. Give both, or none for DNS elsewhere.`,
      );
    if (hostedZoneName !== undefined && name !== hostedZoneName && !name.endsWith(`.${hostedZoneName}`))
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
  if (config.budget && !(config.budget.email ?? config.alarmEmail))
    faults.push('bagAdres.budget has nobody to write to. Set bagAdres.budget.email or bagAdres.alarmEmail.');
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
function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const name of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element);
    else at = at instanceof z.ZodObject ? unwrap(at.shape[String(name)]) : undefined;
  }
  return at;
}

/** The schema without its defaults and `optional`. */
export function unwrap<T extends z.core.$ZodType | undefined>(schema: T): T | z.core.$ZodType {
  if (schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault || schema instanceof z.ZodOptional)
    return unwrap(schema.def.innerType);
  return schema;
}

/** What the schema says of a field, for people. */
export function meta(schema: z.core.$ZodType) {
  return z.globalRegistry.get(schema) ?? {};
}
