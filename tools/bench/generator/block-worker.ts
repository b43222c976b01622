import { parentPort } from 'node:worker_threads';
import { fileXml, type Voorkomens } from '../../../local/demo/stand-xml.ts';
import { block, type Plan, peildata, peildatumOf } from './country.ts';
import { type Difference, differenceOf, type Truth, truthOf } from './truth.ts';
import { deflated, type PackedEntry } from './zip-writer.ts';

/** A worker makes whole blocks: the file of NUM compressed, the streets and places as they are, and what is true. */
export type BlockJob = { plan: Plan; index: number; name: string };
export type MadeBlock = {
  index: number;
  num: PackedEntry;
  streets: Voorkomens['OPR'];
  places: Voorkomens['WPL'];
  truth: Truth;
  difference: Difference | null;
};

parentPort?.on('message', ({ plan, index, name }: BlockJob) => {
  const peildatum = peildatumOf(plan);
  const made = block(plan, index);
  const { truth, addresses } = truthOf(made, peildatum);
  const before = plan.month === 1 ? truthOf(block({ ...plan, month: 0 }, index), peildata[0]).addresses : null;
  const num = deflated(name, Buffer.from(fileXml('NUM', made.NUM, peildatum)));
  const result: MadeBlock = {
    index,
    num,
    streets: made.OPR,
    places: made.WPL,
    truth,
    difference: before && differenceOf(before, addresses),
  };
  parentPort?.postMessage(result);
});
