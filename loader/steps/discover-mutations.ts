import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { readMutationDelivery } from '../bag/mutation-delivery.ts';
import { type Load, loadId } from '../dataset/load.ts';
import type { Manifest, ManifestEntry, MutationFile } from '../dataset/manifest.ts';
import { ExtractError } from '../extract-error.ts';
import { chainFrom, type ListedMutations, listMutations } from '../storage/mutation-list.ts';
import { openSource } from '../storage/open.ts';
import { SourceError } from '../storage/source.ts';
import { getObject, isDelivery, paths, putJson, type Storage } from '../storage/storage.ts';
import { bufferAccess } from '../zip/random-access.ts';
import type { Found } from './manifest.ts';

/** A gap: no delivery of mutations starts at the date of the live dataset, but later ones exist. */
export class MutationGapError extends Error {
  override readonly name = 'MutationGapError';
}

/**
 * Finds the deliveries of mutations (in lists, folders, zips) that lead on from the dataset, copies them to the
 * storage, and describes the load that applies them.
 * @throws SourceError, MutationGapError
 */
export async function discoverMutations(
  storage: Storage,
  { history, rejected }: Manifest,
  base: ManifestEntry | null,
  locations: readonly string[],
  again = false,
): Promise<Found> {
  if (!base?.extract) {
    const reason = 'no full extract was loaded yet, and mutations need one';
    return { action: 'none', reason, live: base };
  }
  const listed = (await Promise.all(locations.map(listMutations))).flat().sort(byDates);
  const { next, broken } = chainFrom(listed, base.peildatum);
  const replaced = correctedOf(listed, history);
  if (next.length === 0) {
    if (broken) throw new MutationGapError(`${broken}${replaced}`);
    return { action: 'none', reason: `no mutations lead on from ${base.peildatum} yet${replaced}`, live: base };
  }
  const days: MutationFile[] = [];
  let stopped: string | undefined;
  for (const delivery of next) {
    try {
      days.push(await fetched(storage, delivery));
    } catch (error) {
      // The days before one that can't be had are applied all the same.
      if (!(error instanceof SourceError) || days.length === 0) throw error;
      stopped = error.message;
      break;
    }
  }
  const identity = createHash('sha256')
    .update(JSON.stringify(days.map(({ key }) => key)))
    .digest('hex')
    .slice(0, 16);
  const peildatum = days.at(-1)?.tot ?? base.peildatum;
  if (rejected.includes(identity) && !again) {
    const reason = `the mutations up to ${peildatum} were rolled back; "load run --again" applies them again`;
    return { action: 'none', reason, live: base };
  }
  const load: Load = {
    id: loadId(peildatum, identity, base.load),
    kind: 'mutations',
    peildatum,
    base: { load: base.load, peildatum: base.peildatum, snapshot: base.snapshot },
    target: null,
    days,
    ...(stopped !== undefined && { stopped }),
    extract: base.extract,
    source: base.source,
    members: [],
    identity,
  };
  await putJson(storage, paths.load(load.id), load);
  return { action: 'mutations', load: load.id, peildatum };
}

/**
 * The deliveries that led from `peildatum` to the live dataset, if all of them are known and still in the storage: they
 * bring an extract of that date to the date of the live dataset, so that the two can be compared.
 */
export async function appliedSince(
  storage: Storage,
  { history, published }: Manifest,
  peildatum: string,
): Promise<MutationFile[] | null> {
  const applied = history.flatMap(({ days }) => days);
  const chain: MutationFile[] = [];
  let date = peildatum;
  while (published && date < published.peildatum) {
    const following = applied.find(({ vanaf, tot }) => vanaf === date && tot <= published.peildatum);
    if (!following || !(await isKept(storage, following.key))) return null;
    chain.push(following);
    date = following.tot;
  }
  return chain;
}

/**
 * Deliveries that were applied, as their sources have them now: some are corrected afterwards, and with those an extract gets
 * to what is right. One that its sources have no more, or not whole, is as it was kept.
 */
export async function asListedNow(
  storage: Storage,
  days: readonly MutationFile[],
  locations: readonly string[],
): Promise<MutationFile[]> {
  if (days.length === 0) return [];
  const listed = (await Promise.all(locations.map((location) => listMutations(location).catch(() => [])))).flat();
  const found: MutationFile[] = [];
  for (const day of days) {
    const now = listed.find(({ vanaf, tot }) => vanaf === day.vanaf && tot === day.tot);
    found.push((now && (await fetchedWhole(storage, now))) ?? day);
  }
  return found;
}

async function fetchedWhole(storage: Storage, delivery: ListedMutations): Promise<MutationFile | null> {
  try {
    const file = await fetched(storage, delivery);
    const bytes = await getObject(storage, file.key);
    await readMutationDelivery(bufferAccess(bytes), file.name);
    return file;
  } catch (error) {
    if (error instanceof SourceError || error instanceof ExtractError) return null;
    throw error;
  }
}

/** Whether the storage has a delivery, undamaged. */
async function isKept(storage: Storage, key: string): Promise<boolean> {
  const bytes = await storage.get(key);
  return bytes !== null && isDelivery(key, bytes);
}

const largestDelivery = 512 * 1024 * 1024;

/** Copies a delivery to the storage. A corrected delivery gets another key than the first one. */
async function fetched(storage: Storage, { name, location, vanaf, tot, size }: ListedMutations): Promise<MutationFile> {
  const source = await openSource(location);
  if (!source) throw new SourceError(`${location} can't be read. Check the address.`);
  try {
    const chunks: Uint8Array[] = [];
    let [length, crc] = [0, 0];
    for await (const chunk of source.stream()) {
      length += chunk.length;
      crc = crc32(chunk, crc);
      if (length > largestDelivery)
        throw new SourceError(`${name} is too large for mutations. Load a full extract instead.`);
      chunks.push(chunk);
    }
    if (size !== null && size !== length) {
      throw new SourceError(
        `${name} has ${length} bytes, but ${size} according to the list: it is cut off, or was just replaced. Run the load again.`,
      );
    }
    const key = paths.mutationFile(name, crc);
    if (!(await isKept(storage, key))) await storage.put(key, Buffer.concat(chunks));
    return { name, key, vanaf, tot, size: length };
  } finally {
    await source.close();
  }
}

/** The part of the message about deliveries that were replaced after they were applied. */
function correctedOf(listed: readonly ListedMutations[], history: readonly ManifestEntry[]): string {
  const applied = new Map(history.flatMap(({ days }) => days).map((day) => [day.name, day.size]));
  const names = listed.flatMap(({ name, size }) => {
    const then = applied.get(name);
    return then !== undefined && size !== null && size !== then ? [name] : [];
  });
  if (names.length === 0) return '';
  return `; replaced after it was applied: ${names.join(', ')}. The next full extract corrects the difference`;
}

function byDates(a: ListedMutations, b: ListedMutations): number {
  const [first, second] = [`${a.vanaf} ${a.tot}`, `${b.vanaf} ${b.tot}`];
  return first < second ? -1 : first > second ? 1 : 0;
}
