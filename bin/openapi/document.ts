import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { createDocument, type ZodOpenApiResponseObject } from 'zod-openapi';
import { huisnummerSchema, postcodeParameter, toevoegingParameter } from '../../lambdas/shared/contract.ts';
import { apiVersion } from '../../lambdas/shared/http/event.ts';
import { parameterExamples } from './examples.ts';
import { headerComponents, headersOf } from './headers.ts';
import { lookupAnswer, problemReferences, problemResponses, validationAnswer } from './responses.ts';

/** What a reader has to know before the operations; CommonMark. */
export const introduction = `Looks up the street and the place of a Dutch address by its postcode, huisnummer and toevoeging, in a copy of the
[BAG](https://www.kadaster.nl/zakelijk/registraties/basisregistraties/bag), the register of addresses.

**Keys.** Every operation but \`/openapi.json\` needs an API key in the header \`X-API-Key\`. Call the interface from a back end:
a key does not belong in a browser, so no CORS headers are sent.

**Outcomes.** A lookup that was understood answers 200 and one of three outcomes, told apart by \`status\`: \`ok\`, \`not_found\`
and \`ambiguous\`. Names are as the register writes them. PO boxes are not in the register, and an address without a postcode
can't be found.

**Problems.** Everything else is problem details (RFC 9457) as \`application/problem+json\`. The \`type\` is stable and resolves to
a page that says what happened and what to do; compare it as text. \`title\` and \`detail\` are for people.

**Quota.** A valid lookup counts one unit in every window of time of the account's plan. Answered lookups and 429 tell how much is
left in \`RateLimit-Policy\` and \`RateLimit\`. On 429 and 503 wait for as long as \`Retry-After\` says.

**Compatibility.** Within \`/v1\` nothing is taken away or changed; members, headers, problem types and operations may be added, so
ignore what you do not know. \`API-Version\` tells the version that answered.`;

const examples = new URL('../../docs/examples/', import.meta.url);
const files = [
  ['Shell', 'curl', 'curl.sh'],
  ['TypeScript', 'TypeScript', 'typescript.ts'],
  ['Python', 'Python', 'python.py'],
  ['PHP', 'PHP', 'php.php'],
  ['C#', 'C#', 'csharp/Program.cs'],
] as const;

/** The complete programs of `docs/examples`, for `x-codeSamples` of the lookup. */
export function codeSamples(): { lang: string; label: string; source: string }[] {
  return files.map(([lang, label, file]) => ({ lang, label, source: readFileSync(new URL(file, examples), 'utf8') }));
}

const addressQuery = z.object({
  postcode: parameter('postcode', postcodeParameter, 'The postcode. Spaces and letter case do not count.'),
  huisnummer: parameter(
    'huisnummer',
    z.clone(huisnummerSchema),
    'The house number, without anything behind it. Leading zeros are allowed, up to five digits in all.',
  ),
  toevoeging: parameter(
    'toevoeging',
    z.optional(toevoegingParameter),
    'Everything after the number: huisletter and huisnummertoevoeging joined. At most five letters and digits; spaces and ' +
      'letter case do not count. Absent, empty and only spaces are the same.',
  ),
});

/** The OpenAPI 3.1 document of the whole interface, made of the schemas that the Lambdas work with. */
export function openApiDocument() {
  return createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Dutch addresses',
        version: apiVersion,
        summary: 'Street and place of a postcode, huisnummer and toevoeging, from the BAG register.',
        description: introduction,
        contact: { name: 'The provider that gave you your key' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [{ url: '/v1', description: 'Relative to where this document is published' }],
      security: [{ apiKey: [] }],
      tags: [
        { name: 'Addresses', description: 'Look up addresses.' },
        { name: 'Keys', description: 'Check a key.' },
        { name: 'Reference', description: 'What the interface publishes about itself.' },
      ],
      paths: {
        '/address': {
          get: {
            operationId: 'lookUpAddress',
            tags: ['Addresses'],
            summary: 'Look up one address',
            description:
              'Finds the street and the place of an exact postcode, huisnummer and toevoeging: `12` does not match `12A`. A ' +
              'valid lookup counts one unit in every window of the quota, whatever its outcome; an invalid one counts nothing.',
            'x-codeSamples': codeSamples(),
            requestParams: { query: addressQuery },
            responses: { '200': lookupAnswer, ...problemReferences(401, 403, 422, 429, 500, 503) },
          },
        },
        '/auth/validate': {
          get: {
            operationId: 'validateKey',
            tags: ['Keys'],
            summary: 'Check a key',
            description: 'Tells whether the key works and with which limits. Counts nothing against the quota.',
            responses: { '200': validationAnswer, ...problemReferences(401, 403, 500, 503) },
          },
        },
        '/openapi.json': {
          get: {
            operationId: 'getOpenApi',
            tags: ['Reference'],
            summary: 'This document',
            description: 'The description of the interface. Needs no key.',
            security: [],
            responses: { '200': openApiAnswer, ...problemReferences(500) },
          },
        },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description: 'The key that your provider gave you. It belongs in a back end, never in a browser or an app.',
          },
        },
        headers: headerComponents,
        responses: problemResponses,
      },
      // OpenAPI has no place for what other paths and other methods answer.
      'x-elsewhere': problemReferences(404, 405),
    },
    {
      // Members may be added within a major version, so the answers stay open.
      override: ({ jsonSchema }) => {
        delete jsonSchema.additionalProperties;
      },
    },
  );
}

const openApiAnswer: ZodOpenApiResponseObject = {
  description: 'The description of the interface, in OpenAPI 3.1.',
  headers: headersOf(),
  content: {
    'application/json': {
      schema: {
        type: 'object',
        required: ['openapi', 'info', 'paths'],
        properties: {
          openapi: { type: 'string', pattern: '^3\\.1\\.[0-9]+$' },
          info: { type: 'object' },
          paths: { type: 'object' },
        },
      },
    },
  },
};

function parameter<Schema extends z.core.$ZodType>(
  name: 'postcode' | 'huisnummer' | 'toevoeging',
  schema: Schema,
  description: string,
): Schema {
  z.globalRegistry.add(schema, { description, param: { description, examples: parameterExamples(name) } });
  return schema;
}
