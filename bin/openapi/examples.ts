import type { LookupAnswer, ValidationAnswer } from '../../lambdas/shared/contract.ts';

type LookupExample = {
  summary: string;
  query: { postcode: string; huisnummer: number; toevoeging?: string };
  answer: LookupAnswer;
};

/** Lookups with their answers on the demo data. The example of a parameter belongs to the answer of the same name. */
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
    summary: 'Not found, but with other toevoegingen (a test address)',
    query: { postcode: '9999SD', huisnummer: 2, toevoeging: 'c' },
    answer: {
      status: 'not_found',
      request: { postcode: '9999SD', huisnummer: 2, toevoeging: 'c' },
      address: null,
      candidates: [],
      toevoegingen: ['A', 'B'],
    },
  },
  ambiguous: {
    summary: 'Several places (a test address)',
    query: { postcode: '9999SD', huisnummer: 3 },
    answer: {
      status: 'ambiguous',
      request: { postcode: '9999SD', huisnummer: 3, toevoeging: null },
      address: null,
      candidates: [
        { straat: 'Teststraat', woonplaats: 'Testdorp' },
        { straat: 'Teststraat', woonplaats: 'Teststad' },
      ],
    },
  },
};

/** A key with a limit by minute and by day, and none by month. */
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
