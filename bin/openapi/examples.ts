import type { LookupAnswer, ValidationAnswer } from '../../lambdas/shared/contract.ts';

type LookupExample = {
  summary: string;
  query: { postcode: string; huisnummer: number; toevoeging?: string };
  answer: LookupAnswer;
};

/** Lookups with their answers on the demo data; a parameter's example belongs to the answer's example of that name. */
export const lookupExamples: Record<string, LookupExample> = {
  found: {
    summary: 'One address',
    query: { postcode: '1012RJ', huisnummer: 147 },
    answer: {
      status: 'ok',
      request: { postcode: '1012RJ', huisnummer: 147, toevoeging: null },
      address: { straat: 'Nieuwezijds Voorburgwal', woonplaats: 'Amsterdam' },
      candidates: [],
    },
  },
  found_with_toevoeging: {
    summary: 'With a toevoeging',
    query: { postcode: '1381 de', huisnummer: 30, toevoeging: 'A 100' },
    answer: {
      status: 'ok',
      request: { postcode: '1381DE', huisnummer: 30, toevoeging: 'A100' },
      address: { straat: 'Hugo de Grootlaan', woonplaats: 'Weesp' },
      candidates: [],
    },
  },
  not_found: {
    summary: 'No such address',
    query: { postcode: '1381DE', huisnummer: 30, toevoeging: 'a' },
    answer: {
      status: 'not_found',
      request: { postcode: '1381DE', huisnummer: 30, toevoeging: 'a' },
      address: null,
      candidates: [],
    },
  },
  ambiguous: {
    summary: 'Several places (made up)',
    query: { postcode: '9999ZZ', huisnummer: 1 },
    answer: {
      status: 'ambiguous',
      request: { postcode: '9999ZZ', huisnummer: 1, toevoeging: null },
      address: null,
      candidates: [
        { straat: 'Kerkstraat', woonplaats: 'Amsterdam' },
        { straat: 'Dorpsstraat', woonplaats: 'Utrecht' },
      ],
    },
  },
};

/** A key with a limit for each day and none for a month. */
export const validationExample: ValidationAnswer = {
  valid: true,
  key_label: 'webshop',
  plan_code: 'standard',
  limits: { minute: 60, day: 5000, month: null },
};

/** The `examples` of one parameter of the lookup, by the names of `lookupExamples`. */
export function parameterExamples(parameter: keyof LookupExample['query']) {
  const given = Object.entries(lookupExamples).filter(([, { query }]) => query[parameter] !== undefined);
  return Object.fromEntries(given.map(([name, { summary, query }]) => [name, { summary, value: query[parameter] }]));
}

export const exampleRequestId = 'JKJaXmPLvHcESHA=';
