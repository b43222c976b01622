import * as z from 'zod/mini';
import { createDocument, type ZodOpenApiResponseObject } from 'zod-openapi';
import { huisnummerSchema, postcodeParameter, toevoegingParameter } from '../../shared/contract/address-parameters.ts';
import { apiVersion } from '../../shared/http/common-headers.ts';
import { lookupAnswer, validationAnswer } from './answers.ts';
import { codeSamples } from './code-samples.ts';
import { parameterExamples } from './examples.ts';
import { headerComponents, headersOf } from './headers.ts';
import { introduction } from './introduction.ts';
import { problemReferences, problemResponses } from './problem-responses.ts';

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
