import * as z from 'zod';
import { languages } from '../../core/languages.ts';

/** A string of a form. Error messages and docs show `allowed`. */
export function text(form: RegExp, allowed: string, more = {}) {
  return z
    .string()
    .regex(form)
    .meta({ allowed, ...more });
}

/** A value that may be the secret itself instead of its place: no message shows it. */
export const mayBeSecret = { mayBeSecret: true };

export const nameOfSecret = text(
  /^[\w/+=.@-]{1,200}$/,
  'the name of a secret in Secrets Manager',
  mayBeSecret,
);

/** A whole number from `least` to `most`. */
export function whole(least: number, most: number) {
  return z.int().min(least).max(most);
}

export const flag = z.boolean().meta({ allowed: '`true` or `false`' });

/**
 * The tags of an operator: as AWS allows them for every service, without the tags that the app
 * sets.
 */
export const tags = z.record(
  text(
    /^(?![aA][wW][sS]:|(?:application|stage|version)$)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/u,
    'the name of a tag',
  ),
  z.string().regex(/^[\p{L}\p{Z}\p{N}_.:/=+@-]{0,256}$/u),
);

/** The form of a tag, in words. */
export const tagForm =
  'names and values of letters, digits, spaces and _ . : / = + - @, without names that begin with aws:, and without application, stage and version, which are set already';

/**
 * When EventBridge Scheduler runs something. The day of the month or the day of the week is `?`:
 * AWS refuses any other cron.
 */
export const schedule = text(
  /^(?:off|rate\([1-9]\d* (?:minute|hour|day)s?\)|cron\((?:\*|[0-5]?\d)(?:[-/,][0-5]?\d)* (?:\*|[01]?\d|2[0-3])(?:[-/,](?:[01]?\d|2[0-3]))* (?:\? [^\s?]+ [^\s?]+|[^\s?]+ [^\s?]+ \?) [^\s?]+\))$/,
  '`off`, or `cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR)` with `?` for the day or the weekday, or `rate(...)` of EventBridge Scheduler',
);

/** The throughput that a table must reach at once; a new on-demand table reaches `least`. */
export function warmUnits(least: number) {
  return whole(least, 1_000_000).optional();
}

/** In lower case, as DNS zones and certificates have it: API Gateway accepts no other. */
function hostName(allowed: string) {
  return z
    .hostname()
    .regex(/^[^A-Z]*$/)
    .meta({ allowed });
}

/** A host name of the operator's own, with its certificate and DNS zone. */
export const domain = z.strictObject({
  name: hostName('a host name in lower case, for instance `adres.example.nl`').describe(
    'The host name for callers.',
  ),
  certificateArn: text(
    /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/,
    'the ARN of a certificate in ACM',
  ).describe('An issued certificate for that name, in the same region.'),
  hostedZoneId: text(/^Z[A-Z0-9]{1,31}$/, 'the id of a Route 53 zone, for instance Z0123456789ABC')
    .optional()
    .describe(
      'The public Route 53 zone for its DNS records. Otherwise create the record in the output `DomainRecord`.',
    ),
  hostedZoneName: hostName('a zone name in lower case, for instance `example.nl`')
    .optional()
    .describe('The name of that zone; `domain.name` is in it.'),
  keepDefaultEndpoint: flag
    .default(false)
    .describe('Keeps the generated host name working until every caller has moved.'),
});

/** The API behind a proxy of the operator's. */
export const api = z.strictObject({
  publicUrl: text(
    /^https:\/\/(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*[a-z0-9](?::[1-9]\d{0,4})?$/,
    'an `https://` address of a host in lower case, without a path, a query or a slash at the end, for instance `https://adres.example.nl`',
  )
    .optional()
    .describe(
      'The URL for callers, if [a proxy](security.md#waf-and-cloudfront) is in front of the API: every published document and the portal name it.',
    ),
});

/** The form of the ARN of a key, which may be a multi-Region one. */
export const kmsKey = 'arn:aws[a-z-]*:kms:[a-z0-9-]+:\\d{12}:key/(?:mrk-)?[0-9a-f-]+';

/** The key of a secret that the operator made: a reader of the secret must be allowed to use it. */
export const keyOfSecret = text(new RegExp(`^${kmsKey}$`), 'the ARN of a KMS key')
  .optional()
  .describe("The KMS key that encrypts it, unless it is AWS's or the key of `encryptionKey`.");

/** A table that AWS restored, to be used instead of the table of the data stack, which stays. */
const usedTable = z.strictObject({
  name: text(/^[A-Za-z0-9_.-]{3,255}$/, 'the name of a table').describe(
    'An existing table in the region and account of the stage.',
  ),
  keyArn: text(new RegExp(`^${kmsKey}$`), 'the ARN of a KMS key')
    .optional()
    .describe('The KMS key that encrypts it, unless AWS owns the key.'),
});

export const tables = z.strictObject({
  accounts: usedTable
    .optional()
    .describe('The accounts table, after a [restore](runbook.md#restore-a-table).'),
});

/** The portal has no callers who would have to move. */
const portalDomain = domain.omit({ keepDefaultEndpoint: true });

export const emailAddress = z.email().meta({ allowed: 'an e-mail address' });

const webAddress = text(/^https:\/\/[^\s"<>]{1,300}$/, 'an `https://` address');

/**
 * How everything that customers see presents the operator: the portal, the reference page and the
 * OpenAPI document.
 */
export const branding = z.strictObject({
  name: text(/^[^\p{Cc}\p{Cf}]{1,60}$/u, 'up to 60 characters')
    .optional()
    .describe("The operator's name at the top of each page."),
  colour: text(/^#[0-9a-f]{6}$/, 'a colour such as #0b4f8a, in lower case')
    .default('#0b4f8a')
    .describe('The colour of the line above each page; links, buttons and charts have its hue.'),
  logo: text(
    /^[\w./-]{1,200}\.(svg|png)$/,
    'the path of an SVG or PNG file, relative to `cdk.json`',
  )
    .optional()
    .describe('The logo before the name, at most 64 KB.'),
  contactUrl: webAddress.optional().describe('A page about support.'),
  contactEmail: emailAddress.optional().describe('The address for customers.'),
  terms: webAddress.optional().describe('The terms of service.'),
  privacy: webAddress.optional().describe('The privacy statement.'),
  accessibility: webAddress.optional().describe('The accessibility statement.'),
  languages: z
    .array(z.enum(languages))
    .min(1)
    .refine((codes) => new Set(codes).size === codes.length)
    .meta({
      allowed: `a list of one or more of ${languages.map((code) => `\`${code}\``).join(', ')}`,
    })
    .optional()
    .describe('The languages of the portal and the reference; the first is the default.'),
});

/** How long before the end of the client secret people are told. */
export const secretNoticeDays = 60;

/** The portal: its host name, sign-in and operators. */
export const portal = z.strictObject({
  domain: portalDomain.describe("The host name of the portal, which must differ from the API's."),
  signIn: z
    .strictObject({
      issuer: text(/^https:\/\/[^\s?#]+$/, 'an `https://` address').describe(
        'The OpenID provider.',
      ),
      clientId: text(/^[\x21-\x7e]{1,200}$/, 'the id of a client').describe(
        'The client that is registered at the provider.',
      ),
      subjectClaim: text(/^[A-Za-z0-9_:./-]{1,100}$/, 'the name of a claim')
        .default('sub')
        .describe(
          'The claim of the ID token that identifies a person permanently: `oid` for Entra ID.',
        ),
      clientSecretName: nameOfSecret
        .optional()
        .describe('The secret with the client secret, as plain text; a public client has none.'),
      clientSecretKeyArn: keyOfSecret,
      clientSecretExpires: z.iso
        .date()
        .meta({ allowed: 'a date, for instance `2027-01-31`' })
        .optional()
        .describe(
          `The last day of the client secret, as the provider says. An alarm goes off ${secretNoticeDays} days before.`,
        ),
    })
    .optional()
    .describe('The OpenID provider. Without it the stack creates a Cognito user pool.'),
  cognitoPrefix: text(
    /^(?!.*(?:aws|amazon|cognito))[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/,
    'up to 63 lower case letters, digits and hyphens, none at the ends, without `aws`, `amazon` and `cognito`',
  )
    .optional()
    .describe(
      "The first part of that pool's host name, unique in the region and final; generated by default.",
    ),
  operators: z
    .array(emailAddress)
    .max(50)
    .meta({ allowed: 'a list of up to 50 e-mail addresses' })
    .default([])
    .describe('The verified e-mail addresses of operators.'),
  operatorClaim: z
    .strictObject({
      name: text(/^[\x21-\x7e]{1,200}$/, 'the name of a claim').describe(
        'A claim in the ID token, `groups` for instance.',
      ),
      value: text(/^[^\p{Cc}]{1,200}$/u, 'a text').describe(
        'The value, or one of the values, of an operator.',
      ),
    })
    .optional()
    .describe('A claim that identifies operators, instead of or beside the list.'),
});
