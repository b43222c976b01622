import * as z from 'zod';

/** A text of a form. `allowed` is told to whoever gets it wrong, and stands in the docs. */
function text(form: RegExp, allowed: string) {
  return z.string().regex(form).meta({ allowed });
}

const share = z.number().min(0).max(1);
/** The periods that CloudWatch Logs knows, up to two years. */
const retentions = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] as const;

const domain = z.strictObject({
  name: z
    .hostname()
    .meta({ allowed: 'a host name, for instance `adres.example.nl`' })
    .describe('The host name that clients will use.'),
  certificateArn: text(
    /^arn:aws:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/,
    'the ARN of a certificate in ACM',
  ).describe('An issued certificate for that name, in the same region.'),
  hostedZoneId: text(/^Z[A-Z0-9]{1,31}$/, 'the id of a Route 53 zone, for instance Z0123456789ABC').describe(
    'The public Route 53 zone that gets the record.',
  ),
  hostedZoneName: z
    .hostname()
    .meta({ allowed: 'a zone name, for instance `example.nl`' })
    .describe('The name of that zone; `domain.name` lies in it.'),
});

const canary = z.strictObject({
  keySecretName: text(/^[\w/+=.@-]{1,200}$/, 'the name of a secret in Secrets Manager').describe(
    'The secret that holds an API key, as text; its account pays for the lookups.',
  ),
  postcode: text(/^[1-9][0-9]{3}[A-Z]{2}$/, 'a postcode, for instance 1012RJ').describe('Of an address that exists.'),
  huisnummer: z.int().min(1).max(99_999).describe('Of an address that exists.'),
  everyMinutes: z.int().min(1).max(60).default(5).describe('How often to look it up.'),
});

const throttle = z.strictObject({
  ratePerSecond: z.int().min(1).max(10_000).default(100).describe('Requests a second, for all accounts together.'),
  burst: z.int().min(1).max(5_000).default(200).describe('Requests that may come at once above that.'),
});

/** The names are those of the loader's guard, which gets this as it is. */
const guard = z.strictObject({
  minimumAddresses: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(9_000_000)
    .describe('Fewest addresses that a state of the country may have. Lower it to load a part of the country.'),
  maximumRemovedShare: share.default(0.05).describe('Most of the served keys that a load may remove.'),
  maximumChangedShare: share.default(0.1).describe('Most of them that may get another street or place.'),
  maximumAddedShare: share.default(0.1).describe('Most that may come on top of them.'),
  maximumProblemShare: share.default(0.01).describe('Most addresses that may lack their street or place.'),
  alwaysAllowed: z
    .int()
    .min(0)
    .max(100_000_000)
    .default(10)
    .describe('A share is not looked at where it is of this many addresses or fewer.'),
});

/** What an operator may set in `cdk.json`, under `bagAdres`. The one description: types, checks and docs follow from it. */
export const configSchema = z.strictObject({
  stage: text(
    /^(?!(?:.*-)?(?:data|service|loader)$)[a-z][a-z0-9-]{0,15}$/,
    'up to 16 lower case letters, digits and hyphens, a letter first, that do not end as the name of a stack: data, service, loader',
  )
    .default('prod')
    .describe('Part of the name of each stack, so that several deployments fit in one account.'),
  region: text(/^[a-z]{2}-[a-z]+-[1-9]$/, 'an AWS region, for instance eu-central-1')
    .default('eu-central-1')
    .describe('Where everything is deployed.'),
  domain: domain
    .optional()
    .describe('A host name of your own. Without it the address is the one that API Gateway makes up.'),
  throttle: throttle.prefault({}).describe('The ceiling of the whole API: it bounds what an attack can cost.'),
  logRetentionDays: z
    .literal(retentions)
    .meta({ allowed: `one of ${retentions.join(', ')}` })
    .default(30)
    .describe('How long logs stay.'),
  alarmEmail: z
    .email()
    .meta({ allowed: 'an e-mail address' })
    .optional()
    .describe('Who hears of an alarm; without it nobody. AWS first sends a message that has to be confirmed.'),
  schedule: text(
    /^(off|cron\((\S+ ){5}\S+\)|rate\([1-9]\d* (minute|hour|day)s?\))$/,
    '`off`, or `cron(...)` or `rate(...)` of EventBridge Scheduler',
  )
    .default('cron(30 5 * * ? *)')
    .describe('When to ask whether the register has a newer state, in the time of Amsterdam.'),
  guard: guard.prefault({}).describe('What stops a load before its first write.'),
  snapshotsKept: z.int().min(2).max(24).default(3).describe('Earlier states that stay in S3, to go back to.'),
  removalPolicy: z
    .enum(['retain', 'destroy'])
    .default('retain')
    .describe(
      '`retain` protects stacks and tables from deletion. `destroy` is for a trial: all data goes with the stacks.',
    ),
  encryptionKey: text(
    /^(aws|create|arn:aws:kms:[a-z0-9-]+:\d{12}:key\/[0-9a-f-]+)$/,
    '`aws`, `create` or the ARN of a KMS key',
  )
    .default('aws')
    .describe('What encrypts data at rest: keys that AWS keeps, a customer-managed key made here, or one of yours.'),
  deployment: z
    .enum(['canary', 'all-at-once'])
    .default('canary')
    .describe('`canary`: a new version first gets a tenth of the requests for five minutes. Both go back on an alarm.'),
  canary: canary
    .optional()
    .describe('Looks an address up on schedule, as a caller does, and raises an alarm when that goes wrong.'),
  tags: z
    .record(text(/^(?!aws:).{1,128}$/, 'a tag name that does not begin with aws:'), z.string().max(256))
    .meta({ allowed: 'names and values' })
    .default({})
    .describe('Put on every resource, beside `application` and `stage`.'),
});

/** A checked configuration: every default filled in. */
export type Config = z.output<typeof configSchema>;
