import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import * as z from 'zod';
import { readMutationDelivery } from '../bag/mutations.ts';
import type { MutationFile } from '../dataset/load.ts';
import { ExtractError } from '../extract-error.ts';
import { bufferAccess } from '../zip/random-access.ts';
import { openSource } from './open.ts';
import { connectionError, SourceError } from './source.ts';
import { getObject, isDelivery, paths, type Storage } from './storage.ts';

/** A delivery of mutations that a list names; `size` in bytes where the list has it. */
export type ListedMutations = { name: string; location: string; vanaf: string; tot: string; size: number | null };

const namePattern = /^BAG\w*DM-(\d{2})(\d{2})(\d{4})-(\d{2})(\d{2})(\d{4})\.zip$/i;

/**
 * The two dates of a delivery, from its name `BAGNLDM-13112021-14112021.zip`; `null` for another name, and for one
 * that does not lead from a date to a later one.
 */
export function datesOfName(name: string): { vanaf: string; tot: string } | null {
  const [, day, month, year, lastDay, lastMonth, lastYear] = namePattern.exec(name) ?? [];
  const [vanaf, tot] = [`${year}-${month}-${day}`, `${lastYear}-${lastMonth}-${lastDay}`];
  return isDate(vanaf) && isDate(tot) && vanaf < tot ? { vanaf, tot } : null;
}

function isDate(text: string): boolean {
  const milliseconds = Date.parse(text);
  return !Number.isNaN(milliseconds) && new Date(milliseconds).toISOString().startsWith(text);
}

/**
 * The deliveries that are available: from a list (`bestanden.json`) at a URL, in S3 or in a file; from a folder; or one
 * zip. In the order of their dates.
 * @throws SourceError where there is no list, or what is there is not one
 */
export async function listMutations(location: string): Promise<ListedMutations[]> {
  return (await found(location)).sort(byDates);
}

async function found(location: string): Promise<ListedMutations[]> {
  if (/\.zip$/i.test(location)) return [one(location)];
  if (/^(https?|s3):\/\//i.test(location)) return parsed(await text(location), location);
  const entry = await stat(location).catch((cause) => {
    throw new SourceError(`There is no folder and no list of mutations at ${location}. Check the path.`, { cause });
  });
  if (!entry.isDirectory()) return parsed(await text(location), location);
  return (await readdir(location)).flatMap((name) => {
    const dates = datesOfName(name);
    return dates ? [{ name, location: join(location, name), ...dates, size: null }] : [];
  });
}

function one(location: string): ListedMutations {
  const name = basename(/^https?:/i.test(location) ? new URL(location).pathname : location);
  const dates = datesOfName(name);
  if (dates) return { name, location, ...dates, size: null };
  throw new SourceError(
    `${name} is not named like a delivery of mutations, BAGNLDM-13112021-14112021.zip: its name must have ` +
      'its first and its last date. Rename it, or pass an extract with --extract.',
  );
}

const listSchema = z.array(
  z.object({ naam: z.string(), url: z.string().optional(), grootte: z.number().nonnegative().optional() }),
);

function parsed(body: string, location: string): ListedMutations[] {
  const json = parseJson(body, location);
  const list = listSchema.safeParse(json);
  if (!list.success) {
    throw new SourceError(
      `${location} is not a list of mutations: a JSON array of {"naam", "url", "grootte"} is expected. Check the address.`,
    );
  }
  return list.data.flatMap(({ naam, url, grootte }) => {
    const dates = datesOfName(naam);
    return dates
      ? [{ name: naam, location: locationOf(naam, url ?? naam, location), ...dates, size: grootte ?? null }]
      : [];
  });
}

function parseJson(body: string, location: string): unknown {
  try {
    return JSON.parse(body);
  } catch (cause) {
    const what = /^\s*</.test(body) ? 'a web page' : 'no JSON';
    throw new SourceError(
      `${location} returned ${what} instead of a list of mutations (bestanden.json). Check the URL, and whether it requires ` +
        'a sign-in.',
      { cause },
    );
  }
}

/**
 * The location of a delivery, which may be relative to its list. A list on the web can't lead to files, buckets or, from
 * https, to an insecure server.
 * @throws SourceError
 */
function locationOf(name: string, url: string, list: string): string {
  if (!/^https?:/i.test(list)) {
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `${list.slice(0, list.lastIndexOf('/') + 1)}${url}`;
  }
  const found = URL.canParse(url, list) ? new URL(url, list) : null;
  const allowed = /^https:/i.test(list) ? ['https:'] : ['https:', 'http:'];
  if (found && allowed.includes(found.protocol)) return found.href;
  throw new SourceError(
    `${list} names ${url} as the URL of ${name}, and only ${allowed.join('// and ')}// is followed from there. Nothing of the list was applied; ` +
      'ask its supplier to correct it.',
  );
}

const longestList = 16 * 1024 * 1024;

async function text(location: string): Promise<string> {
  const tooLong = `${location} is too long for a list of mutations. Check the URL.`;
  try {
    const bytes = await readWhole(location, longestList, tooLong);
    return bytes ? bytes.toString().replace(/^\uFEFF/, '') : '[]';
  } catch (error) {
    throw error instanceof SourceError ? error : connectionError(location, error as Error);
  }
}

/** Everything at a location, if that is at most `most` bytes; `null` where nothing can be opened. @throws SourceError */
async function readWhole(location: string, most: number, tooLong: string): Promise<Buffer | null> {
  const source = await openSource(location);
  if (!source) return null;
  try {
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of source.stream()) {
      length += chunk.length;
      if (length > most) throw new SourceError(tooLong);
      chunks.push(chunk);
    }
    return Buffer.concat(chunks);
  } finally {
    await source.close();
  }
}

/** What a list has for a dataset of some date. */
export type Chain = {
  /** The deliveries to apply, in order: each starts where the one before it ends. */
  next: ListedMutations[];
  /** Why the list can't be applied to its end; `null` where it can. */
  broken: string | null;
};

/**
 * The deliveries that lead on from `peildatum`. Of several that begin on one date it uses the shortest: a day rather
 * than a month.
 */
export function chainFrom(listed: readonly ListedMutations[], peildatum: string): Chain {
  const next: ListedMutations[] = [];
  let date = peildatum;
  for (;;) {
    const following = listed.find(({ vanaf }) => vanaf === date);
    if (!following) break;
    next.push(following);
    date = following.tot;
  }
  const later = listed.find(({ tot }) => tot > date);
  if (!later) return { next, broken: null };
  const how =
    later.vanaf > date
      ? `the next delivery, ${later.name}, starts at ${later.vanaf}`
      : `${later.name} spans that date, from ${later.vanaf} to ${later.tot}`;
  return {
    next,
    broken:
      `No mutations follow ${date}: ${how}. Pass the missing ones with --mutations, or wait for the next full ` +
      'extract, which makes the dataset complete again.',
  };
}

/** Whether the storage has a delivery, undamaged. */
export async function isDeliveryKept(storage: Storage, key: string): Promise<boolean> {
  const bytes = await storage.get(key);
  return bytes !== null && isDelivery(key, bytes);
}

const largestDelivery = 512 * 1024 * 1024;

/** Copies a delivery to the storage. A corrected delivery gets another key than the first one. @throws SourceError */
export async function copyDelivery(
  storage: Storage,
  { name, location, vanaf, tot, size }: ListedMutations,
): Promise<MutationFile> {
  const tooLong = `${name} is too large for mutations. Load a full extract instead.`;
  const bytes = await readWhole(location, largestDelivery, tooLong);
  if (!bytes) throw new SourceError(`${location} can't be read. Check the address.`);
  if (size !== null && size !== bytes.length) {
    throw new SourceError(
      `${name} has ${bytes.length} bytes, but ${size} according to the list: it is cut off, or was just replaced. Run the load again.`,
    );
  }
  const key = paths.mutationFile(name, crc32(bytes));
  if (!(await isDeliveryKept(storage, key))) await storage.put(key, bytes);
  return { name, key, vanaf, tot, size: bytes.length };
}

/**
 * Deliveries that were applied, as their sources have them now: some are corrected afterwards, and with those an
 * extract gets to what is right. One that its sources no longer have, or not whole, is as it was kept.
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
    found.push((now && (await copyWhole(storage, now))) ?? day);
  }
  return found;
}

/** As `copyDelivery`; `null` for a delivery that its source does not have, or not whole. */
async function copyWhole(storage: Storage, delivery: ListedMutations): Promise<MutationFile | null> {
  try {
    const file = await copyDelivery(storage, delivery);
    const bytes = await getObject(storage, file.key);
    await readMutationDelivery(bufferAccess(bytes), file.name);
    return file;
  } catch (error) {
    if (error instanceof SourceError || error instanceof ExtractError) return null;
    throw error;
  }
}

/** The order of deliveries: by the date from which they lead, and the shortest first. */
export function byDates(a: ListedMutations, b: ListedMutations): number {
  const [first, second] = [`${a.vanaf} ${a.tot}`, `${b.vanaf} ${b.tot}`];
  return first < second ? -1 : first > second ? 1 : 0;
}
