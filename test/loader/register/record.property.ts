import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { adresObjectText, gebruiksdoelen, objectStatuses } from '../../../core/adres-object.ts';
import {
  type AdresseerbaarVoorkomen,
  type NumVoorkomen,
  noEind,
} from '../../../loader/bag/voorkomen.ts';
import { nameLayout } from '../../../loader/register/layouts.ts';
import {
  addressesOf,
  distinctObjects,
  occurrenceLine,
  parseRecord,
  recordBytes,
  recordOf,
  recordsWith,
  writeObjectRows,
} from '../../../loader/register/record.ts';
import { GrowingBytes } from '../../../loader/register/stored-form.ts';

const id = fc.stringMatching(/^\d{16}$/);
const span = {
  volgnummer: fc.integer({ min: 0, max: 99_999 }),
  begin: fc.constantFrom(0, 1, 9_990_101, 20_100_929),
  eind: fc.constantFrom(20_300_101, noEind),
};

/** Occurrences as the reader accepts them. */
const num: fc.Arbitrary<NumVoorkomen> = fc.record({
  ...span,
  kind: fc.constant('NUM' as const),
  identificatie: id,
  postcode: fc.constantFrom('1381AA', '9999ZZ', null),
  huisnummer: fc.integer({ min: 1, max: 99_999 }),
  huisletter: fc.constantFrom('', 'a', 'Z'),
  huisnummertoevoeging: fc.constantFrom('', 'bis', '01R', '1234'),
  openbareRuimte: id,
  woonplaats: fc.constantFrom('1050', null),
});
const coordinate = fc.integer({ min: 0, max: 62_500_000 }).map((centimetres) => centimetres / 100);
const common = {
  ...span,
  identificatie: id,
  hoofdadres: id,
  nevenadressen: fc.uniqueArray(id, { maxLength: 3 }).map((all) => all.sort()),
  locatie: fc.record({ x: coordinate, y: coordinate }),
};
const status = (isOfPlaats: boolean) =>
  fc.constantFrom(
    ...Object.values(objectStatuses).filter((one) => one.startsWith('Plaats') === isOfPlaats),
  );
const object: fc.Arbitrary<AdresseerbaarVoorkomen> = fc.oneof(
  fc.record({
    ...common,
    kind: fc.constant('VBO' as const),
    type: fc.constant('verblijfsobject' as const),
    status: status(false),
    oppervlakte: fc.integer({ min: 1, max: 999_999 }),
    gebruiksdoelen: fc
      .uniqueArray(fc.constantFrom(...Object.values(gebruiksdoelen), 'iets anders'), {
        minLength: 1,
      })
      .map((all) => all.sort()),
  }),
  fc.record({
    ...common,
    kind: fc.constant('LIG' as const),
    type: fc.constant('ligplaats' as const),
    status: status(true),
  }),
);

const inUpperCase = ({ huisletter, huisnummertoevoeging, ...one }: NumVoorkomen): NumVoorkomen => ({
  ...one,
  huisletter: '',
  huisnummertoevoeging: (huisletter + huisnummertoevoeging).toUpperCase(),
});

describe('a record', () => {
  it('is read back as its occurrences, with the toevoeging joined and in upper case', () => {
    fc.assert(
      fc.property(fc.oneof(fc.array(num), fc.array(object)), (all) => {
        const [first] = all;
        if (!first) return;
        const ofOne = all
          .filter(({ kind }) => kind === first.kind)
          .map((one) => ({ ...one, identificatie: first.identificatie }));
        const expected = ofOne.map((one) => (one.kind === 'NUM' ? inUpperCase(one) : one));
        const record = recordOf(first.kind, first.identificatie, ofOne);
        if (ofOne.length === 1) expect(occurrenceLine(first)).toBe(`${record}\n`);
        const read = parseRecord(record);
        const order = (one: object) => JSON.stringify(one);
        const inOrder = (list: readonly (NumVoorkomen | AdresseerbaarVoorkomen)[]) =>
          list.map(({ kind, identificatie, volgnummer, begin, eind, ...rest }) => ({
            kind,
            identificatie,
            volgnummer,
            begin,
            eind,
            ...Object.fromEntries(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1))),
          }));
        expect(inOrder(read).map(order).sort()).toEqual(inOrder(expected).map(order).sort());
      }),
    );
  });

  it('is found by any text in it', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(num, { selector: ({ identificatie }) => identificatie }),
        (nums) => {
          const records = nums.map((one) => recordOf('NUM', one.identificatie, [one]));
          const bytes = Buffer.from(records.map((record) => `${record}\n`).join(''), 'latin1');
          for (const record of records) {
            expect(recordsWith(bytes, record.slice(0, nameLayout.length))).toEqual([record]);
            const text = record.slice(-4);
            expect(recordsWith(bytes, text)).toEqual(records.filter((one) => one.includes(text)));
          }
        },
      ),
    );
  });
});

describe('an occurrence of an object', () => {
  it('sends the text of a place to each nummeraanduiding that it names, which says whether it is the hoofdadres', () => {
    fc.assert(
      fc.property(object, (one) => {
        const record = recordOf(one.kind, one.identificatie, [one]);
        const lines = new GrowingBytes();
        const found = { start: 0, at: nameLayout.length + 1, end: record.length };
        writeObjectRows(recordBytes(Buffer.from(`${record}\n`, 'latin1')), found, () => lines);
        const expected = addressesOf(one).map(
          (address, i) => `${address}${adresObjectText({ ...one, hoofdadres: i === 0 })}\n`,
        );
        expect(lines.bytes.toString('latin1')).toBe(expected.join(''));
      }),
    );
  });

  it('is one text of an address that it names twice, of the hoofdadres', () => {
    const text = (isHoofdadres: boolean, n: number) =>
      `045701000000000${n}Vg${Number(isHoofdadres)},1,2,85,w`;
    expect(distinctObjects([text(true, 2), text(false, 1), text(false, 2), text(true, 1)])).toEqual(
      [text(true, 1), text(true, 2)],
    );
  });
});
