import * as z from 'zod';

/** A string of a form. Error messages and docs show `allowed`. */
export function text(form: RegExp, allowed: string) {
  return z.string().regex(form).meta({ allowed });
}

/** The tags of an operator: as AWS allows them for every service, and none of those that the app sets. */
export const tags = z.record(
  text(/^(?![aA][wW][sS]:|(?:application|stage|version)$)[\p{L}\p{Z}\p{N}_.:/=+@-]{1,128}$/u, 'the name of a tag'),
  z.string().regex(/^[\p{L}\p{Z}\p{N}_.:/=+@-]{0,256}$/u),
);

/** What a tag may be, in words. */
export const tagForm =
  'names and values of letters, digits, spaces and _ . : / = + - @, without names that begin with aws:, and without application, stage and version, which are set already';

/** When EventBridge Scheduler runs something. Of the day of the month and the day of the week one is `?`: AWS refuses any other cron. */
export const schedule = text(
  /^(?:off|rate\([1-9]\d* (?:minute|hour|day)s?\)|cron\((?:\*|[0-5]?\d)(?:[-/,][0-5]?\d)* (?:\*|[01]?\d|2[0-3])(?:[-/,](?:[01]?\d|2[0-3]))* (?:\? [^\s?]+ [^\s?]+|[^\s?]+ [^\s?]+ \?) [^\s?]+\))$/,
  '`off`, or `cron(MINUTE HOUR DAY MONTH WEEKDAY YEAR)` with `?` for the day or the weekday, or `rate(...)` of EventBridge Scheduler',
);

/** What a table takes at once; a new on-demand table takes `least`. */
export function warmUnits(least: number) {
  return z.int().min(least).max(1_000_000).default(least);
}

/** A host name of the operator's own, with its certificate and DNS zone. */
export const domain = z.strictObject({
  name: z
    .hostname()
    .meta({ allowed: 'a host name, for instance `adres.example.nl`' })
    .describe('The host name for callers.'),
  certificateArn: text(
    /^arn:aws[a-z-]*:acm:[a-z0-9-]+:\d{12}:certificate\/[0-9a-f-]+$/,
    'the ARN of a certificate in ACM',
  ).describe('An issued certificate for that name, in the same region.'),
  hostedZoneId: text(/^Z[A-Z0-9]{1,31}$/, 'the id of a Route 53 zone, for instance Z0123456789ABC').describe(
    'The public Route 53 zone for its DNS records.',
  ),
  hostedZoneName: z
    .hostname()
    .meta({ allowed: 'a zone name, for instance `example.nl`' })
    .describe('The name of that zone; `domain.name` is in it.'),
  keepDefaultEndpoint: z
    .boolean()
    .meta({ allowed: '`true` or `false`' })
    .default(false)
    .describe('Keeps the host name that API Gateway generates working as well, until every caller has moved.'),
});
