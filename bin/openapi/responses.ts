import * as z from 'zod/mini';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { explanations, faultCodes } from '../../lambdas/reference/explanations.ts';
import {
  addressRequestSchema,
  ambiguousSchema,
  foundSchema,
  inputFaultSchema,
  invalidInputSchema,
  limitsSchema,
  lookupAnswerSchema,
  notFoundSchema,
  placeSchema,
  problemSchema,
  quotaExceededSchema,
  validationAnswerSchema,
} from '../../lambdas/shared/contract.ts';
import { type ProblemCode, problems, problemType } from '../../lambdas/shared/http/problem.ts';
import { exampleRequestId, lookupExamples, validationExample } from './examples.ts';
import { headersOf } from './headers.ts';

/** Gives an object schema its name in the document, and words for it and for those of its members that need some. */
export function nameSchema<Schema extends z.core.$ZodObject>(
  schema: Schema,
  id: string,
  description: string,
  members: { [Member in keyof Schema['_zod']['def']['shape']]?: string } = {},
): Schema {
  z.globalRegistry.add(schema, { id, description });
  for (const [member, words] of Object.entries(members)) {
    const memberSchema = schema._zod.def.shape[member];
    if (memberSchema) z.globalRegistry.add(memberSchema, { description: String(words) });
  }
  return schema;
}

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

nameSchema(problemSchema, 'Problem', 'Problem details (RFC 9457): the members of every problem.', {
  title: 'What kind of problem it is, for people.',
  detail: 'What is wrong with this request, for people. Its text may change.',
  request_id: 'Names the request; the same as the header `X-Request-Id`.',
});
nameSchema(inputFaultSchema, 'InputFault', 'One fault of the input.', {
  parameter: 'The parameter with the fault.',
  code: faultCodes.map((code) => `\`${code}\`: ${explanations[code].happened}`).join(' '),
  detail: 'What is expected, for people. Its text may change.',
});
nameSchema(invalidInputSchema, 'InvalidInput', '', { errors: 'An entry for each parameter that is not valid.' });
nameSchema(quotaExceededSchema, 'QuotaExceeded', '', { violated_windows: 'The windows without quota left.' });

/** Headers and members beyond the common ones, by problem. */
const headers: Partial<Record<ProblemCode, string[]>> = {
  unauthorized: ['WWW-Authenticate'],
  'method-not-allowed': ['Allow'],
  'quota-exceeded': ['Retry-After', 'RateLimit-Policy', 'RateLimit'],
  'temporarily-unavailable': ['Retry-After'],
};
const bases: Partial<Record<ProblemCode, typeof problemSchema>> = {
  'invalid-input': invalidInputSchema,
  'quota-exceeded': quotaExceededSchema,
};
const exampleMembers: Partial<Record<ProblemCode, Record<string, unknown>>> = {
  'invalid-input': {
    errors: [
      {
        parameter: 'postcode',
        code: 'invalid',
        detail: 'postcode must be four digits, the first not 0, and two letters, such as 1012JS.',
      },
      {
        parameter: 'huisnummer',
        code: 'missing',
        detail: 'huisnummer is required: one to five digits, from 1 to 99999.',
      },
    ],
  },
  'quota-exceeded': { violated_windows: ['minute'] },
};

/** For `components.responses`, by status: `403` has two problems, told apart by `type`. */
export const problemResponses = Object.fromEntries(
  Object.entries(Object.groupBy(codes(), (code) => responseName(problems[code].status))).map(([name, group = []]) => [
    name,
    problemResponse(group),
  ]),
);

/** The problems that an operation may answer with, as references. */
export function problemReferences(...statuses: number[]): Record<string, { $ref: `#/components/responses/${string}` }> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(status)}` }]),
  );
}

function problemResponse(group: ProblemCode[]): ZodOpenApiResponseObject {
  const schemas = group.map(schemaOf);
  const [schema, ...others] = schemas;
  if (!schema) throw new Error('a response has at least one problem');
  const problem = others.length > 0 ? z.discriminatedUnion('type', [schema, ...others]) : schema;
  return {
    description: group.map((code) => explanations[code].happened).join('\n\n'),
    headers: headersOf(...group.flatMap((code) => headers[code] ?? [])),
    content: {
      'application/problem+json': {
        schema: problem,
        examples: Object.fromEntries(group.map((code) => [code, exampleOf(code)])),
      },
    },
  };
}

function schemaOf(code: ProblemCode) {
  const { status, title } = problems[code];
  const schema = z.extend(bases[code] ?? problemSchema, {
    type: z.literal(problemType(code)),
    status: z.literal(status),
  });
  z.globalRegistry.add(schema, { id: pascalCase(code), description: `${title}. ${explanations[code].remedy}` });
  return schema;
}

function exampleOf(code: ProblemCode) {
  const { status, title, detail } = problems[code];
  const type = problemType(code);
  return {
    summary: title,
    value: { type, title, status, detail, request_id: exampleRequestId, ...exampleMembers[code] },
  };
}

function responseName(status: number): string {
  const [first] = codes().filter((code) => problems[code].status === status);
  if (!first) throw new Error(`no problem has the status ${status}`);
  return status === 403 ? 'Forbidden' : pascalCase(first);
}

function codes(): ProblemCode[] {
  return Object.keys(problems) as ProblemCode[];
}

function pascalCase(text: string): string {
  return text.replaceAll(/(?:^|-)([a-z])/g, (_, letter: string) => letter.toUpperCase());
}
