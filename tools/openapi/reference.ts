import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import { createDocument, type ZodOpenApiResponseObject } from 'zod-openapi';
import type { ParameterName } from '../../core/addresses/address-input.ts';
import {
  huisnummerSchema,
  includeSchema,
  postcodeParameter,
  toevoegingParameter,
} from '../../core/contract.ts';
import { availableIncludes, type IncludeName } from '../../core/place-fields.ts';
import { problems } from '../../core/problems.ts';
import { apiVersion } from '../../lambdas/http/middleware.ts';
import { headingOf } from '../../packages/reference/problem-page.ts';
import type { ExplainedCode } from '../../packages/reference/text/en.ts';
import { meaningsOf, referenceTexts } from '../../packages/reference/text/texts.ts';
import { lookupResponse, parameterExamples, validationAnswer } from './answers.ts';
import { batchOperation } from './batch.ts';
import { headerComponents, headersOf, problemReferences, problemResponses } from './responses.ts';

const docs = new URL('../../docs/', import.meta.url);

/** What a reader must know before the operations; CommonMark. */
const introduction = `Looks up the street and town of a Dutch address by postcode, huisnummer and toevoeging, in a copy of the
[BAG](https://www.kadaster.nl/zakelijk/registraties/basisregistraties/bag), the official register of addresses.

**Toevoeging.** \`toevoeging\` is the huisletter and the huisnummertoevoeging of the register together: huisletter \`b\` and
huisnummertoevoeging \`99\` are \`toevoeging=b99\`.

**Keys.** Every operation except \`/v1/openapi.json\` requires an API key in the header \`X-API-Key\`. Call the API from a back end: a key
does not belong in a browser, in HTML, in a script or in analytics, so no CORS headers are sent.

**Outcomes.** A valid lookup returns 200 and one of three outcomes, distinguished by \`status\`: \`ok\`, \`not_found\` and \`ambiguous\`.
\`include\` adds members to it.
Names are as the register writes them. PO boxes are not in the register, and addresses without a postcode can't be found.

**Problems.** Every response that is no success is problem details (RFC 9457) as \`application/problem+json\`. \`type\` is stable and resolves to a
page that says what happened and what to do; compare it as text. \`title\` and \`detail\` are for people.

**Quota.** A valid lookup counts one unit in each time window of the account's plan. Invalid input, refusals and key checks never count;
after a 500, a 503 or a lost response a valid lookup may have counted, once. Lookups and 429 responses say how much is left in
\`RateLimit-Policy\` and \`RateLimit\`. On 429 and 503, wait for the number of seconds in \`Retry-After\`.

**Gateway.** API Gateway refuses requests above the operator's throttle, which is for all accounts together, with 429 and
\`{"message":"Too Many Requests"}\` as \`application/json\`, without \`Retry-After\` and the other headers. Wait a second, then longer and
longer, and try again. Such a response does not count against the quota.

**Test addresses.** \`9999SD 1\` is \`ok\`, \`9999SD 2\` is \`not_found\` and \`9999SD 3\` is \`ambiguous\`, whatever the data. They exist
for every key, unless the operator has turned them off: then they are \`not_found\`, like any other postcode that does not exist.

**Storing results.** The data is in the public domain (CC0), so you may store and share it. \`Cache-Control: no-store\` is about HTTP
caches between you and the service, because responses belong to a key.

**Compatibility.** Within \`/v1\` nothing is removed or changed. Members, headers, problem types and operations may be added: ignore those
you do not know. \`API-Version\` is the version that responded.`;

const files = [
  ['Shell', 'curl', 'curl.sh'],
  ['TypeScript', 'TypeScript', 'typescript.ts'],
  ['Python', 'Python', 'python.py'],
  ['PHP', 'PHP', 'php.php'],
  ['C#', 'C#', 'csharp/Program.cs'],
] as const;

/** The complete programs in `docs/examples`, for `x-codeSamples` of the lookup. */
export function codeSamples(): { lang: string; label: string; source: string }[] {
  return files.map(([lang, label, file]) => ({
    lang,
    label,
    source: readFileSync(new URL(`examples/${file}`, docs), 'utf8'),
  }));
}

/**
 * What consumers of the API notice of each version, newest first, as the changelog has it; without
 * objects where a service has none.
 */
function changesOf(
  changelog: string,
  hasObjects: boolean,
): { version: string; date?: string; changes: string[] }[] {
  const [, ...versions] = changelog.split(/^## /m);
  return versions.flatMap((text) => {
    const [, version, date] = /^(\d+\.\d+\.\d+)(?: \((\d{4}-\d\d-\d\d)\))?$/m.exec(text) ?? [];
    const [list] = text.split('\nFor consumers of the API:\n\n')[1]?.split('\n\n') ?? [];
    if (!version || !list) return [];
    const changes = list
      .replace(/^- /, '')
      .split('\n- ')
      .map((change) => change.replaceAll(/\s+/g, ' ').trim());
    const noticed = changes.filter((change) => hasObjects || !change.includes('objecten'));
    return [{ version, ...(date && { date }), changes: noticed }];
  });
}

z.globalRegistry.add(includeSchema, { uniqueItems: true });

/** The query of a lookup in a service with objects, or in one without. */
const addressQuery = (hasObjects: boolean) => {
  const parameter = parameterOf(hasObjects);
  return z.object({
    postcode: parameter(
      'postcode',
      z.clone(postcodeParameter),
      'Four digits, the first not 0, and two letters. Spaces and letter case do not matter.',
    ),
    huisnummer: parameter(
      'huisnummer',
      z.clone(huisnummerSchema),
      'The house number without an addition: 1 to 99999. Leading zeros are allowed, up to five digits in total.',
    ),
    toevoeging: parameter(
      'toevoeging',
      z.optional(z.clone(toevoegingParameter)),
      'Huisletter and huisnummertoevoeging together: everything after the number. At most five letters and digits; spaces and ' +
        'letter case do not matter. Absent, empty and only spaces are equivalent.',
    ),
    include: parameter(
      'include',
      z.optional(includeSchema),
      `What else to return, separated by commas and each once: ${meaningsOf(availableIncludes(hasObjects), 'en')}.`,
      { style: 'form', explode: false },
    ),
  });
};

/**
 * The OpenAPI 3.1 document of the API, made from the schemas that the Lambdas validate with. A
 * service without objects, as it is by default, doesn't offer them.
 */
export function createOpenApiDocument(hasObjects = false) {
  const document = createDocument(
    {
      openapi: '3.1.1',
      info: {
        title: 'Dutch addresses',
        version: apiVersion,
        summary: 'Street and town for a postcode, huisnummer and toevoeging, from the BAG.',
        description: introduction,
        contact: { name: 'The provider that gave you your key' },
        license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
      },
      servers: [{ url: '/v1', description: 'Relative to where this document is published' }],
      security: [{ apiKey: [] }],
      tags: [
        { name: 'Addresses', description: 'Look up addresses.' },
        { name: 'Keys', description: 'Check a key.' },
        { name: 'Reference', description: 'The description of the API itself.' },
      ],
      paths: {
        '/address': {
          get: {
            operationId: 'lookUpAddress',
            tags: ['Addresses'],
            summary: 'Look up one address',
            description:
              'Finds the street and town for an exact postcode, huisnummer and toevoeging: `12` does not match `12A`. A valid ' +
              'lookup counts one unit in each time window of the quota, whatever the outcome; an invalid one does not count. ' +
              'Any other parameter is invalid, because ignoring a misspelled one (`toevoging`) or one of another API (`huisletter`, ' +
              '`house_number`) could return another address. An API key in a parameter is invalid too.',
            'x-codeSamples': codeSamples(),
            requestParams: { query: addressQuery(hasObjects) },
            responses: {
              '200': lookupResponse(hasObjects),
              ...problemReferences(401, 403, 422, 429, 500, 503),
            },
          },
        },
        '/addresses': { post: batchOperation },
        '/auth/validate': {
          get: {
            operationId: 'validateKey',
            tags: ['Keys'],
            summary: 'Check a key',
            description:
              'Says whether the key is valid, which limits apply, and in the `RateLimit` headers what is left. Does not count against ' +
              'the quota.',
            responses: { '200': validationAnswer, ...problemReferences(401, 403, 500, 503) },
          },
        },
        '/openapi.json': {
          get: {
            operationId: 'getOpenApi',
            tags: ['Reference'],
            summary: 'This document',
            description:
              'This OpenAPI document. Requires no key. Send the `ETag` that you have as `If-None-Match` to get 304 without a body ' +
              'while the document is the same.',
            security: [],
            requestParams: { header: openApiHeaders },
            responses: { '200': openApiAnswer, '304': notModified, ...problemReferences(500) },
          },
        },
      },
      components: {
        securitySchemes: {
          apiKey: {
            type: 'apiKey',
            in: 'header',
            name: 'X-API-Key',
            description:
              'The key from your provider. Use it in a back end, never in a browser, an app, HTML or analytics.',
          },
        },
        headers: headerComponents,
        responses: problemResponses,
      },
      'x-changes': changesOf(readFileSync(new URL('../CHANGELOG.md', docs), 'utf8'), hasObjects),
      // OpenAPI has no place for the responses of other paths and methods.
      'x-elsewhere': problemReferences(404, 405),
      // Not in the responses of the operations: generators would make unions of it that no `switch`
      // over `type` narrows.
      'x-gateway': {
        '429': {
          description:
            'From API Gateway, above the throttle for all accounts together: without `Retry-After` and the other headers.',
          content: { 'application/json': { example: { message: 'Too Many Requests' } } },
        },
      },
    },
    {
      override: ({ jsonSchema, io }) => {
        // Members may be added to responses within a major version; in a body unknown ones are
        // invalid.
        if (io === 'output') delete jsonSchema.additionalProperties;
        // Several generators know `enum` and not `const`.
        if (jsonSchema.const !== undefined) jsonSchema.enum = [jsonSchema.const];
        if (!hasObjects) withoutObjects(jsonSchema);
      },
    },
  );
  if (!hasObjects) {
    for (const schema of ['AdresObject', 'Locatie']) delete document.components?.schemas?.[schema];
  }
  return document;
}

/** Takes the member of a place and the name of `include` out of a schema. */
function withoutObjects(schema: { properties?: object; enum?: unknown[] }): void {
  const own: IncludeName = 'objecten';
  if (schema.properties && own in schema.properties) delete schema.properties[own];
  if (schema.enum?.includes(own)) schema.enum = schema.enum.filter((name) => name !== own);
}

const ifNoneMatch = z.optional(z.string());
z.globalRegistry.add(ifNoneMatch, {
  param: { description: 'One or more values of `ETag`, separated by commas.' },
});
const openApiHeaders = z.object({ 'If-None-Match': ifNoneMatch });

const notModified: ZodOpenApiResponseObject = {
  description: 'The document is the one that the client has.',
  headers: headersOf('ETag', 'Vary'),
};

const openApiAnswer: ZodOpenApiResponseObject = {
  description: 'The description of the API in OpenAPI 3.1.',
  headers: headersOf('ETag', 'Vary', 'Content-Encoding'),
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

function parameterOf(hasObjects: boolean) {
  return <Schema extends z.core.$ZodType>(
    name: ParameterName,
    schema: Schema,
    description: string,
    form: { style?: 'form'; explode?: boolean } = {},
  ): Schema => {
    const param = { description, ...form, examples: parameterExamples(name, hasObjects) };
    z.globalRegistry.add(schema, { description, param });
    return schema;
  };
}

/** The generated parts of `docs/api.md`, by the comments around them. */
const generatedParts: Record<string, () => string> = {
  problems: () => {
    const codes = Object.keys(referenceTexts.en.explanations) as ExplainedCode[];
    const { types = [], faults = [] } = Object.groupBy(codes, (code) =>
      code in problems ? 'types' : 'faults',
    );
    const lines = types.map((code) => `- \`/problems/${code}\`: ${headingOf(code)}\n`).join('');
    return `${lines}- \`/problems/CODE\` for each code of a 422: ${faults.map((code) => `\`${code}\``).join(', ')}\n`;
  },
};

/**
 * A Markdown text with each of its generated parts made anew. @throws Error when a part is not in
 * the text
 */
export function withGeneratedParts(markdown: string): string {
  return Object.entries(generatedParts).reduce((text, [name, generate]) => {
    const begin = `<!-- ${name} -->\n`;
    const end = `<!-- /${name} -->`;
    const [before, rest] = text.split(begin);
    const [, after] = rest?.split(end) ?? [];
    if (before === undefined || after === undefined) {
      throw new Error(`The text has no ${begin.trim()} ... ${end}.`);
    }
    return `${before}${begin}\n${generate()}\n${end}${after}`;
  }, markdown);
}

type Json = unknown;
type JsonObject = Record<string, Json>;

/**
 * The JSON merge patch (RFC 7396) that makes `to` of `from`, which has no member that `to` lacks.
 */
function mergePatch(from: Json, to: Json): Json {
  if (!isObject(from) || !isObject(to)) return to;
  const changed = Object.keys(to).filter(
    (name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]),
  );
  return Object.fromEntries(changed.map((name) => [name, mergePatch(from[name], to[name])]));
}

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Writes the OpenAPI document and what objects change in it, which a formatter then formats, and
 * the generated parts of `docs/api.md`.
 */
async function writeReference(): Promise<void> {
  const reference = new URL('api.md', docs);
  const document = createOpenApiDocument();
  const patch = mergePatch(document, createOpenApiDocument(true));
  await writeFile(new URL('openapi.json', docs), JSON.stringify(document, null, 2));
  await writeFile(new URL('openapi-objecten.json', docs), JSON.stringify(patch, null, 2));
  await writeFile(reference, withGeneratedParts(await readFile(reference, 'utf8')));
}

// Not import.meta.main: local/launch.js imports this.
if (process.argv[1] === import.meta.filename) await writeReference();
