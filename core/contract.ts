import * as z from 'zod/mini';
import {
  huisnummerRange,
  longestHuisnummer,
  maxFaults,
  parameterPatterns,
} from './address-form.ts';
import { adresObjectTypes } from './adres-object.ts';
import { forEachWindow, quotaNames } from './calendar.ts';
import {
  type AnsweredValues,
  baseFields,
  type FieldTable,
  includeNames,
  optionalFields,
} from './place-fields.ts';

/** A postcode as typed. */
export const postcodeParameter = z.string().check(z.regex(parameterPatterns.postcode));

/** A house number of the register. */
export const huisnummerSchema = z
  .int()
  .check(z.gte(huisnummerRange.from), z.lte(huisnummerRange.to));

/** A toevoeging as typed, which may be empty. */
export const toevoegingParameter = z.string().check(z.regex(parameterPatterns.toevoeging));

/** The input of a lookup, normalised. */
export const addressRequestSchema = z.object({
  postcode: z.string().check(z.regex(/^[1-9][0-9]{3}[A-Z]{2}$/)),
  huisnummer: huisnummerSchema,
  toevoeging: z.nullable(z.string().check(z.regex(/^[0-9A-Za-z]{1,5}$/))),
});

/** The input of a lookup, normalised; `toevoeging` in the letter case that was sent. */
export type AddressRequest = z.infer<typeof addressRequestSchema>;

/** The members to include: each name once, at least one. */
export const includeSchema = z.array(z.enum(includeNames)).check(
  z.minLength(1),
  z.refine((names) => new Set(names).size === names.length),
);

/** How many addresses one request may have. */
export const maxAddresses = 100;

/** One address of many lookups. */
export const addressToLookUpSchema = z.strictObject({
  postcode: z.clone(postcodeParameter),
  huisnummer: z.union([
    z.clone(huisnummerSchema),
    z.string().check(z.regex(parameterPatterns.huisnummer), z.maxLength(longestHuisnummer)),
  ]),
  toevoeging: z.optional(z.nullable(toevoegingParameter)),
});

/** The body of many lookups. */
export const addressesToLookUpSchema = z.strictObject({
  addresses: z.array(addressToLookUpSchema).check(z.minLength(1), z.maxLength(maxAddresses)),
  include: z.optional(includeSchema),
});

const identificatieSchema = () => z.string().check(z.regex(/^[0-9]{16}$/));

/** The location of an adresseerbaar object. */
export const locatieSchema = z.object({
  x: z.number(),
  y: z.number(),
  lat: z.number(),
  lon: z.number(),
});

/** An adresseerbaar object in a response. */
export const adresObjectSchema = z.object({
  identificatie: identificatieSchema(),
  type: z.enum(adresObjectTypes),
  status: z.string(),
  gebruiksdoelen: z.optional(z.array(z.string())),
  oppervlakte: z.optional(z.int().check(z.gte(1))),
  hoofdadres: z.boolean(),
  locatie: locatieSchema,
});

/** A gemeente with its names. */
export const gemeenteSchema = z.object({
  code: z.string().check(z.regex(/^[0-9]{4}$/)),
  naam: z.nullable(z.string()),
  provincie: z.nullable(z.string()),
});

const fieldSchemas = {
  name: () => z.string(),
  gemeente: () => z.nullable(gemeenteSchema),
  ids: () => z.array(identificatieSchema()).check(z.minLength(1)),
  objects: () => z.array(adresObjectSchema),
};

type FieldSchemas<Some extends FieldTable> = {
  [Name in keyof Some]: z.ZodMiniType<AnsweredValues<Some>[Name]>;
};

function schemasOf<Some extends FieldTable>(fields: Some): FieldSchemas<Some> {
  const schemas = Object.entries(fields).map(([name, { kind }]) => [name, fieldSchemas[kind]()]);
  return Object.fromEntries(schemas) as unknown as FieldSchemas<Some>;
}

/** A place in a response. */
export const placeSchema = z.extend(
  z.object(schemasOf(baseFields)),
  z.partial(z.object(schemasOf(optionalFields))).shape,
);

const toevoegingenSchema = z.array(z.nullable(z.string().check(z.regex(/^[0-9A-Z]{1,5}$/))));

const noCandidates = z.array(placeSchema).check(z.maxLength(0));

export const foundSchema = z.object({
  status: z.literal('ok'),
  request: addressRequestSchema,
  address: placeSchema,
  candidates: noCandidates,
  toevoegingen: z.optional(toevoegingenSchema),
});

export const notFoundSchema = z.object({
  status: z.literal('not_found'),
  request: addressRequestSchema,
  address: z.null(),
  candidates: noCandidates,
  toevoegingen: toevoegingenSchema,
});

export const ambiguousSchema = z.object({
  status: z.literal('ambiguous'),
  request: addressRequestSchema,
  address: z.null(),
  candidates: z.array(placeSchema).check(z.minLength(2)),
  toevoegingen: z.optional(toevoegingenSchema),
});

export const lookupAnswerSchema = z.discriminatedUnion('status', [
  foundSchema,
  notFoundSchema,
  ambiguousSchema,
]);

/** The response to a lookup: one of three outcomes, distinguished by `status`. */
export type LookupAnswer = z.infer<typeof lookupAnswerSchema>;

export const batchAnswerSchema = z.object({
  results: z.array(lookupAnswerSchema).check(z.minLength(1)),
});

/** The response to many lookups: the outcome of each, in the order of the request. */
export type BatchAnswer = z.infer<typeof batchAnswerSchema>;

/** The members of every problem (RFC 9457). */
export const problemSchema = z.object({
  type: z.string(),
  title: z.string(),
  status: z.int(),
  detail: z.string(),
  request_id: z.string(),
});

/** The codes of a 422 to a lookup: one for each kind of fault. */
export const parameterFaultCodes = [
  'missing',
  'duplicate',
  'parameter-unknown',
  'misplaced-key',
  'value-too-long',
  'postcode-character',
  'postcode-leading-zero',
  'postcode-incomplete',
  'postcode-too-long',
  'postcode-form',
  'huisnummer-with-toevoeging',
  'huisnummer-range',
  'huisnummer-space',
  'huisnummer-sign',
  'huisnummer-decimal',
  'huisnummer-zero',
  'huisnummer-too-long',
  'huisnummer-form',
  'toevoeging-character',
  'toevoeging-too-long',
  'include-empty',
  'include-unknown',
  'include-repeated',
  'include-unavailable',
] as const;

export type FaultCode = (typeof parameterFaultCodes)[number];

/** The codes of a 422, of a lookup and of a body with many. */
export const faultCodes = [
  ...parameterFaultCodes,
  'body-form',
  'member-type',
  'unknown-member',
  'addresses-count',
] as const;

export type BodyFaultCode = (typeof faultCodes)[number];

const sentText = z.optional(z.string());

export const suggestionSchema = z.object({
  postcode: sentText,
  huisnummer: sentText,
  toevoeging: sentText,
  include: sentText,
});

/** The parameters to send instead, with their values. */
export type Suggestion = z.infer<typeof suggestionSchema>;

export const inputFaultSchema = z.object({
  parameter: z.string(),
  code: z.enum(parameterFaultCodes),
  detail: z.string(),
  suggestion: z.optional(suggestionSchema),
});

/** One fault of the parameters of a lookup; `code` is stable and documented. */
export type InputFault = z.infer<typeof inputFaultSchema>;

export const bodyFaultSchema = z.object({
  /** A JSON pointer (RFC 6901). */
  pointer: z.string(),
  code: z.enum(faultCodes),
  detail: z.string(),
  suggestion: z.optional(suggestionSchema),
});

/** One fault of the body of many lookups. */
export type BodyFault = z.infer<typeof bodyFaultSchema>;

export const invalidInputSchema = z.extend(problemSchema, {
  errors: z.array(inputFaultSchema).check(z.minLength(1), z.maxLength(maxFaults)),
});

/** A fault of the query of many lookups, which has no parameters, has the name of the parameter. */
export const invalidBodySchema = z.extend(problemSchema, {
  errors: z
    .array(z.union([bodyFaultSchema, inputFaultSchema]))
    .check(z.minLength(1), z.maxLength(maxFaults)),
});

export const quotaExceededSchema = z.extend(problemSchema, {
  violated_windows: z.array(z.enum(quotaNames)).check(z.minLength(1)),
});

/** The faults that a response lists, and whether there are more. */
export type ListedFaults<Fault = InputFault | BodyFault> = { faults: Fault[]; hasMore: boolean };

/** The body of a refusal. */
export type ProblemBody = z.infer<typeof problemSchema> &
  Partial<{ errors: (InputFault | BodyFault)[] } & z.infer<typeof quotaExceededSchema>>;

const limit = z.optional(z.nullable(z.int().check(z.gte(0))));

/** One member for each configured window. `null` is unlimited, 0 admits nothing. */
export const limitsSchema = z.object(forEachWindow(() => limit));

export const validationAnswerSchema = z.object({
  valid: z.literal(true),
  key_label: z.string(),
  plan_code: z.string(),
  limits: limitsSchema,
  key_limit_per_day: z.optional(z.int().check(z.gte(0))),
});

/** The response for a valid key. */
export type ValidationAnswer = z.infer<typeof validationAnswerSchema>;
