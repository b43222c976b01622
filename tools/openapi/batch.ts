import type { ZodOpenApiOperationObject } from 'zod-openapi';
import {
  addressesToLookUpSchema,
  addressToLookUpSchema,
  batchAnswerSchema,
  maxAddresses,
} from '../../core/contract.ts';
import { lookupExamples } from './answers.ts';
import { headersOf, invalidBodyResponse, nameSchema, problemReferences } from './responses.ts';

nameSchema(
  addressToLookUpSchema,
  'AddressToLookUp',
  'One address. The rules are those of the query of a single lookup.',
  {
    postcode:
      'Four digits, the first not 0, and two letters. Spaces and letter case do not matter.',
    huisnummer:
      'The house number without an addition, as an integer, or as a string of digits as in the query.',
    toevoeging:
      'Everything after the number, at most five letters and digits. Absent, `null` and empty are equivalent.',
  },
);
nameSchema(
  addressesToLookUpSchema,
  'AddressesToLookUp',
  'The addresses, and what to include with each. Other members are invalid.',
  {
    addresses: `1 to ${maxAddresses} addresses. An address that occurs twice counts twice.`,
    include: 'What else to return with each outcome, as for a single lookup.',
  },
);
nameSchema(batchAnswerSchema, 'LookupAnswers', 'The outcome of each lookup.', {
  results:
    'One outcome for each address, in the order of the request, each as the single lookup returns it.',
});

const examples = [lookupExamples.found, lookupExamples.not_found, lookupExamples.ambiguous].flatMap(
  (example) => example ?? [],
);

export const batchExample = {
  summary: 'Three addresses',
  body: { addresses: examples.map(({ query }) => query) },
  answer: { results: examples.map(({ answer }) => answer) },
};

const { summary } = batchExample;

const invalidBody = [
  'The body is invalid. No address was looked up, and the request did not count against the quota. `errors` has one entry for each ' +
    'fault: a JSON `pointer` to the member, a stable `code`, and a `detail` that says what to send instead. Where that is clear, ' +
    '`suggestion` has it for a program: the members of the address to send, with their values.',
  'Correct every member that `errors` points to and send the request again. The same request always gets the same response.',
] as const;

/** `POST /v1/addresses` */
export const batchOperation: ZodOpenApiOperationObject = {
  operationId: 'lookUpAddresses',
  tags: ['Addresses'],
  summary: 'Look up many addresses',
  description:
    `Looks up 1 to ${maxAddresses} addresses in one request, each exactly as a single lookup does. All of them count, one unit each, or ` +
    'none: if any is invalid (422, with a JSON pointer to each fault), or if less quota is left in any window (429, where ' +
    '`RateLimit` says what is left), nothing is looked up and nothing counts. The body has at most 64 KB.',
  requestBody: {
    required: true,
    content: {
      'application/json': {
        schema: addressesToLookUpSchema,
        examples: { many: { summary, value: batchExample.body } },
      },
    },
  },
  responses: {
    '200': {
      description: 'The outcomes, in the order of the request.',
      headers: headersOf('Dataset-Date', 'RateLimit-Policy', 'RateLimit'),
      content: {
        'application/json': {
          schema: batchAnswerSchema,
          examples: { many: { summary, value: batchExample.answer } },
        },
      },
    },
    '422': invalidBodyResponse(invalidBody),
    ...problemReferences(401, 403, 413, 415, 429, 500, 503),
  },
};
