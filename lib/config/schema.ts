import * as z from 'zod';

const region = z
  .string()
  .regex(/^(eu|us|ap|ca|sa|me|af|il|mx)-[a-z]+-[1-9]$/, 'an AWS region, for instance eu-central-1')
  .default('eu-central-1')
  .describe('Where everything is deployed. A certificate or KMS key given below must lie in the same region.');

const domain = z
  .strictObject({
    name: z.hostname('a host name, for instance adres.example.nl').describe('The host name that clients will use.'),
    certificateArn: z
      .string()
      .regex(/^arn:aws:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/, 'the ARN of a certificate in ACM')
      .describe('An issued ACM certificate for that name, in the same region.'),
    hostedZoneId: z
      .string()
      .regex(/^Z[A-Z0-9]{1,31}$/, 'the id of a Route 53 hosted zone, for instance Z0123456789ABC')
      .describe('The public Route 53 zone that gets the record.'),
    hostedZoneName: z
      .hostname('the name of that zone, for instance example.nl')
      .describe('The name of that zone; `name` must lie in it.'),
  })
  .optional()
  .describe('A name of your own. Without it the address is the one that API Gateway makes.');

const throttle = z
  .strictObject({
    ratePerSecond: z.int().min(1).max(10_000).default(100).describe('Requests a second that the whole API admits.'),
    burst: z.int().min(1).max(5_000).default(200).describe('Requests that may arrive at once above that.'),
  })
  .prefault({})
  .describe('The ceiling of the whole API, for all accounts together: it bounds what an attack can cost.');

/** The periods that CloudWatch Logs knows, up to two years. */
const retentions = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] as const;

const share = z.number().min(0).max(1);
const guard = z
  .strictObject({
    maxRemovedShare: share.default(0.01).describe('Most addresses that may vanish, of those served.'),
    maxChangedShare: share.default(0.05).describe('Most addresses that may get another street or place.'),
    maxProblemShare: share.default(0.01).describe('Most rows that may lack their street or place.'),
    minAddresses: z.int().min(0).default(9_000_000).describe('Fewest addresses that a whole country can have.'),
  })
  .prefault({})
  .describe('What stops a load before its first write.');

/** What an operator may set in `cdk.json`, under `bagAdres`. The one description: types, checks and docs follow from it. */
export const configSchema = z.strictObject({
  stage: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,15}$/, 'up to 16 lower case letters, digits and hyphens, a letter first')
    .default('prod')
    .describe('Part of the name of each stack, so that several deployments fit in one account.'),
  region,
  domain,
  throttle,
  logRetentionDays: z
    .union(
      retentions.map((days) => z.literal(days)),
      `one of ${retentions.join(', ')}`,
    )
    .default(30)
    .describe('How long logs stay.'),
  alarmEmail: z
    .email('an e-mail address')
    .optional()
    .describe('Who hears of an alarm. AWS sends a message first that has to be confirmed.'),
  schedule: z
    .string()
    .regex(/^(off|cron\((\S+ ){5}\S+\)|rate\(\d+ (minute|hour|day)s?\))$/, '`off`, `cron(...)` or `rate(...)`')
    .default('cron(30 5 * * ? *)')
    .describe('When to ask whether the register has a newer state, in the time of Amsterdam; `off` for never.'),
  guard,
  snapshotsKept: z.int().min(2).max(24).default(3).describe('Earlier states that stay in S3 to go back to.'),
  removalPolicy: z
    .enum(['retain', 'destroy'], '`retain` or `destroy`')
    .default('retain')
    .describe(
      '`retain` protects stacks and tables, which then outlive the stack. `destroy` is for a trial: deleting the stacks deletes all data.',
    ),
  encryptionKey: z
    .string()
    .regex(/^(aws|create|arn:aws:kms:[a-z0-9-]+:\d{12}:key\/[0-9a-f-]+)$/, '`aws`, `create` or the ARN of a KMS key')
    .default('aws')
    .describe(
      'With what data is encrypted at rest: keys that AWS keeps, a customer-managed key that is created, or your own.',
    ),
  deployment: z
    .enum(['canary', 'all-at-once'], '`canary` or `all-at-once`')
    .default('canary')
    .describe('`canary` sends a tenth of the requests to a new version for five minutes and goes back on an alarm.'),
  tags: z
    .record(z.string().regex(/^(?!aws:).{1,128}$/, 'a tag key may not start with `aws:`'), z.string().max(256))
    .default({})
    .describe('Put on every resource.'),
});

/** A checked configuration: every default filled in. */
export type Config = z.output<typeof configSchema>;
