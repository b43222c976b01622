import * as z from 'zod';
import { domain, text } from './fields.ts';

/** The portal has no callers who would have to move. */
const portalDomain = domain.omit({ keepDefaultEndpoint: true });

const emailAddress = z.email().meta({ allowed: 'an e-mail address' });

/** The portal: where it is, how it looks, who signs people in and who operates. */
export const portal = z.strictObject({
  domain: portalDomain.describe(
    'The host name of the portal: another one than that of the API, so that cookies never meet it.',
  ),
  company: text(/^[^\p{Cc}\p{Cf}]{1,60}$/u, 'up to 60 characters').describe('The name at the top of each page.'),
  colour: text(/^#[0-9a-f]{6}$/, 'a colour such as #0b4f8a, in lower case')
    .default('#0b4f8a')
    .describe(
      'The colour of the top of each page and of buttons; text on it is black or white, whichever can be read.',
    ),
  logo: text(/^[\w./-]{1,200}\.(svg|png)$/, 'the path of an SVG or PNG file, relative to `cdk.json`')
    .optional()
    .describe('The picture before the name.'),
  signIn: z
    .strictObject({
      issuer: text(/^https:\/\/[^\s?#]+$/, 'an `https://` address').describe('The OpenID provider.'),
      clientId: text(/^[\x21-\x7e]{1,200}$/, 'the id of a client').describe('The client that the provider knows.'),
      clientSecretName: text(/^[\w/+=.@-]{1,200}$/, 'the name of a secret in Secrets Manager')
        .optional()
        .describe("The secret with the client's own secret, as plain text. Without it the client is public."),
    })
    .optional()
    .describe('Who signs people in. Without it the stack makes a Cognito user pool, to which you add people.'),
  operators: z
    .array(emailAddress)
    .max(50)
    .meta({ allowed: 'a list of up to 50 e-mail addresses' })
    .default([])
    .describe('The verified e-mail addresses of operators, who see and change every account.'),
  operatorClaim: z
    .strictObject({
      name: text(/^[\x21-\x7e]{1,200}$/, 'the name of a claim').describe(
        'A claim in the ID token, `groups` for instance.',
      ),
      value: text(/^[^\p{Cc}]{1,200}$/u, 'a text').describe('The value, or one of the values, that makes an operator.'),
    })
    .optional()
    .describe('Operators by what the provider says of them, instead of or beside the list.'),
});
