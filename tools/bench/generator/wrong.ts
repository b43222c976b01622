import {
  type Change,
  nums,
  quarter,
  streets,
  wrongObjects,
  wrongs,
} from '../../../test/support/town.ts';
import { type Plan, relatiesOf } from './country.ts';

/** Which blocks: all, the two towns of one, or one of twenty. */
type Where = (index: number) => boolean;
const everywhere: Where = () => true;
const inTwoTowns: Where = (index) => index === 6;
const inATwentieth: Where = (index) => index % 20 === 6;

/** Each file keeps an address. */
const nearlyEmpty = nums((_, i) => (i === 0 ? {} : null));

/** The gemeenten of some places, each that of the next one. */
const inTurn =
  (...codes: string[]): Change =>
  (state) => ({
    ...state,
    relaties: relatiesOf(state.WPL).map((one) => {
      const at = codes.indexOf(one.gemeente);
      return at < 0 ? one : { ...one, gemeente: codes[(at + 1) % codes.length] as string };
    }),
  });

/** What is wrong with an extract of the country, of which a state has at least seven blocks. */
const withoutObjects: Record<string, [Where, Change]> = {
  'without a twentieth of the towns': [inATwentieth, nearlyEmpty],
  'without any huisnummertoevoeging': [everywhere, wrongs.withoutToevoegingen],
  'with names that were encoded twice': [everywhere, wrongs.encodedTwice],
  'with 104 streets of two towns called XXXX': [inTwoTowns, wrongs.calledXxxx],
  'with 1000 added to 5% of the house numbers': [everywhere, wrongs.withHigherNumbers],
  'without two towns': [inTwoTowns, nearlyEmpty],
  'without the huisletters': [everywhere, wrongs.withoutHuisletters],
  'with ? for each special letter': [everywhere, wrongs.withQuestionMarks],
  'with ? for each special letter in two towns': [inTwoTowns, wrongs.withQuestionMarks],
  'without accents': [everywhere, wrongs.withoutAccents],
  'in which streets of two towns have the name of the next one': [
    inTwoTowns,
    (state) => streets((naam, i) => state.OPR[i + 1]?.naam ?? naam)(state),
  ],
  'with the postcode of elsewhere for 4%': [everywhere, wrongs.withPostcodesOfElsewhere],
  'with other ids in a twentieth of the towns': [inATwentieth, wrongs.withOtherIds],
  'with 6,000 addresses that there are not': [inTwoTowns, quarter(6_000)],
  'in which a third of a town went to another': [inTwoTowns, wrongs.inAnotherWoonplaats],
  'without the first digit of longer house numbers in two towns': [
    inTwoTowns,
    wrongs.withoutFirstDigit,
  ],
  'without a gemeente in a twentieth of the towns': [inATwentieth, wrongs.withoutGemeente],
  'with two gemeenten swapped': [everywhere, inTurn('0363', '0599')],
  'with three gemeenten rotated': [everywhere, inTurn('0363', '0599', '0518')],
};

/** The same with the objects of addresses, onto a country that has them. */
const withObjects: Record<string, [Where, Change]> = {
  'in which every oppervlakte is 1': [everywhere, wrongObjects.ofOneSquareMetre],
  'with ten times each oppervlakte': [everywhere, wrongObjects.tenTimesAsLarge],
  'with the next gebruiksdoel': [everywhere, wrongObjects.usedAsTheNextKind],
  'in which every verblijfsobject is only gevormd': [everywhere, wrongObjects.allGevormd],
  'with coordinates 45 m off': [everywhere, wrongObjects.movedBy45Metres],
  'with coordinates of 50 m': [everywhere, wrongObjects.roundedTo50Metres],
  'with the use, oppervlakte and status of the neighbour': [
    everywhere,
    wrongObjects.ofTheNeighbour,
  ],
  'without ligplaatsen': [everywhere, (state) => ({ ...state, LIG: state.LIG?.slice(0, 1) ?? [] })],
  'without standplaatsen': [
    everywhere,
    (state) => ({ ...state, STA: state.STA?.slice(0, 1) ?? [] }),
  ],
};

/** The same onto a country without objects, which they are turned on with. */
const turnedOn: Record<string, [Where, Change]> = {
  'with half of the verblijfsobjecten, turned on': [everywhere, wrongObjects.withHalf],
  'with a tenth of the verblijfsobjecten, turned on': [everywhere, wrongObjects.withATenth],
};

const all = { ...withoutObjects, ...withObjects, ...turnedOn };

/**
 * Every wrong dataset, whether it has objects, and whether the country does that it is loaded onto.
 */
export const wrongDatasets = Object.keys(all).map((name) => ({
  name,
  objecten: name in withObjects || name in turnedOn,
  onto: name in withObjects,
}));

/** What is wrong with a block of the plan, if anything is. */
export function wrongIn({ wrong }: Plan, index: number): Change | undefined {
  const [where, change] = all[wrong ?? ''] ?? [];
  return where?.(index) ? change : undefined;
}
