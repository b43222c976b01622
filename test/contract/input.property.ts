import { describe, expect, it } from '@jest/globals';
import { Ajv2020 } from 'ajv/dist/2020.js';
import fc from 'fast-check';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import { readBatchInput } from '../../core/addresses/batch-input.ts';
import { createOpenApiDocument } from '../../tools/openapi/reference.ts';
import { anyCharacter } from '../support/any-character.ts';
import { isFullSweep } from '../support/sweep.ts';

type Parameter = { name: string; required?: boolean; schema: { type: string } };

const document = JSON.parse(JSON.stringify(createOpenApiDocument()));
const parameters: Parameter[] = document.paths['/address'].get.parameters;
const numRuns = isFullSweep ? 3000 : 150;

const ajv = new Ajv2020({ strict: false });
ajv.addSchema(document, 'openapi');
const isBody = ajv.getSchema(
  'openapi#/paths/~1addresses/post/requestBody/content/application~1json/schema',
) as (body: unknown) => boolean;
const isParameter = parameters.map(({ schema }) => ajv.compile(schema));

/**
 * Whether the document describes a query: each of its parameters at most once and no other, by its
 * schema. An integer is digits, of which the description allows five; a list has commas.
 */
function isQuery(query: [name: string, value: string][]): boolean {
  const isKnown = query.every(([name]) => parameters.some((one) => one.name === name));
  if (!isKnown || new Set(query.map(([name]) => name)).size < query.length) return false;
  return parameters.every(({ name, required, schema }, i) => {
    const text = query.find(([sent]) => sent === name)?.[1];
    if (text === undefined) return !required;
    const integer = /^[0-9]{1,5}$/.test(text) ? Number(text) : text;
    const value =
      schema.type === 'integer' ? integer : schema.type === 'array' ? text.split(',') : text;
    return isParameter[i]?.(value);
  });
}

const postcode = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^ ?[1-9]\d{3} ?[a-zA-Z]{2} ?$/) },
  fc.string({
    unit: fc.constantFrom(' ', '0', '1', '9', 'a', 'Z', 'ß', 'ſ', '-', '\t', '\u00a0'),
    maxLength: 9,
  }),
);
const huisnummer = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: -2, max: 100_001 }).map(String) },
  fc.stringMatching(/^0{0,4}\d{1,5}$/),
  fc.constantFrom('', '0', '00000', '+1', '1.0', ' 1', '1e3', '12A', '00012', '000147'),
);
const toevoeging = fc.oneof(
  { weight: 4, arbitrary: fc.stringMatching(/^[ a-zA-Z0-9]{0,6}$/) },
  fc.constantFrom('', ' ', 'A-2', 'bis', 'tweehoog'),
  fc.string({ unit: anyCharacter, maxLength: 6 }),
);
const names = fc.array(
  fc.constantFrom('toevoegingen', 'nummeraanduidingen', 'toevoegingen', 'x', ''),
  {
    maxLength: 3,
  },
);
const unknown = fc.constantFrom(
  'toevoeg',
  'huisletter',
  'Postcode',
  'utm_source',
  '__proto__',
  'constructor',
  '',
);

const query = fc
  .tuple(
    fc.record(
      { postcode, huisnummer, toevoeging, include: names.map((some) => some.join(',')) },
      { requiredKeys: ['postcode', 'huisnummer'] },
    ),
    fc.oneof(
      { weight: 4, arbitrary: fc.constant([]) },
      fc.array(
        fc.tuple(fc.oneof(unknown, fc.constantFrom('huisnummer', 'toevoeging')), toevoeging),
        { maxLength: 1 },
      ),
    ),
  )
  .map(([record, more]): [string, string][] => [...Object.entries(record), ...more]);

const odd = fc.oneof(
  fc.constantFrom<unknown>(null, true, 1.5, -0, 1e21, [], {}),
  fc.jsonValue({ maxDepth: 1 }),
);
const often = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.oneof({ weight: 9, arbitrary }, odd);
const maybeMore = (arbitrary: fc.Arbitrary<object>) =>
  fc
    .tuple(
      arbitrary,
      fc.oneof(
        { weight: 9, arbitrary: fc.constant({}) },
        fc.dictionary(unknown, odd, { maxKeys: 1 }),
      ),
    )
    .map(([record, more]) => ({ ...record, ...more }));
const valid = { postcode: '1381 aa', huisnummer: 9 };
const address = fc.oneof(
  fc.constant(valid),
  maybeMore(
    fc.record(
      {
        postcode: often(postcode),
        huisnummer: often(fc.oneof(huisnummer, fc.integer({ min: -2, max: 100_001 }))),
        toevoeging: often(toevoeging),
      },
      { requiredKeys: ['postcode', 'huisnummer'] },
    ),
  ),
);
const count = fc.constantFrom(1, 1, 1, 2, 3, 0, 99, 100, 101);
const addresses = fc
  .tuple(count, address)
  .map(([length, one]) => Array.from({ length }, (_, i) => (i ? valid : one)));
const body = often(
  maybeMore(
    fc.record(
      { addresses: often(addresses), include: often(names) },
      { requiredKeys: ['addresses'], noNullPrototype: true },
    ),
  ),
);

/** Both kinds must occur, or the comparison shows nothing. */
function expectBoth(judged: boolean[]): void {
  expect(judged.filter(Boolean).length).toBeGreaterThan(judged.length / 20);
  expect(judged.filter((isValid) => !isValid).length).toBeGreaterThan(judged.length / 20);
}

describe('the published document', () => {
  it('accepts a query exactly when the service does', () => {
    const judged: boolean[] = [];
    fc.assert(
      fc.property(query, (sent) => {
        const isServed = readAddressInput(String(new URLSearchParams(sent))).request !== null;
        judged.push(isServed);
        expect([sent, isQuery(sent)]).toEqual([sent, isServed]);
      }),
      { numRuns },
    );
    expectBoth(judged);
  });

  it('accepts a body exactly when the service does', () => {
    const judged: boolean[] = [];
    fc.assert(
      fc.property(body, (value) => {
        const text = JSON.stringify(value);
        const input = readBatchInput(text);
        const isServed = input.requests !== null;
        const faults = isServed ? [] : input.faults().faults;
        expect([text, faults.length > 0]).toEqual([text, !isServed]);
        judged.push(isServed);
        expect([text, isBody(JSON.parse(text))]).toEqual([text, isServed]);
      }),
      { numRuns },
    );
    expectBoth(judged);
  });

  it('describes no parameter of the operation that has a body', () => {
    expect(document.paths['/addresses'].post.parameters).toBeUndefined();
    expect(
      readBatchInput(JSON.stringify({ addresses: [valid] }), 'include=toevoegingen').requests,
    ).toBeNull();
  });
});
