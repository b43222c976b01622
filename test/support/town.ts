import type { NumStand, Voorkomens } from '../../local/demo/stand-xml.ts';

const begin = '2010-01-01';
const special = ['Henriëtte Roland Holsthof', 'Jozef Israëlsstraat', 'Mr.J.C.Bührmannlaan', 'Willem de Mérodestraat'];

const id = (type: string, index: number) => `0457${type}${String(index + 1).padStart(10, '0')}`;

const letter = (index: number) => String.fromCharCode(65 + index);

/** The postcode of the next 60 addresses. */
const postcodeOf = (street: number, block: number) => {
  const letters = [Math.floor(street / 20), (street % 20) + block].map(letter);
  return `13${82 - (street % 2)}${letters.join('')}`;
};

/**
 * A town of the size of Weesp: 11,849 addresses on 270 streets, one of them with 411. A tenth have a huisletter, and
 * 3 % a toevoeging as well.
 */
export function townOfWeesp(): Voorkomens {
  const OPR = Array.from({ length: 270 }, (_, i) => ({
    identificatie: id('30', i),
    naam: special[i - 1] ?? `Straat ${i + 1}`,
    woonplaats: '1012',
    begin,
  }));
  const NUM: NumStand[] = [];
  for (const [street, { identificatie: openbareRuimte }] of OPR.entries()) {
    for (let i = 0; i < (street === 0 ? 411 : 19 + ((street * 37) % 48)); i++) {
      const number = { huisnummer: 1 + i, ...(i % 10 === 9 && { huisnummer: i, huisletter: 'A' }) };
      NUM.push({
        identificatie: id('20', NUM.length),
        ...number,
        ...(i % 30 === 29 && { huisnummertoevoeging: '1' }),
        postcode: postcodeOf(street, Math.floor(i / 60)),
        openbareRuimte,
        begin,
      });
    }
  }
  return {
    NUM,
    OPR,
    WPL: [{ identificatie: '1012', naam: 'Weesp', begin }],
    relaties: [{ woonplaats: '1012', gemeente: '0457', begin }],
  };
}

/** The state without the occurrences, or with others in their place. */
export type Change = (state: Voorkomens) => Voorkomens;

export const nums =
  (change: (num: NumStand, index: number) => Partial<NumStand> | null): Change =>
  (state) => ({
    ...state,
    NUM: state.NUM.flatMap((num, index) => {
      const changed = change(num, index);
      return changed ? [{ ...num, ...changed }] : [];
    }),
  });

/** With other names of streets; one that has none stays. */
export const streets =
  (name: (naam: string, index: number) => string): Change =>
  (state) => ({ ...state, OPR: state.OPR.map((street, i) => ({ ...street, naam: name(street.naam, i) })) });

/** What goes wrong with a register of any size. */
export const wrongs = {
  withoutToevoegingen: nums(() => ({ huisnummertoevoeging: undefined })),
  withoutHuisletters: nums(() => ({ huisletter: undefined })),
  withHigherNumbers: nums(({ huisnummer }, i) => (i % 20 === 0 ? { huisnummer: huisnummer + 1000 } : {})),
  withoutFirstDigit: nums(({ huisnummer }) =>
    huisnummer > 9 ? { huisnummer: Number(`${huisnummer}`.slice(1)) || 1 } : {},
  ),
  withPostcodesOfElsewhere: nums((_, i) => (i % 25 === 0 ? { postcode: '9999ZZ' } : {})),
  withOtherIds: nums((num) => ({ identificatie: `${num.identificatie.slice(0, 6)}9${num.identificatie.slice(7)}` })),
  inAnotherWoonplaats: nums((_, i) => (i % 3 === 0 ? { woonplaats: '1013' } : {})),
  withoutGemeente: ((state) => ({ ...state, relaties: [] })) satisfies Change,
  encodedTwice: streets((naam) => Buffer.from(naam).toString('latin1')),
  withQuestionMarks: streets((naam) => naam.replace(/[^ -~]/g, '?')),
  withoutAccents: streets((naam) => naam.normalize('NFD').replace(/\p{M}/gu, '')),
  calledXxxx: streets((naam, i) => (i >= 100 && i < 204 ? 'XXXX' : naam)),
};

/** `count` more addresses on a new street for each 100. */
export const quarter =
  (count: number, naam = 'Nieuwe straat'): Change =>
  (state) => {
    const OPR = Array.from({ length: Math.ceil(count / 100) }, (_, i) => ({
      ...{ identificatie: id('30', 1_000 + i), naam: `${naam} ${i + 1}`, woonplaats: '1012', begin },
    }));
    const NUM = Array.from({ length: count }, (_, i) => ({
      ...{ identificatie: id('20', 50_000 + i), huisnummer: 1 + (i % 100), begin },
      ...{
        postcode: `1383${letter(Math.floor(i / 2_000))}${letter(Math.floor(i / 100) % 20)}`,
        openbareRuimte: id('30', 1_000 + Math.floor(i / 100)),
      },
    }));
    return { ...state, NUM: [...state.NUM, ...NUM], OPR: [...state.OPR, ...OPR] };
  };
