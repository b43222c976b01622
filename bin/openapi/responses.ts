import * as z from 'zod/mini';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { explanations } from '../../lambdas/reference/explanations.ts';
import { maxToevoegingen } from '../../lambdas/shared/addresses/address-item.ts';
import {
  addressRequestSchema,
  ambiguousSchema,
  faultCodes,
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

/** Gives an object schema its name in the document, and describes it and those of its members that need it. */
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

nameSchema(addressRequestSchema, 'AddressRequest', 'The input of the lookup, normalised.', {
  postcode: 'Without spaces, in upper case.',
  toevoeging: 'Without spaces, in the letter case that was sent; `null` if none was sent.',
});
nameSchema(placeSchema, 'Place', 'A street and its town, as the register writes them.', {
  straat: 'The name of the street (openbare ruimte).',
  woonplaats: "The name of the town, for instance `Amsterdam`. The register writes `'s-Gravenhage` for Den Haag.",
});
nameSchema(foundSchema, 'AddressFound', 'The register has exactly one street and town for the input.');
nameSchema(notFoundSchema, 'AddressNotFound', 'The register has no such address. This is not an error.', {
  toevoegingen:
    'The toevoegingen that do exist at this postcode and huisnummer, in upper case and sorted; `null` is the address without a ' +
    `toevoeging. Empty if there are none. At most ${maxToevoegingen}: a list of that length may be incomplete.`,
});
nameSchema(ambiguousSchema, 'AddressAmbiguous', 'The register has several streets or towns for the input.', {
  candidates: 'Each combination of street and town once, sorted by woonplaats, then straat.',
});
z.globalRegistry.add(lookupAnswerSchema, {
  id: 'LookupAnswer',
  description: 'One of three outcomes, distinguished by `status`. Each counts against the quota.',
});
nameSchema(
  limitsSchema,
  'Limits',
  'The effective limit for each time window that the plan configures (UTC, aligned to the clock and the calendar). ' +
    '`null` is unlimited; 0 allows no requests.',
);
nameSchema(validationAnswerSchema, 'KeyValidation', 'A valid key and its limits.', {
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
  description: 'The key is valid.',
  headers: headersOf(),
  content: {
    'application/json': {
      schema: validationAnswerSchema,
      examples: { valid: { summary: 'A key with two limits', value: validationExample } },
    },
  },
};

nameSchema(problemSchema, 'Problem', 'Problem details (RFC 9457): the members of every problem.', {
  title: 'The kind of problem, for people.',
  detail: 'What is wrong with this request, for people. The text may change.',
  request_id: 'Identifies the request; equal to the header `X-Request-Id`.',
});
nameSchema(inputFaultSchema, 'InputFault', 'One fault in the input.', {
  parameter: 'The name of the parameter as it was sent, or as it should have been sent if it is missing.',
  code: faultCodes.map((code) => `\`${code}\`: ${explanations[code].happened}`).join(' '),
  detail: 'What to send instead, for people. The text may change.',
});
nameSchema(invalidInputSchema, 'InvalidInput', '', { errors: 'One entry for each fault.' });
nameSchema(quotaExceededSchema, 'QuotaExceeded', '', {
  violated_windows: 'The time windows in which no quota is left.',
});

/** The headers of a problem besides those of every response. */
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
        code: 'postcode-leading-zero',
        detail: "postcode can't begin with 0: send four digits, the first not 0, and two letters, such as 1012JS.",
      },
      {
        parameter: 'huisnummer',
        code: 'huisnummer-with-toevoeging',
        detail: 'huisnummer has more than a number: send huisnummer=12 and toevoeging=A.',
      },
    ],
  },
  'quota-exceeded': { violated_windows: ['minute'] },
};

/** For `components.responses`, by status: `403` has two problems, distinguished by `type`. */
export const problemResponses = Object.fromEntries(
  Object.entries(Object.groupBy(codes(), (code) => responseName(problems[code].status))).map(([name, group = []]) => [
    name,
    problemResponse(group),
  ]),
);

/** The problems that an operation may return, as references. */
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
