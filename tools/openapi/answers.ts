import * as z from 'zod/mini';
import type { ZodOpenApiResponseObject } from 'zod-openapi';
import { maxToevoegingen } from '../../core/addresses/address-item.ts';
import {
  addressRequestSchema,
  adresObjectSchema,
  ambiguousSchema,
  foundSchema,
  gemeenteSchema,
  type LookupAnswer,
  limitsSchema,
  locatieSchema,
  lookupAnswerSchema,
  notFoundSchema,
  placeSchema,
  type ValidationAnswer,
  validationAnswerSchema,
} from '../../core/contract.ts';
import type { IncludeName } from '../../core/place-fields.ts';
import { headersOf, nameSchema } from './responses.ts';

type LookupExample = {
  summary: string;
  query: { postcode: string; huisnummer: number; toevoeging?: string; include?: IncludeName[] };
  answer: LookupAnswer;
};

const of9999SD = (huisnummer: number) => ({ postcode: '9999SD', huisnummer });
const of9999SD2 = (toevoeging: string) => ({ ...of9999SD(2), toevoeging });
const inTestdorp = { straat: 'Teststraat', woonplaats: 'Testdorp' };
const none = { toevoeging: null };
type Found = Extract<LookupAnswer, { status: 'ok' }>;
const found = (request: Found['request'], address: Found['address']): Found => {
  return { status: 'ok', request, address, candidates: [] };
};

/**
 * Lookups of test addresses with their answers, which are the same in every deployment. The example
 * of a parameter belongs to the answer of the same name.
 */
export const lookupExamples: Record<string, LookupExample> = {
  found: {
    summary: 'One address',
    query: of9999SD(1),
    answer: found({ ...of9999SD(1), ...none }, inTestdorp),
  },
  found_with_toevoeging: {
    summary: 'With a toevoeging',
    query: { postcode: '9999 sd', huisnummer: 2, toevoeging: 'b' },
    answer: found(of9999SD2('b'), inTestdorp),
  },
  not_found: {
    summary: 'Not found, but with other toevoegingen',
    query: of9999SD2('c'),
    answer: {
      status: 'not_found',
      request: of9999SD2('c'),
      address: null,
      candidates: [],
      toevoegingen: ['A', 'B'],
    },
  },
  included: {
    summary: 'With the toevoegingen that exist, and BAG ids',
    query: { ...of9999SD2('a'), include: ['toevoegingen', 'nummeraanduidingen'] },
    answer: {
      ...found(of9999SD2('a'), { ...inTestdorp, nummeraanduidingen: ['9999200000000021'] }),
      toevoegingen: ['A', 'B'],
    },
  },
  with_gemeente: {
    summary: 'With the gemeente',
    query: { ...of9999SD(1), include: ['gemeente'] },
    answer: found(
      { ...of9999SD(1), ...none },
      { ...inTestdorp, gemeente: { code: '9999', naam: null, provincie: null } },
    ),
  },
  ambiguous: {
    summary: 'Several places',
    query: of9999SD(3),
    answer: {
      status: 'ambiguous',
      request: { ...of9999SD(3), ...none },
      address: null,
      candidates: [inTestdorp, { straat: 'Teststraat', woonplaats: 'Teststad' }],
    },
  },
};

/** The example of a service that has objects. */
export const objectsExample: Record<string, LookupExample> = {
  objects: {
    summary: 'With the objects',
    query: { ...of9999SD2('a'), include: ['objecten'] },
    answer: found(of9999SD2('a'), {
      ...inTestdorp,
      objecten: [
        {
          identificatie: '9999010000000021',
          type: 'verblijfsobject',
          status: 'Verblijfsobject in gebruik',
          gebruiksdoelen: ['winkelfunctie', 'woonfunctie'],
          oppervlakte: 120,
          hoofdadres: false,
          locatie: { x: 155021, y: 463000, lat: 52.1551723, lon: 5.3875104 },
        },
      ],
    }),
  },
};

function examplesOf(hasObjects: boolean): [string, LookupExample][] {
  return Object.entries({ ...lookupExamples, ...(hasObjects && objectsExample) });
}

/** A key with a limit by minute and by day, and none by month. */
export const validationExample: ValidationAnswer = {
  valid: true,
  key_label: 'webshop',
  plan_code: 'standard',
  limits: { minute: 60, day: 5000, month: null },
};

/** The `examples` of one parameter of the lookup, by the names of `lookupExamples`. */
export function parameterExamples(parameter: keyof LookupExample['query'], hasObjects: boolean) {
  const given = examplesOf(hasObjects).filter(([, { query }]) => query[parameter] !== undefined);
  return Object.fromEntries(
    given.map(([name, { summary, query }]) => [name, { summary, value: query[parameter] }]),
  );
}

nameSchema(addressRequestSchema, 'AddressRequest', 'The input of the lookup, normalised.', {
  postcode: 'Without spaces, in upper case.',
  toevoeging: 'Without spaces, in the letter case that was sent; `null` if none was sent.',
});
nameSchema(gemeenteSchema, 'Gemeente', 'A municipality.', {
  code: 'Its code, four digits: that of CBS and RvIG.',
  naam: 'Its name, or `null` where it is newer than the table of this version.',
  provincie: 'The name of its province, or `null` where its name is.',
});
nameSchema(
  locatieSchema,
  'Locatie',
  'Where an object is: the point that the register has, or the centroid of a ligplaats or standplaats.',
  {
    x: 'Metres to the east, in the national grid (EPSG:28992), as the register has it.',
    y: 'Metres to the north.',
    lat: 'Latitude in ETRS89, in degrees with 7 decimals, within 0.5 m.',
    lon: 'Longitude.',
  },
);
nameSchema(
  adresObjectSchema,
  'AdresObject',
  'A verblijfsobject, ligplaats or standplaats, as the register has it.',
  {
    identificatie: 'The BAG id of the object: 16 digits.',
    status:
      'The status in the words of the register, for instance `Verblijfsobject in gebruik`, or `Verblijfsobject gevormd` for one that ' +
      'is planned. Withdrawn objects are not listed.',
    gebruiksdoelen: 'Only of a verblijfsobject: for instance `woonfunctie`, sorted.',
    oppervlakte: 'Only of a verblijfsobject: its surface in square metres.',
    hoofdadres: 'Whether the address is the main one of the object; `false` for a nevenadres.',
  },
);
nameSchema(placeSchema, 'Place', 'A street and its town, as the register writes them.', {
  straat: 'The name of the street (openbare ruimte).',
  woonplaats:
    "The name of the town, for instance `Amsterdam`. The register writes `'s-Gravenhage` for Den Haag.",
  gemeente:
    'Only with `include=gemeente`. The municipality that the town belongs to on the date of `Dataset-Date`; `null` where the register relates it ' +
    'to none.',
  objecten:
    'Only with `include=objecten`. The objects that have this address, sorted by identificatie. Several for an address of a building and ' +
    'its planned replacement, for instance; empty for one without any.',
  nummeraanduidingen:
    'Only with `include=nummeraanduidingen`. The identificaties of the nummeraanduidingen that are this address, 16 digits each, ' +
    'sorted. Several if it is registered more than once, such as a building and its planned replacement.',
});
const toevoegingen =
  'The toevoegingen that exist at this postcode and huisnummer, in upper case and sorted; `null` is the address without a ' +
  `toevoeging. Empty if there are none. At most ${maxToevoegingen}: a list of that length may be incomplete.`;
nameSchema(
  foundSchema,
  'AddressFound',
  'The register has exactly one street and town for the input.',
  {
    candidates: 'Empty.',
    toevoegingen: `Only with \`include=toevoegingen\`. ${toevoegingen}`,
  },
);
nameSchema(
  notFoundSchema,
  'AddressNotFound',
  'The register has no such address. This is not an error.',
  {
    candidates: 'Empty.',
    toevoegingen,
  },
);
nameSchema(
  ambiguousSchema,
  'AddressAmbiguous',
  'The register has several streets or towns for the input.',
  {
    candidates: 'Each combination of street and town once, sorted by woonplaats, then straat.',
    toevoegingen: `Only with \`include=toevoegingen\`. ${toevoegingen}`,
  },
);
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
  valid: 'Any other key gets 401 or 403.',
  key_label:
    'The label that the key was created with. It may contain personal data: do not log it.',
  plan_code: 'The plan of the account. It promises no price.',
  key_limit_per_day:
    'The most lookups with this key in a UTC day, if it has a limit of its own in addition to `limits`; 0 allows no requests.',
});

/** The 200 of a lookup. */
export function lookupResponse(hasObjects: boolean): ZodOpenApiResponseObject {
  return {
    description: 'The outcome of the lookup.',
    headers: headersOf('Dataset-Date', 'RateLimit-Policy', 'RateLimit'),
    content: {
      'application/json': {
        schema: lookupAnswerSchema,
        examples: Object.fromEntries(
          examplesOf(hasObjects).map(([name, { summary, answer }]) => [
            name,
            { summary, value: answer },
          ]),
        ),
      },
    },
  };
}

/** The 200 of a validation. */
export const validationAnswer: ZodOpenApiResponseObject = {
  description: 'The key is valid.',
  headers: headersOf('RateLimit-Policy', 'RateLimit'),
  content: {
    'application/json': {
      schema: validationAnswerSchema,
      examples: { valid: { summary: 'A key with two limits', value: validationExample } },
    },
  },
};
