import * as z from 'zod/mini';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { addressRequestSchema } from '../../shared/contract/address-parameters.ts';
import {
  ambiguousSchema,
  foundSchema,
  lookupAnswerSchema,
  notFoundSchema,
  placeSchema,
} from '../../shared/contract/lookup-answer.ts';
import { limitsSchema, validationAnswerSchema } from '../../shared/contract/validation-answer.ts';
import { lookupExamples, validationExample } from './examples.ts';
import { headersOf } from './headers.ts';
import { nameSchema } from './name-schema.ts';

nameSchema(addressRequestSchema, 'AddressRequest', 'What was looked up: the input, normalised.', {
  postcode: 'Without spaces, in upper case.',
  toevoeging: 'Without spaces, in the letter case it was given; `null` if there was none.',
});
nameSchema(placeSchema, 'Place', 'A street and the place it lies in, as the register writes them.', {
  straat: 'The name of the street (openbare ruimte).',
  woonplaats: "The name of the place, for instance `Amsterdam`; the register writes `'s-Gravenhage` for Den Haag.",
});
nameSchema(foundSchema, 'AddressFound', 'The register has exactly one street and place for the input.');
nameSchema(notFoundSchema, 'AddressNotFound', 'The register has no such address on the date of the state. No error.');
nameSchema(ambiguousSchema, 'AddressAmbiguous', 'The register has several streets or places for the input.', {
  candidates: 'Each distinct street and place once, sorted by woonplaats, then straat.',
});
z.globalRegistry.add(lookupAnswerSchema, {
  id: 'LookupAnswer',
  description: 'One of three outcomes, told apart by `status`. All of them count against the quota.',
});
nameSchema(
  limitsSchema,
  'Limits',
  'The limit in force for each window of time that the plan configures (UTC, aligned to the clock and the calendar); ' +
    '`null` is unlimited, 0 admits nothing.',
);
nameSchema(validationAnswerSchema, 'KeyValidation', 'A key that works, and its limits.', {
  key_label: 'The label that the key was created with.',
  plan_code: 'The plan of the account.',
});

/** The 200 of a lookup. */
export const lookupAnswer: ZodOpenApiResponseObject = {
  description: 'The outcome of the lookup.',
  headers: headersOf('Dataset-Date', 'RateLimit-Policy', 'RateLimit'),
  content: {
    'application/json': {
      schema: lookupAnswerSchema,
      examples: Object.fromEntries(
        Object.entries(lookupExamples).map(([name, { summary, answer }]) => [name, { summary, value: answer }]),
      ),
    },
  },
};

/** The 200 of a validation. */
export const validationAnswer: ZodOpenApiResponseObject = {
  description: 'The key works.',
  headers: headersOf(),
  content: {
    'application/json': {
      schema: validationAnswerSchema,
      examples: { valid: { summary: 'A key with two limits', value: validationExample } },
    },
  },
};
