import * as z from 'zod';
import { defaultUsageMonths } from '../../core/environment.ts';
import { loadDefaults, publicMutations, storagePrefixes } from '../../loader/names.ts';
import { awsLimits } from './aws-limits.ts';
import {
  api,
  branding,
  domain,
  emailAddress,
  flag,
  keyOfSecret,
  kmsKey,
  nameOfSecret,
  portal,
  schedule,
  tables,
  tags,
  text,
  warmUnits,
  whole,
} from './setting-fields.ts';

const share = z.number().min(0).max(1);
/** The retention periods that CloudWatch Logs supports, up to two years. */
const retentions = [1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731] as const;

/** Not a place where objects expire: every check reads the source again. */
const sourceForm = new RegExp(
  `^(https://\\S+|s3://[a-z0-9.-]{3,63}/${storagePrefixes.sources}\\S+)$`,
);
const inBucket = `\`s3://BUCKET/${storagePrefixes.sources}FILE\` in the bucket of the loader, where files stay: in \`${storagePrefixes.uploads}\` they expire`;

const canary = z.strictObject({
  keySecretName: nameOfSecret.describe(
    'The secret with an API key, as plain text; its account pays the lookups.',
  ),
  keySecretKeyArn: keyOfSecret,
  postcode: text(/^[1-9][0-9]{3}[A-Z]{2}$/, 'a postcode, for instance 1012RJ').describe(
    'A part of an address that exists.',
  ),
  huisnummer: whole(1, 99_999).describe('A part of an address that exists.'),
  everyMinutes: whole(1, 60).default(5).describe('How often to look it up, in minutes.'),
  usesPublicUrl: flag
    .default(false)
    .describe("Calls `api.publicUrl`, through the proxy, instead of the API's own address."),
});

const throttle = z.strictObject({
  ratePerSecond: whole(1, awsLimits.requestsPerSecond)
    .default(100)
    .describe(
      'Lookups a second, for all accounts together. Key validations have a fifth of it, and all other paths together another.',
    ),
  burst: whole(1, 5_000)
    .default(200)
    .describe('Lookups at once above that rate; of the others a fifth.'),
});

const { newTable } = awsLimits;
const warmThroughput = z.strictObject({
  accountsWrites: warmUnits(newTable.writesPerSecond).describe(
    'Writes a second of the accounts table: one for each counted lookup.',
  ),
  addressesReads: warmUnits(newTable.readsPerSecond).describe(
    'Read units a second of the addresses table: a lookup takes half a unit.',
  ),
  addressesWrites: warmUnits(newTable.writesPerSecond).describe(
    'Writes a second of the addresses table; a load has a writer for each 1,000.',
  ),
});

/** The limits that a person can judge; the guard sets its other limits itself. */
const guard = z.strictObject({
  minimumAddresses: whole(0, 100_000_000)
    .default(loadDefaults.guard.minimumAddresses)
    .describe('The minimum number of addresses; lower it to load part of the country.'),
  maximumShare: share
    .default(loadDefaults.guard.maximumShare)
    .describe(
      'The largest share of the live addresses that may be removed, or change in one column; the other [limits](loading.md#limits) on all addresses follow it. 1: any number.',
    ),
  maximumPlaceShare: share
    .default(loadDefaults.guard.maximumPlaceShare)
    .describe(
      'The same of one woonplaats, or of a dataset of over 500,000 addresses, since the last extract. 1: any number.',
    ),
  maximumObjectShare: share
    .default(loadDefaults.guard.maximumObjectShare)
    .describe('The largest share of addresses without an object in the first load of objects.'),
});

const dataset = z.strictObject({
  objecten: flag
    .default(false)
    .describe(
      'Loads the verblijfsobjecten, ligplaatsen and standplaatsen of addresses, for [`include=objecten`](api.md#objects). The lists are empty until the next load.',
    ),
});

const usage = z.strictObject({
  months: whole(1, 120)
    .default(defaultUsageMonths)
    .describe('For how many whole months daily usage is kept.'),
  statementLockYears: whole(0, 30)
    .default(0)
    .describe(
      'For how many years S3 Object Lock (governance mode) keeps the statements of closed months. 0: versions without a lock.',
    ),
  messageAtShare: share
    .default(0.8)
    .describe(
      'The used share of a daily or monthly limit that sends an [event](events.md); another follows at the limit. 0: no events.',
    ),
});

/** The configuration of a stage. Types, checks and docs are derived from it. */
export const configSchema = z.strictObject({
  stage: text(
    /^(?!(?:.*-)?(?:data|service|loader|portal)$)[a-z][a-z0-9-]{0,15}$/,
    'up to 16 lower case letters, digits and hyphens, a letter first, not data, service, loader or portal, nor ending in such a word after a hyphen',
  )
    .default('prod')
    .describe('Part of the name of each stack.'),
  region: text(/^[a-z]{2,4}(-[a-z]+){1,2}-[1-9]$/, 'an AWS region, for instance eu-central-1')
    .default('eu-central-1')
    .describe('The region of all stacks.'),
  account: text(/^\d{12}$/, 'an account id of 12 digits, in quotes')
    .optional()
    .describe(
      'The AWS account; credentials of another are refused. Each stage of `bag-adres.json` needs it.',
    ),
  domain: domain
    .optional()
    .describe("Your own host name, instead of API Gateway's generated name."),
  api: api.prefault({}).describe('The API as callers see it.'),
  throttle: throttle
    .prefault({})
    .describe('The throttle of the whole API, which bounds the cost of an attack.'),
  reservedConcurrency: whole(1, 10_000)
    .optional()
    .describe(
      "The maximum concurrency of lookups, reserved for them from the account's concurrency.",
    ),
  provisionedConcurrency: whole(1, 10_000)
    .optional()
    .describe(
      'The concurrency of lookups without cold starts. Costs about 9 dollars a month each.',
    ),
  warmThroughput: warmThroughput
    .optional()
    .describe(
      'The throughput of the tables from the start, for a launch with a peak. AWS bills an increase once.',
    ),
  logRetentionDays: z
    .literal(retentions)
    .meta({ allowed: `one of ${retentions.join(', ')}` })
    .default(30)
    .describe('How long logs are kept.'),
  tracing: flag
    .default(false)
    .describe(
      'Sends traces to X-Ray: one request a second and 5% of the others, 5 dollars a million.',
    ),
  dashboards: flag
    .default(false)
    .describe(
      'Creates two CloudWatch dashboards (3 dollars a month each, three are free) and a metric for each outcome.',
    ),
  branding: branding
    .prefault({})
    .describe('Your name and look in the portal, the reference and the OpenAPI document.'),
  referencePage: flag.default(true).describe('Serves the reference at `/docs`, without a key.'),
  testAddresses: flag
    .default(true)
    .describe('Serves the [test addresses](api.md#test-addresses) under `9999SD`.'),
  alarmEmail: emailAddress
    .optional()
    .describe('The recipient of alarms, who must confirm an email of AWS first.'),
  budget: z
    .strictObject({
      usdPerMonth: whole(1, 1_000_000).describe(
        'The budget of a month, in dollars, for the whole account.',
      ),
      email: emailAddress.optional().describe('The recipient; by default `alarmEmail`.'),
    })
    .optional()
    .describe(
      'Mail by AWS Budgets at 80% and 100% of the budget, and when the forecast exceeds it.',
    ),
  schedule: schedule
    .default('cron(30 5 * * ? *)')
    .describe('When to check for a newer snapshot of the BAG, in Amsterdam time.'),
  source: text(sourceForm, `an \`https://\` address, or ${inBucket}`)
    .optional()
    .describe("The extract to load; by default PDOK's of the country."),
  dataset: dataset
    .prefault({})
    .describe('Parts of the BAG to load beside addresses, from the next load on.'),
  loadConcurrency: whole(1, 40)
    .default(10)
    .describe(
      "The maximum concurrency of a load, and never over a quarter of the account's unreserved concurrency.",
    ),
  mutations: z
    .union([z.boolean(), z.string().regex(sourceForm)])
    .meta({
      allowed: `\`true\`, \`false\`, or the \`https://\` address of a list, or ${inBucket}`,
    })
    .default(false)
    .describe(
      `Applies the [daily mutations](loading.md#mutations-day-by-day) to the last extract, from a list (\`bestanden.json\`). \`true\` is the public mirror, \`${publicMutations}\`.`,
    ),
  guard: guard.prefault({}).describe('The limits that stop a load before its first write.'),
  snapshotsKept: whole(2, 24)
    .default(loadDefaults.snapshotsKept)
    .describe('How many snapshots are kept in S3 for rollbacks, including the live one.'),
  tables: tables
    .prefault({})
    .describe("Tables to use instead of the data stack's, which stay as they are."),
  removalPolicy: z
    .enum(['retain', 'destroy'])
    .default('retain')
    .describe(
      '`retain` protects stacks and tables from deletion. `destroy` deletes all data with the stacks, for a trial.',
    ),
  encryptionKey: text(
    new RegExp(`^(aws|create|${kmsKey})$`),
    '`aws`, `create` or the ARN of a KMS key',
  )
    .default('aws')
    .describe("The key for data at rest: AWS's, a new customer-managed one, or yours."),
  backupVaultArn: text(
    /^arn:aws[a-z-]*:backup:[a-z0-9-]+:\d{12}:backup-vault:[A-Za-z0-9_-]{2,50}$/,
    'the ARN of a vault of AWS Backup',
  )
    .optional()
    .describe(
      'A vault, usually in another account, for [daily copies](recovery.md#copies-in-another-account-or-region) of the accounts table.',
    ),
  runbookUrl: text(/^[\x21-\x7e]{1,300}$/, 'an address without spaces')
    .default('node_modules/bag-adres/docs/runbook.md')
    .describe(
      'The address of the runbook in alarm messages, best a page of your own: `https://git.example.nl/adres/blob/main/docs/runbook.md`.',
    ),
  deployment: z
    .enum(['canary', 'all-at-once', 'emergency'])
    .default('canary')
    .describe(
      '`canary`: a new version receives 10% of the requests for five minutes, then all. `all-at-once`: all at once. Both roll back on an alarm; `emergency`, for one deployment with `-c`, does not.',
    ),
  usage: usage.prefault({}).describe('How [usage](accounts.md#usage) of each account is recorded.'),
  canary: canary
    .optional()
    .describe('Looks up an address on a schedule and raises an alarm when that fails.'),
  portal: portal
    .optional()
    .describe('[A web application](portal.md) for customers and operators, in its own stack.'),
  tags: tags
    .meta({ allowed: 'names and values' })
    .default({})
    .describe(
      'Tags for every resource, in addition to `application`, `stage` and, for functions, `version`.',
    ),
});

/** A valid configuration, with every default filled in. */
export type Config = z.output<typeof configSchema>;

/** A configuration as an operator writes it: everything that has a default may be left out. */
export type ConfigInput = z.input<typeof configSchema>;
