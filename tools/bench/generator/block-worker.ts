import { parentPort } from 'node:worker_threads';
import {
  fileXml,
  type PlaatsStand,
  type RelatieStand,
  type Voorkomens,
} from '../../../test/support/stand-xml.ts';
import { block, type Plan, peildatumAfter, relatiesOf, voorkomensPerBlock } from './country.ts';
import { type Difference, differenceOf, type Truth, truthOf } from './truth.ts';
import { deflated, type PackedEntry } from './zip-writer.ts';

/**
 * A worker makes whole blocks: the file of NUM compressed, the streets and places as they are, and
 * what is true.
 */
export type BlockJob = { plan: Plan; index: number; name: string };
export type MadeBlock = {
  index: number;
  num: PackedEntry;
  /** The files of verblijfsobjecten, as many as a block of NUM has occurrences each. */
  verblijfsobjecten: PackedEntry[];
  ligplaatsen: PlaatsStand[];
  standplaatsen: PlaatsStand[];
  streets: Voorkomens['OPR'];
  places: Voorkomens['WPL'];
  relaties: RelatieStand[];
  truth: Truth;
  difference: Difference | null;
};

parentPort?.on('message', ({ plan, index, name }: BlockJob) => {
  const peildatum = peildatumAfter(plan.days);
  const made = block(plan, index);
  const { truth, addresses } = truthOf(made, peildatum);
  const before = plan.days
    ? truthOf(block({ ...plan, days: 0 }, index), peildatumAfter()).addresses
    : null;
  const num = deflated(name, Buffer.from(fileXml('NUM', made.NUM, peildatum)));
  const { VBO = [], LIG = [], STA = [] } = made;
  const parts = Array.from({ length: Math.ceil(VBO.length / voorkomensPerBlock) }, (_, part) =>
    VBO.slice(part * voorkomensPerBlock, (part + 1) * voorkomensPerBlock),
  );
  const result: MadeBlock = {
    index,
    num,
    verblijfsobjecten: parts.map((part) =>
      deflated('', Buffer.from(fileXml('VBO', part, peildatum))),
    ),
    ligplaatsen: LIG,
    standplaatsen: STA,
    streets: made.OPR,
    places: made.WPL,
    relaties: made.relaties ?? relatiesOf(made.WPL),
    truth,
    difference: before && differenceOf(before, addresses),
  };
  parentPort?.postMessage(result);
});
