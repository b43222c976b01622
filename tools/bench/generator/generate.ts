import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import {
  deliveryXml,
  fileXml,
  type OprStand,
  type PlaatsStand,
  type RelatieStand,
  relatiesXml,
  type StandOf,
  type WplStand,
} from '../../../test/support/stand-xml.ts';
import { dateInName } from '../../../test/support/write-extract.ts';
import type { BlockJob, MadeBlock } from './block-worker.ts';
import { type Plan, peildatumAfter, voorkomensPerBlock, wholeCountryBlocks } from './country.ts';
import { added, addTruths, type Difference, noTruth, type Truth } from './truth.ts';
import { deflated, type PackedEntry, ZipOfZipsWriter } from './zip-writer.ts';

/** A generated extract, and what is true of it. `difference` is what `days` have changed. */
export type Generated = {
  path: string;
  peildatum: string;
  truth: Truth;
  difference: Difference | null;
};

/** Counts up when the generator makes other extracts than before. */
const version = 6;

/**
 * The extract of `scale` of the country (1 is all of it, at least one block), from `folder` where
 * it was made before. Blocks are made by worker threads; the whole country takes a few minutes and
 * 350 MB of disk, with objects ten and 0.9 GB.
 */
export async function generatedExtract(
  {
    scale,
    days = 0,
    seed = 1,
    objecten = false,
  }: Partial<Omit<Plan, 'blocks'>> & { scale: number },
  folder = '.data/bench',
): Promise<Generated> {
  const plan: Plan = { seed, days, objecten, blocks: blocksOf(scale) };
  const state = `days${days}${objecten ? '-objecten' : ''}`;
  const path = `${folder}/extract-v${version}-seed${seed}-blocks${plan.blocks}-${state}.zip`;
  const truthPath = `${path}.json`;
  if (!existsSync(truthPath)) {
    mkdirSync(folder, { recursive: true });
    const made = await writeCountry(plan, `${path}.part`);
    renameSync(`${path}.part`, path);
    writeFileSync(truthPath, JSON.stringify(made));
  }
  const known = JSON.parse(readFileSync(truthPath, 'utf8')) as Pick<
    Generated,
    'truth' | 'difference'
  >;
  return { path, peildatum: peildatumAfter(days), ...known };
}

/** The number of blocks of a share of the country. */
export function blocksOf(scale: number): number {
  return Math.max(1, Math.round(wholeCountryBlocks * scale));
}

async function writeCountry(
  plan: Plan,
  path: string,
): Promise<Pick<Generated, 'truth' | 'difference'>> {
  const peildatum = peildatumAfter(plan.days);
  const date = dateInName(peildatum);
  const streets: OprStand[] = [];
  const places: WplStand[] = [];
  const relaties: RelatieStand[] = [];
  const verblijfsobjecten: PackedEntry[] = [];
  const ligplaatsen: PlaatsStand[] = [];
  const standplaatsen: PlaatsStand[] = [];
  let truth = noTruth();
  let difference: Difference | null = null;

  const zip = await ZipOfZipsWriter.create(path);
  const delivery = 'Leveringsdocument-BAG-Extract.xml';
  await zip.add(deflated(delivery, Buffer.from(deliveryXml(peildatum))));
  const nums = async function* () {
    for await (const made of blocks(plan, `9999NUM${date}`)) {
      truth = addTruths(truth, made.truth);
      if (made.difference) {
        difference = difference ? added(difference, made.difference) : made.difference;
      }
      streets.push(...made.streets);
      places.push(...made.places);
      relaties.push(...made.relaties);
      for (const entry of made.verblijfsobjecten) {
        verblijfsobjecten.push({
          ...entry,
          name: fileName(`9999VBO${date}`, verblijfsobjecten.length),
        });
      }
      for (const stand of made.ligplaatsen) ligplaatsen.push(stand);
      for (const stand of made.standplaatsen) standplaatsen.push(stand);
      yield made.num;
    }
    // All files before are full, and a load refuses an extract whose last one is: another may be
    // missing.
    const rest = Buffer.from(fileXml('NUM', [], peildatum));
    yield deflated(fileName(`9999NUM${date}`, plan.blocks), rest);
  };
  await zip.addZip(`9999NUM${date}.zip`, nums());
  await zip.addZip(`9999OPR${date}.zip`, files('OPR', streets, peildatum, `9999OPR${date}`));
  await zip.addZip(`9999WPL${date}.zip`, files('WPL', places, peildatum, `9999WPL${date}`));
  if (plan.objecten) {
    const kept = async function* () {
      yield* verblijfsobjecten;
    };
    await zip.addZip(`9999VBO${date}.zip`, kept());
    await zip.addZip(`9999LIG${date}.zip`, files('LIG', ligplaatsen, peildatum, `9999LIG${date}`));
    await zip.addZip(
      `9999STA${date}.zip`,
      files('STA', standplaatsen, peildatum, `9999STA${date}`),
    );
  }
  const relatieFile = `GEM-WPL-RELATIE-${date}`;
  const xml = async function* () {
    yield deflated(fileName(relatieFile, 0), Buffer.from(relatiesXml(relaties, peildatum)));
  };
  await zip.addZip(`${relatieFile}.zip`, xml());
  await zip.close();
  return { truth, difference };
}

async function* files<K extends 'OPR' | 'WPL' | 'LIG' | 'STA'>(
  kind: K,
  voorkomens: readonly StandOf<K>[],
  peildatum: string,
  name: string,
): AsyncGenerator<PackedEntry> {
  for (let start = 0; start < voorkomens.length; start += voorkomensPerBlock) {
    const part = voorkomens.slice(start, start + voorkomensPerBlock);
    yield deflated(
      fileName(name, start / voorkomensPerBlock),
      Buffer.from(fileXml(kind, part, peildatum)),
    );
  }
}

/** The blocks in order, made ahead by as many workers as there are cores. */
async function* blocks(plan: Plan, name: string): AsyncGenerator<MadeBlock> {
  const workers = Array.from({ length: Math.min(availableParallelism(), plan.blocks) }, () => {
    return new Worker(new URL('./block-worker.ts', import.meta.url));
  });
  try {
    const making = new Map<number, Promise<MadeBlock>>();
    const start = (index: number) => {
      if (index >= plan.blocks) return;
      const worker = workers[index % workers.length] as Worker;
      making.set(index, nextFrom(worker, index, { plan, index, name: fileName(name, index) }));
    };
    const ahead = workers.length * 2;
    for (let index = 0; index < ahead; index++) start(index);
    for (let index = 0; index < plan.blocks; index++) {
      const made = await (making.get(index) as Promise<MadeBlock>);
      making.delete(index);
      start(index + ahead);
      yield made;
    }
  } finally {
    await Promise.all(workers.map((worker) => worker.terminate()));
  }
}

function nextFrom(worker: Worker, index: number, job: BlockJob): Promise<MadeBlock> {
  const made = new Promise<MadeBlock>((resolve, reject) => {
    const onMessage = (message: MadeBlock) => {
      if (message.index !== index) return;
      worker.off('message', onMessage);
      worker.off('error', reject);
      resolve(message);
    };
    worker.on('message', onMessage);
    worker.on('error', reject);
  });
  worker.postMessage(job);
  return made;
}

function fileName(name: string, index: number): string {
  return `${name}-${String(index + 1).padStart(6, '0')}.xml`;
}
