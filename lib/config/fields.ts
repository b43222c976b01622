import * as z from 'zod';

/** A string of a form. Error messages and docs show `allowed`. */
export function text(form: RegExp, allowed: string) {
  return z.string().regex(form).meta({ allowed });
}

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
