import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { redactKeys } from '../../core/accounts/api-key.ts';
import { ConfigError, nearest } from '../../lib/config/config-error.ts';
import { type Config, configSchema } from '../../lib/config/config-schema.ts';
import { settingsFileName } from '../../lib/config/deployment.ts';
import { tagForm } from '../../lib/config/setting-fields.ts';

/**
 * The complete configuration of a record, with its defaults.
 * @param source the source of the record, for the message
 * @throws ConfigError if a field is invalid or two contradict each other
 */
export function parseConfig(record: unknown, source = 'cdk.json'): Config {
  const parsed = configSchema.safeParse(record ?? {}, { reportInput: true });
  const together = (config: Config) => [
    ...contradictions(config),
    ...(source === settingsFileName ? accountFaults(config) : []),
  ];
  const faults = parsed.success
    ? together(parsed.data)
    : [...parsed.error.issues.flatMap(describe), ...faultsOfTheRest(record, parsed.error.issues, together)];
  if (parsed.success && faults.length === 0) return parsed.data;
  // The faults name fields as `cdk.json` does.
  throw new ConfigError(
    source === 'cdk.json' ? faults : faults.map((fault) => fault.replaceAll('bagAdres.', '')),
    source,
  );
}

/** The faults of the valid fields together, so that one run shows all: none that names an invalid field. */
function faultsOfTheRest(
  record: unknown,
  issues: readonly z.core.$ZodIssue[],
  together: (config: Config) => string[],
): string[] {
  if (typeof record !== 'object' || record === null) return [];
  const invalid = issues.flatMap((issue) =>
    issue.path.length === 0 && issue.code === 'unrecognized_keys' ? issue.keys : [String(issue.path[0])],
  );
  const rest = Object.fromEntries(Object.entries(record).filter(([name]) => !invalid.includes(name)));
  const { data } = configSchema.safeParse(rest);
  if (!data) return [];
  return together(data).filter((fault) => !invalid.some((name) => fault.includes(`bagAdres.${name}`)));
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
  return [`${field} ${shownAs(issue.input, schema)}. Allowed: ${allowed}.`];
}

/** Never a secret, not even in the wrong place: a message ends up in the log of a pipeline. */
function shownAs(input: unknown, schema: z.core.$ZodType | undefined): string {
  if (input === undefined) return 'is missing';
  const text = redactKeys(JSON.stringify(input));
  if (holdsSecret(schema) || /PRIVATE KEY/.test(text) || text.length > 200)
    return 'is invalid (its value is not shown here)';
  return `is ${text}`;
}

/** Whether a secret may be pasted into the field, or into one of its group. */
function holdsSecret(given: z.core.$ZodType | undefined): boolean {
  const schema = unwrap(given);
  if (!schema) return false;
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(holdsSecret);
  return schema instanceof z.ZodArray ? holdsSecret(schema.element) : meta(schema).mayBeSecret === true;
}

/** The settings' share of the portal's environment: Lambda allows 4,096 bytes, including our names. */
const mostPortalBytes = 2800;

/**
 * What `cdk deploy` would deploy with any credentials that happen to be set. Settings elsewhere, in `cdk.json` or the
 * props of a construct, leave the account to who deploys: a clone synthesizes without one.
 */
function accountFaults({ account, stage }: Config): string[] {
  if (account !== undefined) return [];
  return [
    `bagAdres.account is missing, so a deployment would go to whatever account the credentials belong to. Add "account": "123456789012" to stages.${stage}, with your own id: "aws sts get-caller-identity" prints it.`,
  ];
}

/** Fields that are valid by themselves but not together, one sentence each. */
function contradictions(config: Config): string[] {
  const { stage, region, domain, portal, encryptionKey, removalPolicy, throttle } = config;
  const { reservedConcurrency: reserved, provisionedConcurrency: provisioned } = config;
  const faults: string[] = [];
  const regions = RegionInfo.regions.map(({ name }) => name);
  if (!regions.includes(region)) {
    const guess = nearest(region, regions);
    faults.push(
      `bagAdres.region is "${region}", which the installed version of the CDK does not know.${guess ? ` Did you mean ${guess}?` : ''}`,
    );
  }
  if (portal?.signIn && portal.cognitoPrefix !== undefined)
    faults.push(
      'bagAdres.portal has signIn and cognitoPrefix, which is for the user pool that exists only without signIn. Remove either.',
    );
  const { operators = [], operatorClaim, signIn } = portal ?? {};
  const portalBytes = Buffer.byteLength(
    JSON.stringify([operators, operatorClaim, signIn, config.branding, portal?.domain.name, domain?.name]),
  );
  if (portal && portalBytes > mostPortalBytes)
    faults.push(
      `bagAdres.portal.operators, portal.signIn and branding take ${portalBytes} bytes together, ${Buffer.byteLength(JSON.stringify(operators))} for operators: the portal has room for ${mostPortalBytes}. Name a group of your provider in portal.operatorClaim instead of people in portal.operators.`,
    );
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
    faults.push(
      `bagAdres.portal.domain.name equals the domain of the API, ${domain.name}: give the portal another one.`,
    );
  if (encryptionKey.startsWith('arn:') && regionOf(encryptionKey) !== region)
    faults.push(elsewhere('encryptionKey', encryptionKey, region));
  const usedKey = config.tables.accounts?.keyArn;
  if (usedKey !== undefined && regionOf(usedKey) !== region)
    faults.push(elsewhere('tables.accounts.keyArn', usedKey, region));
  if (removalPolicy === 'destroy' && stage === 'prod')
    faults.push(
      'bagAdres.removalPolicy is "destroy" but bagAdres.stage is "prod": give a trial another stage, "trial" for instance.',
    );
  if (removalPolicy === 'destroy' && config.usage.statementLockYears > 0)
    faults.push(
      `bagAdres.usage.statementLockYears is ${config.usage.statementLockYears} but bagAdres.removalPolicy is "destroy": nobody could take it down. Remove either.`,
    );
  if (reserved !== undefined && provisioned !== undefined && provisioned > reserved)
    faults.push(
      `bagAdres.provisionedConcurrency is ${provisioned}, more than reservedConcurrency (${reserved}): Lambda refuses that.`,
    );
  const { burst, ratePerSecond } = throttle;
  if (burst < ratePerSecond / 10)
    faults.push(
      `bagAdres.throttle.burst is ${burst}, less than a tenth of ratePerSecond (${ratePerSecond}): most of that rate would be refused. Allowed: ${Math.ceil(ratePerSecond / 10)} or more.`,
    );
  if (config.budget && !(config.budget.email ?? config.alarmEmail))
    faults.push('bagAdres.budget has nobody to write to. Set bagAdres.budget.email or bagAdres.alarmEmail.');
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

/** The schema's description of a field, for people. */
export function meta(schema: z.core.$ZodType) {
  return z.globalRegistry.get(schema) ?? {};
}
