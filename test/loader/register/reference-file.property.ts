import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  dayOf,
  noEind,
  type OpenbareRuimte,
  type Span,
  type Woonplaats,
} from '../../../loader/bag/voorkomen.ts';
import {
  occurrencesIn,
  ReferenceWriter,
  referenceAt,
  referenceOn,
  unpackReference,
} from '../../../loader/register/reference-file.ts';
import { checkedJson, UnknownFormError } from '../../../loader/register/stored-form.ts';

const digits = (count: number) => fc.stringMatching(new RegExp(`^[0-9]{${count}}$`));
/** All but what the reader calls a problem. */
const naam = fc
  .oneof(
    fc.constantFrom('’s-Gravelandseweg', "'t Nauwe Steegje", 'a\tb', '\u{1D538}'),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )
  .map((name) => name.replace(/[\n\r\u2028\u2029]/g, ' '));
/** Neighbours, as in the register, and any others. */
const streetId = fc.oneof(
  fc.nat(300).map((number) => `04573000000${String(number).padStart(5, '0')}`),
  digits(16),
);
const peildatum = '2026-01-08';
const span: fc.Arbitrary<Span> = fc.record({
  begin: fc.constantFrom(0, 101, 10101, 9991231, 19991231, 20100929, 20101001, 20260108, 20260109),
  eind: fc.constantFrom(noEind, noEind, 10102, 20260108, 20260109),
  volgnummer: fc.integer({ min: 1, max: 3 }),
});
const street: fc.Arbitrary<OpenbareRuimte & { span: Span }> = fc.record({
  identificatie: streetId,
  span,
  woonplaats: digits(4),
  naam,
});
const place: fc.Arbitrary<Woonplaats & { span: Span }> = fc.record({
  identificatie: digits(4),
  span,
  naam,
});

/**
 * Of each object the current occurrence that began last, as it is found; and the identification of
 * every other current one.
 */
function current<T extends { identificatie: string; span: Span }>(occurrences: T[]) {
  const day = dayOf(peildatum);
  const sorted = occurrences
    .filter(({ span }) => span.begin <= day && span.eind > day)
    .sort((a, b) => a.span.begin - b.span.begin || a.span.volgnummer - b.span.volgnummer);
  const found = new Map(sorted.map(({ span: _, ...one }) => [one.identificatie, one]));
  const others = sorted.filter((one, i) =>
    sorted.slice(i + 1).some((two) => two.identificatie === one.identificatie),
  );
  return { found, others: others.map(({ identificatie }) => identificatie).sort() };
}

describe('the file of streets and places', () => {
  it('treats the same occurrence in two members of an extract as one, without a problem', () => {
    const file = new ReferenceWriter();
    const since = { begin: 20100929, eind: noEind, volgnummer: 1 };
    for (const _ of [1, 2]) {
      file.add({
        kind: 'OPR',
        identificatie: '0457300000000035',
        naam: 'Buitenveer',
        woonplaats: '3631',
        ...since,
      });
      file.add({ kind: 'WPL', identificatie: '3631', naam: 'Weesp', ...since });
    }
    const { severalCurrent, ...memory } = referenceOn(file.file, peildatum);
    expect(severalCurrent).toEqual({ OPR: [], WPL: [], 'GEM-WPL-RELATIE': [] });
    expect(referenceAt(memory).openbareRuimten.get('0457300000000035')).toMatchObject({
      naam: 'Buitenveer',
    });
    expect(memory.places).toEqual([{ identificatie: '3631', naam: 'Weesp' }]);
  });

  it('finds the occurrence of each object that began last, in any order, and names the others', () => {
    const apart = {
      selector: ({ identificatie, span }: { identificatie: string; span: Span }) =>
        `${identificatie} ${span.begin} ${span.volgnummer}`,
    };
    fc.assert(
      fc.property(
        fc.uniqueArray(street, { ...apart, maxLength: 120 }),
        fc.uniqueArray(place, apart),
        fc.array(streetId),
        (streets, places, others) => {
          const file = new ReferenceWriter();
          for (const one of places) file.add({ kind: 'WPL', ...one, ...one.span });
          for (const one of streets) file.add({ kind: 'OPR', ...one, ...one.span });
          const { severalCurrent, ...memory } = referenceOn(file.file, peildatum);
          // As another thread gets it.
          const { openbareRuimten, woonplaatsen } = referenceAt(structuredClone(memory));
          const expected = { streets: current(streets), places: current(places) };
          const ids = [...streets.map(({ identificatie }) => identificatie), ...others];
          for (const id of ids) {
            expect(openbareRuimten.get(id)).toEqual(expected.streets.found.get(id));
          }
          for (const [id, one] of expected.places.found) expect(woonplaatsen.get(id)).toEqual(one);
          expect(severalCurrent.OPR.toSorted()).toEqual(expected.streets.others);
          expect(severalCurrent.WPL.toSorted()).toEqual(expected.places.others);
        },
      ),
    );
  });

  it('finds the same one of several that begin on one day, in any order', () => {
    fc.assert(
      fc.property(
        fc.array(street, { minLength: 2, maxLength: 5 }),
        fc.array(place, { minLength: 2 }),
        (streets, places) => {
          const identificatie = '0457300000000035';
          const id = '3631';
          const all = { begin: 20100929, eind: noEind, volgnummer: 1 };
          const lookUp = (turned: boolean) => {
            const file = new ReferenceWriter();
            for (const one of turned ? places.toReversed() : places) {
              file.add({ kind: 'WPL', ...one, ...all, identificatie: id });
            }
            for (const one of turned ? streets.toReversed() : streets) {
              file.add({ kind: 'OPR', ...one, ...all, identificatie });
            }
            const { openbareRuimten, woonplaatsen } = referenceAt(
              referenceOn(file.file, peildatum),
            );
            return [openbareRuimten.get(identificatie), woonplaatsen.get(id)];
          };
          expect(lookUp(false)).toEqual(lookUp(true));
        },
      ),
    );
  });

  it('reads every field of every occurrence back as it was written', () => {
    const anySpan: fc.Arbitrary<Span> = fc.record({
      begin: fc.nat(noEind),
      eind: fc.nat(noEind),
      volgnummer: fc.integer({ min: 1, max: 99_999 }),
    });
    const streets = fc.array(fc.tuple(street, anySpan));
    const places = fc.uniqueArray(fc.tuple(place, anySpan), {
      selector: ([{ identificatie }]) => identificatie,
    });
    fc.assert(
      fc.property(streets, places, (streets, places) => {
        const file = new ReferenceWriter();
        for (const [one, span] of streets) file.add({ kind: 'OPR', ...one, ...span });
        for (const [one, span] of places) file.add({ kind: 'WPL', ...one, ...span });
        const written = places.map(([{ span: _, ...one }, span]) => ({
          kind: 'WPL',
          ...one,
          ...span,
        }));
        expect(occurrencesIn(unpackReference(file.pack()))).toEqual([
          ...streets.map(([{ span: _, ...one }, span]) => ({ kind: 'OPR', ...one, ...span })),
          ...written.sort((a, b) => (a.identificatie < b.identificatie ? -1 : 1)),
        ]);
      }),
    );
  });

  it('refuses a value that would move the fields after it', () => {
    const file = new ReferenceWriter();
    const place = { identificatie: '3631', naam: 'Weesp' };
    const since = { begin: 10101, eind: noEind, volgnummer: 1 };
    const wrong = [
      [{ ...place, identificatie: '363' }, since],
      [place, { ...since, begin: 100_000_000 }],
      [place, { ...since, begin: -1 }],
      [place, { ...since, volgnummer: 100_000 }],
    ] as const;
    for (const [one, span] of wrong) {
      expect(() => file.add({ kind: 'WPL', ...one, ...span })).toThrow("A stored line can't hold");
    }
  });

  it('is refused in a form that this version does not read', () => {
    const header = checkedJson({ form: 'reference 2' });
    const length = Buffer.alloc(4);
    length.writeUInt32LE(header.length);
    expect(() => unpackReference(Buffer.concat([length, header]))).toThrow(UnknownFormError);
  });

  it('keeps which objects do not exist', () => {
    const file = new ReferenceWriter();
    file.addProblems([{ kind: 'invalid_value', file: 'a.xml', identificatie: '35' }]);
    const { problems } = unpackReference(file.pack());
    expect(problems).toMatchObject({ invalid_value: { count: 1 }, no_postcode: { count: 0 } });
  });

  it('is refused when a byte of it was damaged', () => {
    const file = new ReferenceWriter();
    const all = { begin: 20100929, eind: noEind, volgnummer: 1 };
    file.add({
      kind: 'OPR',
      identificatie: '0457300000000035',
      naam: 'Buitenveer',
      woonplaats: '3631',
      ...all,
    });
    const packed = file.pack();
    packed.writeUInt8(packed.readUInt8(packed.length - 2) ^ 1, packed.length - 2);
    expect(() => unpackReference(packed)).toThrow();
  });
});
