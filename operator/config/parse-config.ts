import { RegionInfo } from 'aws-cdk-lib/region-info';
import * as z from 'zod';
import { redactKeys } from '../../core/accounts/api-key.ts';
import { nearest } from '../../core/similar.ts';
import { ConfigError } from '../../lib/config/config-error.ts';
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
    ...(source === settingsFileName && config.account === undefined
      ? [missingAccount(config)]
      : []),
  ];
  const faults = parsed.success
    ? together(parsed.data)
    : [
        ...parsed.error.issues.flatMap(describe),
        ...faultsOfTheRest(record, parsed.error.issues, together),
      ];
  if (parsed.success && faults.length === 0) return parsed.data;
  // The faults name fields as `cdk.json` does.
  const shown =
    source === 'cdk.json' ? faults : faults.map((fault) => fault.replaceAll('bagAdres.', ''));
  throw new ConfigError(shown, source);
}

/**
 * The faults of the valid fields together, so that one run shows all: none that names an invalid
 * field.
 */
function faultsOfTheRest(
  record: unknown,
  issues: readonly z.core.$ZodIssue[],
  together: (config: Config) => string[],
): string[] {
  if (typeof record !== 'object' || record === null) return [];
  const invalid = issues.flatMap((issue) =>
    issue.path.length === 0 && issue.code === 'unrecognized_keys'
      ? issue.keys
      : [String(issue.path[0])],
  );
  const rest = Object.fromEntries(
    Object.entries(record).filter(([name]) => !invalid.includes(name)),
  );
  const { data } = configSchema.safeParse(rest);
  if (!data) return [];
  return together(data).filter(
    (fault) => !invalid.some((name) => fault.includes(`bagAdres.${name}`)),
  );
}

function describe(issue: z.core.$ZodIssue): string[] {
  const field = ['bagAdres', ...issue.path].join('.');
  const schema = schemaAt(issue.path);
  // Only a tag can be invalid at a path that the schema does not have.
  const allowed = schema ? allowedIn(schema) : tagForm;
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const guess = nearest(key, allowed.split(', '));
      return `${field}.${key} is not known.${guess ? ` Did you mean ${guess}?` : ''} Allowed: ${allowed}.`;
    });
  }
  return [`${field} ${shownAs(issue.input, schema)}. Allowed: ${allowed}.`];
}

/** Never a secret, not even in the wrong place: a message ends up in the log of a pipeline. */
function shownAs(input: unknown, schema: z.core.$ZodType | undefined): string {
  if (input === undefined) return 'is missing';
  const text = redactKeys(JSON.stringify(input));
  if (holdsSecret(schema) || /PRIVATE KEY/.test(text) || text.length > 200) {
    return 'is invalid (its value is not shown here)';
  }
  return `is ${text}`;
}

/** Whether a secret may be pasted into the field, or into one of its group. */
function holdsSecret(given: z.core.$ZodType | undefined): boolean {
  const schema = unwrap(given);
  if (!schema) return false;
  if (schema instanceof z.ZodObject) return Object.values(schema.shape).some(holdsSecret);
  return meta(schema).mayBeSecret === true;
}

/**
 * The settings' share of the portal's environment: Lambda allows 4,096 bytes, including our names.
 */
const mostPortalBytes = 2800;

/**
 * What `cdk deploy` would deploy with any credentials that happen to be set. Settings elsewhere, in
 * `cdk.json` or the props of a construct, leave the account to who deploys: a clone synthesizes
 * without one.
 */
function missingAccount({ stage }: Config): string {
  return `bagAdres.account is missing, so a deployment would go to whatever account the credentials belong to. Add "account": "123456789012" to stages.${stage}, with your own id: "aws sts get-caller-identity" prints it.`;
}

/** Fields that are valid by themselves but not together, one sentence each. */
function contradictions(config: Config): string[] {
  const { account, stage, region, domain, api, portal, encryptionKey, removalPolicy } = config;
  const { throttle, budget, canary } = config;
  const { reservedConcurrency: reserved, provisionedConcurrency: provisioned } = config;
  const regions = RegionInfo.regions.map(({ name }) => name);
  const guess = nearest(region, regions);
  const { operators = [], operatorClaim, signIn } = portal ?? {};
  const bytesOf = (value: unknown) => Buffer.byteLength(JSON.stringify(value));
  const portalBytes = bytesOf([
    operators,
    operatorClaim,
    signIn,
    config.branding,
    portal?.domain.name,
    api.publicUrl ?? domain?.name,
  ]);
  const isTrial = removalPolicy === 'destroy';
  const lockYears = config.usage.statementLockYears;
  const leastBurst = Math.ceil(throttle.ratePerSecond / 10);
  const certificateAccount = domain?.certificateArn.split(':')[4];
  const faults = [
    !regions.includes(region) &&
      `bagAdres.region is "${region}", which the installed version of the CDK does not know.${guess ? ` Did you mean ${guess}?` : ''}`,
    portal?.signIn &&
      portal.cognitoPrefix !== undefined &&
      'bagAdres.portal has signIn and cognitoPrefix, which is for the user pool that exists only without signIn. Remove either.',
    portal &&
      portalBytes > mostPortalBytes &&
      `bagAdres.portal.operators, portal.signIn and branding take ${portalBytes} bytes together, ${bytesOf(operators)} for operators: the portal has room for ${mostPortalBytes}. Name a group of your provider in portal.operatorClaim instead of people in portal.operators.`,
    ...domainFaults('domain', domain, region),
    ...domainFaults('portal.domain', portal?.domain, region),
    domain &&
      portal?.domain.name === domain.name &&
      `bagAdres.portal.domain.name equals the domain of the API, ${domain.name}: give the portal another one.`,
    portal &&
      api.publicUrl !== undefined &&
      new URL(api.publicUrl).hostname === portal.domain.name &&
      `bagAdres.api.publicUrl is at the host of the portal, ${portal.domain.name}: give the API another one.`,
    canary?.usesPublicUrl &&
      api.publicUrl === undefined &&
      'bagAdres.canary.usesPublicUrl is true, but there is no bagAdres.api.publicUrl. Set it, or remove usesPublicUrl.',
    encryptionKey.startsWith('arn:') && elsewhere('encryptionKey', encryptionKey, region),
    elsewhere('tables.accounts.keyArn', config.tables.accounts?.keyArn, region),
    elsewhere('canary.keySecretKeyArn', config.canary?.keySecretKeyArn, region),
    elsewhere('portal.signIn.clientSecretKeyArn', signIn?.clientSecretKeyArn, region),
    isTrial &&
      stage === 'prod' &&
      'bagAdres.removalPolicy is "destroy" but bagAdres.stage is "prod": give a trial another stage, "trial" for instance.',
    isTrial &&
      lockYears > 0 &&
      `bagAdres.usage.statementLockYears is ${lockYears} but bagAdres.removalPolicy is "destroy": nobody could take it down. Remove either.`,
    reserved !== undefined &&
      provisioned !== undefined &&
      provisioned > reserved &&
      `bagAdres.provisionedConcurrency is ${provisioned}, more than reservedConcurrency (${reserved}): Lambda refuses that.`,
    throttle.burst < leastBurst &&
      `bagAdres.throttle.burst is ${throttle.burst}, less than a tenth of ratePerSecond (${throttle.ratePerSecond}): most of that rate would be refused. Allowed: ${leastBurst} or more.`,
    budget &&
      !(budget.email ?? config.alarmEmail) &&
      'bagAdres.budget has nobody to write to. Set bagAdres.budget.email or bagAdres.alarmEmail.',
    account !== undefined &&
      certificateAccount !== undefined &&
      certificateAccount !== account &&
      `bagAdres.domain.certificateArn belongs to account ${certificateAccount}, but bagAdres.account is "${account}": they must be the same account.`,
  ];
  return faults.filter((fault) => typeof fault === 'string');
}

function domainFaults(
  field: string,
  domain: NonNullable<Config['portal']>['domain'] | undefined,
  region: string,
) {
  if (!domain) return [];
  const { name, certificateArn, hostedZoneId, hostedZoneName: zone } = domain;
  return [
    (hostedZoneId === undefined) !== (zone === undefined) &&
      `bagAdres.${field} has one of hostedZoneId and hostedZoneName. Give both, or none for DNS elsewhere.`,
    zone !== undefined &&
      name !== zone &&
      !name.endsWith(`.${zone}`) &&
      `bagAdres.${field}.name is ${name}, which is not in the zone ${zone}.`,
    elsewhere(`${field}.certificateArn`, certificateArn, region),
  ];
}

function elsewhere(field: string, arn: string | undefined, region: string) {
  const other = arn?.split(':')[3];
  if (arn === undefined || other === region) return undefined;
  return `bagAdres.${field} is in ${other} but bagAdres.region is "${region}": they must be the same region.`;
}

/**
 * The allowed values of a schema without defaults, in words: for the faults of a configuration and
 * for its documentation.
 */
export function allowedIn(schema: z.core.$ZodType): string {
  const { allowed } = meta(schema);
  if (typeof allowed === 'string') return allowed;
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape).join(', ');
  if (schema instanceof z.ZodEnum) {
    return schema.options.map((option) => `\`${option}\``).join(' or ');
  }
  const { type, minimum, maximum } = z.toJSONSchema(schema, { io: 'input' });
  return `${type === 'integer' ? 'a whole number' : 'a number'}, ${minimum} to ${maximum}`;
}

/**
 * The schema at a path of the configuration, without its defaults; undefined if the schema has no
 * such path. Every element of a list has the same.
 */
function schemaAt(path: readonly PropertyKey[]): z.core.$ZodType | undefined {
  let at: z.core.$ZodType | undefined = configSchema;
  for (const name of path) {
    if (at instanceof z.ZodArray) at = unwrap(at.element);
    else {
      at = at instanceof z.ZodObject ? unwrap(at.shape[String(name)]) : undefined;
    }
  }
  return at;
}

/** The schema without its defaults and `optional`. */
export function unwrap<T extends z.core.$ZodType | undefined>(schema: T): T | z.core.$ZodType {
  if (
    schema instanceof z.ZodDefault ||
    schema instanceof z.ZodPrefault ||
    schema instanceof z.ZodOptional
  ) {
    return unwrap(schema.def.innerType);
  }
  return schema;
}

/** The schema's description of a field, for people. */
export function meta(schema: z.core.$ZodType) {
  return z.globalRegistry.get(schema) ?? {};
}
