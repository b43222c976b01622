import type { NumStand, VboStand, Voorkomens } from './stand-xml.ts';

const begin = '2010-01-01';
const special = [
  'Henriëtte Roland Holsthof',
  'Jozef Israëlsstraat',
  'Mr.J.C.Bührmannlaan',
  'Willem de Mérodestraat',
];

const id = (type: string, index: number) => `0457${type}${String(index + 1).padStart(10, '0')}`;

const letter = (index: number) => String.fromCharCode(65 + index);

/** The postcode of the next 60 addresses. */
const postcodeOf = (street: number, block: number) => {
  const letters = [Math.floor(street / 20), (street % 20) + block].map(letter);
  return `13${82 - (street % 2)}${letters.join('')}`;
};

/**
 * A town of the size of Weesp: 11,849 addresses on 270 streets, one of them with 411. A tenth have
 * a huisletter, and 3 % a toevoeging as well.
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

/**
 * Addresses of Weesp that lie on some streets in turn, by number unless they all have the same,
 * each with a verblijfsobject. @param known how many of the streets the register has
 */
export function streetsOf(
  count: number,
  {
    streets = 1,
    known = streets,
    isNumbered = true,
  }: { streets?: number; known?: number; isNumbered?: boolean } = {},
) {
  const numbers = Array.from({ length: count }, (_, i): NumStand => {
    const number = {
      huisnummer: isNumbered ? i + 1 : 1,
      postcode: '1381AA',
      openbareRuimte: id('30', i % streets),
    };
    return { identificatie: id('20', i), ...number, begin };
  });
  return {
    WPL: [{ identificatie: '3631', naam: 'Weesp', begin }],
    OPR: Array.from({ length: known }, (_, i) => {
      return { identificatie: id('30', i), naam: `Straat ${i}`, woonplaats: '3631', begin };
    }),
    NUM: numbers,
    VBO: objectsOf(numbers),
    LIG: [],
    STA: [],
  } satisfies Voorkomens;
}

/** A verblijfsobject for each of some addresses. */
export function objectsOf(numbers: readonly NumStand[]): VboStand[] {
  return numbers.map(({ identificatie: hoofdadres }, i) => ({
    identificatie: id('01', i),
    hoofdadres,
    punt: '131234.5 480123.4',
    begin,
    oppervlakte: 85,
    gebruiksdoelen: ['woonfunctie'],
  }));
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
  (state) => ({
    ...state,
    OPR: state.OPR.map((street, i) => ({ ...street, naam: name(street.naam, i) })),
  });

/** `count` more addresses on a new street for each 100. */
export const quarter =
  (count: number, naam = 'Nieuwe straat'): Change =>
  (state) => {
    const OPR = Array.from({ length: Math.ceil(count / 100) }, (_, i) => ({
      identificatie: id('30', 1_000 + i),
      naam: `${naam} ${i + 1}`,
      woonplaats: '1012',
      begin,
    }));
    const NUM = Array.from({ length: count }, (_, i) => ({
      identificatie: id('20', 50_000 + i),
      huisnummer: 1 + (i % 100),
      begin,
      postcode: `1383${letter(Math.floor(i / 2_000))}${letter(Math.floor(i / 100) % 20)}`,
      openbareRuimte: id('30', 1_000 + Math.floor(i / 100)),
    }));
    return { ...state, NUM: [...state.NUM, ...NUM], OPR: [...state.OPR, ...OPR] };
  };

/**
 * 600 addresses of the town and 600 in each of two others, each in a gemeente of its own, and what
 * they are of.
 */
export function threeTowns(): Voorkomens {
  const town = townOfWeesp();
  const others = ['1013', '1014'];
  const WPL = [
    ...town.WPL,
    ...others.map((identificatie) => ({ identificatie, naam: `Plaats ${identificatie}`, begin })),
  ];
  const NUM = town.NUM.slice(0, 1_800).map((num, i) => {
    return { ...num, ...(i >= 600 && { woonplaats: others[Math.floor(i / 600) - 1] as string }) };
  });
  const gemeenten = ['0457', '0363', '0402'];
  const relaties = WPL.map(({ identificatie }, i) => {
    return { woonplaats: identificatie, gemeente: gemeenten[i] as string, begin };
  });
  const objectOf = ({ identificatie }: NumStand, code: string) => ({
    identificatie: `${identificatie.slice(0, 4)}${code}${identificatie.slice(6)}`,
    hoofdadres: identificatie,
    begin,
  });
  const isBoat = (_: NumStand, i: number) => i % 60 === 7;
  const isSite = (_: NumStand, i: number) => i % 60 === 8;
  const corners = '131000 480000 131009 480000 131009 480005 131000 480005 131000 480000';
  return {
    ...town,
    NUM,
    WPL,
    relaties,
    VBO: NUM.filter((num, i) => !isBoat(num, i) && !isSite(num, i)).map((num, i) => ({
      ...objectOf(num, '01'),
      punt: `${131_000 + 7 * i}.25 ${480_000 + 13 * (i % 97)}.75`,
      oppervlakte: 40 + (i % 150),
      gebruiksdoelen: [uses[i % uses.length] as string],
    })),
    LIG: NUM.filter(isBoat).map((num) => ({ ...objectOf(num, '02'), corners })),
    STA: NUM.filter(isSite).map((num) => ({ ...objectOf(num, '03'), corners })),
  };
}

const uses = ['woonfunctie', 'winkelfunctie', 'kantoorfunctie', 'industriefunctie'];

/** Without every other verblijfsobject. */
export const withHalfOfObjects: Change = (state) => ({
  ...state,
  VBO: (state.VBO ?? []).filter((_, i) => i % 2 === 1),
});

/**
 * With each woonplaats in the gemeente of another one. @param of the place of the one whose
 * gemeente it gets
 */
export const gemeentenOf =
  (of: (index: number) => number): Change =>
  (state) => {
    const all = state.relaties ?? [];
    return {
      ...state,
      relaties: all.map((one, i) => ({ ...one, gemeente: all[of(i)]?.gemeente ?? one.gemeente })),
    };
  };
