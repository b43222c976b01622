import * as z from 'zod/mini';
import type {
  ZodOpenApiHeaderObject,
  ZodOpenApiHeadersObject,
  ZodOpenApiResponseObject,
} from 'zod-openapi';
import {
  bodyFaultSchema,
  faultCodes,
  inputFaultSchema,
  invalidBodySchema,
  invalidInputSchema,
  parameterFaultCodes,
  problemSchema,
  quotaExceededSchema,
  suggestionSchema,
} from '../../core/contract.ts';
import { type ProblemCode, problems, problemType } from '../../core/problems.ts';
import { apiVersion } from '../../lambdas/http/middleware.ts';
import type { Explanation } from '../../packages/reference/text/en.ts';
import { referenceTexts } from '../../packages/reference/text/texts.ts';

/** The id of the request in every example. */
const exampleRequestId = 'JKJaXmPLvHcESHA=';

type Header = {
  description: string;
  required?: boolean;
  schema: Record<string, unknown>;
  example?: unknown;
};

/** Every header that a response may have, by name. */
const headers: Record<string, Header> = {
  'API-Version': {
    description: 'The semantic version of the API that responded.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    example: apiVersion,
  },
  'Cache-Control': {
    description: 'No HTTP cache may store a response.',
    required: true,
    schema: constant('no-store'),
  },
  'Strict-Transport-Security': {
    description: 'HTTPS only, for a year.',
    required: true,
    schema: constant('max-age=31536000'),
  },
  'X-Content-Type-Options': {
    description: 'The content type must not be guessed.',
    required: true,
    schema: constant('nosniff'),
  },
  'X-Request-Id': {
    description: 'Identifies the request. Quote it to your provider.',
    required: true,
    schema: { type: 'string', minLength: 1 },
    example: exampleRequestId,
  },
  ETag: {
    description: 'The version of the document, for `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[0-9A-Za-z_-]+"$' },
    example: 'W/"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"',
  },
  'Content-Encoding': {
    description: 'Present when the client accepts gzip.',
    schema: constant('gzip'),
  },
  Vary: {
    description: 'Compression depends on `Accept-Encoding`.',
    required: true,
    schema: constant('Accept-Encoding'),
  },
  'Dataset-Date': {
    description: 'The date of the copy of the register; absent while it is unknown.',
    schema: { type: 'string', format: 'date' },
    example: '2026-01-08',
  },
  'RateLimit-Policy': {
    description:
      'Each finite time window of the account, and `key-day` for a key with a limit of its own, with its quota `q` and its length ' +
      'in seconds `w`, as a structured field (IETF draft "RateLimit header fields for HTTP"). Absent without any.',
    schema: {
      type: 'string',
      pattern: '^"[a-z-]+";q=[0-9]+;w=[0-9]+(, "[a-z-]+";q=[0-9]+;w=[0-9]+)*$',
    },
    example: '"minute";q=60;w=60, "day";q=5000;w=86400',
  },
  RateLimit: {
    description:
      'The time window that is closest to exhaustion: the remaining quota `r` and the seconds until it resets `t`.',
    schema: { type: 'string', pattern: '^"[a-z-]+";r=[0-9]+;t=[0-9]+$' },
    example: '"day";r=100;t=36000',
  },
  'Retry-After': {
    description: 'Seconds until the request could succeed, at least 1.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    example: '12',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: with an API key in the header `X-API-Key`.',
    required: true,
    schema: constant('ApiKey realm="bag-adres", header="X-API-Key"'),
  },
  Allow: {
    description: 'The method that the path supports.',
    required: true,
    schema: { type: 'string', enum: ['GET', 'POST'] },
    example: 'GET',
  },
};

function constant(value: string): Record<string, unknown> {
  return { type: 'string', const: value, enum: [value] };
}

const common = [
  'API-Version',
  'Cache-Control',
  'Strict-Transport-Security',
  'X-Content-Type-Options',
  'X-Request-Id',
];

/** For `components.headers`. */
export const headerComponents = Object.fromEntries(
  Object.entries(headers).map(([name, header]) => [componentName(name), header]),
) as Record<string, ZodOpenApiHeaderObject>;

/** The headers of a response: those of every response, and `names`. */
export function headersOf(...names: string[]): ZodOpenApiHeadersObject {
  return Object.fromEntries(
    [...common, ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${componentName(name)}` },
    ]),
  );
}

function componentName(name: string): string {
  return name.replaceAll('-', '');
}

/**
 * Gives an object schema its name in the document, and describes it, and its members where they
 * need it.
 */
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

nameSchema(problemSchema, 'Problem', 'Problem details (RFC 9457): the members of every problem.', {
  title: 'The kind of problem, for people.',
  detail: 'What is wrong with this request, for people. The text may change.',
  request_id: 'Identifies the request; equal to the header `X-Request-Id`.',
});
nameSchema(inputFaultSchema, 'InputFault', 'One fault in the input.', {
  parameter:
    'The name of the parameter as it was sent, or as it should have been sent if it is missing.',
  code: parameterFaultCodes
    .map((code) => `\`${code}\`: ${referenceTexts.en.explanations[code][0]}`)
    .join(' '),
  detail: 'What to send instead, for people. The text may change.',
});
nameSchema(bodyFaultSchema, 'BodyFault', 'One fault in the body of many lookups.', {
  pointer: 'Where the fault is, as a JSON pointer (RFC 6901): `/addresses/3/huisnummer`.',
  code: faultCodes
    .filter((code) => !parameterFaultCodes.some((other) => other === code))
    .map((code) => `\`${code}\`: ${referenceTexts.en.explanations[code][0]}`)
    .concat('The others are those of `InputFault`.')
    .join(' '),
  detail: 'What to send instead, for people. The text may change.',
});
nameSchema(
  suggestionSchema,
  'Suggestion',
  'The parameters to send instead, with their values, where the input says clearly what is meant: sent in place of the ' +
    'parameter at fault they are valid. An empty value means: leave it out. The service never applies it.',
);
nameSchema(invalidInputSchema, 'InvalidInput', '', { errors: 'One entry for each fault.' });
nameSchema(quotaExceededSchema, 'QuotaExceeded', '', {
  violated_windows:
    'The time windows of the account in which no quota is left, and `key-day` if the limit of the key is used up.',
});

/** The headers of a problem besides those of every response. */
const problemHeaders: Partial<Record<ProblemCode, string[]>> = {
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
        detail:
          "postcode can't begin with 0: send four digits, the first not 0, and two letters, such as 1012JS.",
      },
      {
        parameter: 'huisnummer',
        code: 'huisnummer-with-toevoeging',
        detail: 'huisnummer has more than a number: send huisnummer=12 and toevoeging=A.',
        suggestion: { huisnummer: '12', toevoeging: 'A' },
      },
    ],
  },
  'quota-exceeded': { violated_windows: ['minute'] },
};

/** For `components.responses`, by status: `403` has two problems, distinguished by `type`. */
export const problemResponses = Object.fromEntries(
  Object.entries(Object.groupBy(codes(), (code) => responseName(problems[code].status))).map(
    ([name, group = []]) => [name, problemResponse(group)],
  ),
);

/** The problems that an operation may return, as references. */
export function problemReferences(
  ...statuses: number[]
): Record<string, { $ref: `#/components/responses/${string}` }> {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${responseName(status)}` }]),
  );
}

function problemResponse(group: ProblemCode[]): ZodOpenApiResponseObject {
  const [schema, ...others] = group.map((code) => schemaOf(code));
  if (!schema) throw new Error('a response has at least one problem');
  return response({
    description: group.map((code) => referenceTexts.en.explanations[code][0]).join('\n\n'),
    headers: group.flatMap((code) => problemHeaders[code] ?? []),
    schema: others.length > 0 ? z.discriminatedUnion('type', [schema, ...others]) : schema,
    examples: Object.fromEntries(group.map((code) => [code, exampleOf(code)])),
  });
}

/**
 * The 422 of a body with many lookups: the same problem, whose faults have a pointer instead of a
 * parameter.
 */
export function invalidBodyResponse([happened, remedy]: Explanation): ZodOpenApiResponseObject {
  const code = 'invalid-input';
  const { summary, value } = exampleOf(code);
  const errors = [
    {
      pointer: '/addresses/0/huisnummer',
      code: 'huisnummer-with-toevoeging',
      detail: 'huisnummer has more than a number: send huisnummer=12 and toevoeging=A.',
      suggestion: { huisnummer: '12', toevoeging: 'A' },
    },
  ];
  return response({
    description: happened,
    headers: [],
    schema: schemaOf(code, { base: invalidBodySchema, id: 'InvalidBody', remedy }),
    examples: { [code]: { summary, value: { ...value, errors } } },
  });
}

type Described = {
  description: string;
  headers: string[];
  schema: z.core.$ZodType;
  examples: Record<string, object>;
};

function response({ description, headers, schema, examples }: Described): ZodOpenApiResponseObject {
  const content = { 'application/problem+json': { schema, examples } };
  return { description, headers: headersOf(...headers), content };
}

function schemaOf(
  code: ProblemCode,
  {
    base = bases[code] ?? problemSchema,
    id = pascalCase(code),
    remedy = referenceTexts.en.explanations[code][1],
  } = {},
) {
  const { status, title } = problems[code];
  const schema = z.extend(base, { type: z.literal(problemType(code)), status: z.literal(status) });
  z.globalRegistry.add(schema, { id, description: `${title}. ${remedy}` });
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
