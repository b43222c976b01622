import { type Change, nums, quarter, streets, wrongs } from '../../../test/support/town.ts';
import type { Plan } from './country.ts';

/** Which blocks: all, the two towns of one, or one of twenty. */
type Where = (index: number) => boolean;
const everywhere: Where = () => true;
const inTwoTowns: Where = (index) => index === 6;
const inATwentieth: Where = (index) => index % 20 === 6;

/** Files without an address are copies of each other, which a load refuses for that. */
const nearlyEmpty = nums((_, i) => (i === 0 ? {} : null));

/** What is wrong with an extract of the country, of which a state has at least seven blocks. */
export const wrongDatasets: Record<string, [Where, Change]> = {
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
  'without the first digit of longer house numbers in two towns': [inTwoTowns, wrongs.withoutFirstDigit],
  'without a gemeente in a twentieth of the towns': [inATwentieth, wrongs.withoutGemeente],
};

/** What is wrong with a block of the plan, if anything is. */
export function wrongIn({ wrong }: Plan, index: number): Change | undefined {
  const [where, change] = wrongDatasets[wrong ?? ''] ?? [];
  return where?.(index) ? change : undefined;
}
