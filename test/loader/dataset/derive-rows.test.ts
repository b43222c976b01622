import { describe, expect, it } from '@jest/globals';
import type { NumVoorkomen } from '../../../loader/bag/voorkomen.ts';
import { type Reference, toPlace } from '../../../loader/dataset/derive-rows.ts';
import { keyOf } from '../../../loader/dataset/lines.ts';
import { indexOfLines, mayHave, namedObjects } from '../../../loader/dataset/named-objects.ts';
import { objectLines } from '../../../loader/dataset/objects.ts';
import { bytesOf } from '../../../loader/dataset/stored-form.ts';
import { deriveLines } from '../../support/derive-lines.ts';

const reference: Reference = {
  openbareRuimten: new Map([
    ['0457300000000035', { identificatie: '0457300000000035', naam: 'Buitenveer', woonplaats: '3631' }],
    ['0457300000000036', { identificatie: '0457300000000036', naam: 'Nergensweg', woonplaats: '9998' }],
  ]),
  woonplaatsen: new Map([
    ['3631', { identificatie: '3631', naam: 'Weesp' }],
    ['1050', { identificatie: '1050', naam: 'Amstelveen' }],
  ]),
};

const num = { openbareRuimte: '0457300000000035', woonplaats: null };

const occurrence = (changes: Partial<NumVoorkomen>): NumVoorkomen => ({
  kind: 'NUM',
  identificatie: '0457200000000001',
  volgnummer: 1,
  begin: 20_100_101,
  eind: 99_999_999,
  postcode: '1381AA',
  huisnummer: 1,
  huisletter: '',
  huisnummertoevoeging: '',
  ...num,
  ...changes,
});

describe('the street and place of a nummeraanduiding', () => {
  it("are its street, and its street's place", () => {
    expect(toPlace(num, reference)).toMatchObject({ straat: 'Buitenveer', woonplaats: 'Weesp' });
  });

  it('are its own place if it has one, even if the place of its street is missing', () => {
    expect(toPlace({ ...num, woonplaats: '1050' }, reference)).toMatchObject({ woonplaats: 'Amstelveen' });
    const inMissing = { openbareRuimte: '0457300000000036', woonplaats: '1050' };
    expect(toPlace(inMissing, reference)).toMatchObject({ straat: 'Nergensweg', woonplaats: 'Amstelveen' });
  });

  it.each([
    ['a street that is not there', { openbareRuimte: '1' }, { kind: 'street_missing', detail: '1' }],
    ['a place that is not there', { woonplaats: '9999' }, { kind: 'place_missing', detail: '9999' }],
    [
      'a street in a place that is not there',
      { openbareRuimte: '0457300000000036' },
      { kind: 'place_missing', detail: '9998' },
    ],
  ])('are a problem with %s, never invented', (_, change, problem) => {
    expect(toPlace({ ...num, ...change }, reference)).toEqual(problem);
  });
});

describe('two addresses side by side', () => {
  const neighbour = (huisnummer: number, changes: Partial<NumVoorkomen>) =>
    occurrence({ identificatie: `045720000000000${huisnummer}`, huisnummer, ...changes });
  const street = num.openbareRuimte;
  const digitChanged = Array.from(street, (digit, at) => [
    `${street.slice(0, at)}${(Number(digit) + 1) % 10}${street.slice(at + 1)}`,
  ]);

  it.each(digitChanged)('each have their own street: %s', (other) => {
    const names = new Map([street, other].map((id) => [id, { identificatie: id, naam: id, woonplaats: '3631' }]));
    const by = { reference: { ...reference, openbareRuimten: names }, peildatum: '2026-01-08', file: 'file' };
    const objects = [neighbour(1, {}), neighbour(2, { openbareRuimte: other })];
    const lines = objects.flatMap((one) => objectLines([one], '2026-01-08').get('138') ?? []);
    const { lines: derived } = deriveLines(lines, by, () => undefined);
    expect(derived.map((line) => line.split('\t')[2])).toEqual([street, other]);
    const named = namedObjects('reference', new Set([other]));
    expect(mayHave(indexOfLines(bytesOf(lines)), named)).toBe(true);
  });

  it('each have their own place', () => {
    const by = { reference, peildatum: '2026-01-08', file: 'file' };
    const objects = [neighbour(1, {}), neighbour(2, { woonplaats: '1050' }), neighbour(3, { woonplaats: '3631' })];
    const lines = objects.flatMap((one) => objectLines([one], '2026-01-08').get('138') ?? []);
    const { lines: derived } = deriveLines(lines, by, () => undefined);
    expect(derived.map((line) => line.split('\t')[3])).toEqual(['Weesp', 'Amstelveen', 'Weesp']);
  });
});

describe('two occurrences of a nummeraanduiding that begin on one day under one number', () => {
  it('give one address and one problem, also where they have postcodes of two parts', () => {
    const problems: string[] = [];
    const parts = objectLines([occurrence({}), occurrence({ postcode: '9999ZZ' })], '2026-01-08');
    const by = { reference, peildatum: '2026-01-08', file: 'file' };
    const keys = [...parts.values()].flatMap((lines) =>
      deriveLines(lines.toSorted(), by, ({ kind }) => problems.push(kind)).lines.map(keyOf),
    );
    expect([...parts.keys()]).toEqual(['138', '999']);
    expect(keys).toEqual(['9999ZZ#1#']);
    expect(problems).toEqual(['several_current']);
  });
});
