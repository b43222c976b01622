/** Where deliveries of mutations are found: lists (`bestanden.json`), folders and single zips. */

import { readdir, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { isCalendarDay } from '../bag/delivery-document.ts';
import { openSource } from '../storage/open.ts';
import { connectionError, type Source, SourceError } from '../storage/source.ts';

/**
 * A delivery as its list describes it, which its documents must confirm; without gemeenten of the
 * whole country.
 */
export type ListedMutations = {
  name: string;
  location: string;
  vanaf: string;
  tot: string;
  gemeenten: string[];
  size: number | null;
};

/** The deliveries that were found, and notes for the operator about other files. */
export type MutationListing = { listed: ListedMutations[]; notes: string[] };

const namePattern =
  /^BAG(?:GEM(\d{4}))?\w*M-(\d{2})(\d{2})(\d{4})-(\d{2})(\d{2})(\d{4})(.*)\.zip$/i;
/** A name that a person would take for one of a delivery: `BAGNLDM-13112021-14112021 (1).zip`. */
const nearName = /^BAG.*\d{8}\D+\d{8}/i;

type NamedDelivery = Pick<ListedMutations, 'vanaf' | 'tot' | 'gemeenten'>;

/**
 * The dates and the area of a delivery, from its name `BAGNLDM-13112021-14112021.zip` or
 * `BAGGEM0344M-08112021-08122021.zip`; `null` for another name, or a name that does not lead from a
 * date to a later date. With `nearly` also from the name of a copy.
 */
export function datesOfName(name: string, { nearly = false } = {}): NamedDelivery | null {
  const [, gemeente, day, month, year, lastDay, lastMonth, lastYear, more] =
    namePattern.exec(name) ?? [];
  const vanaf = `${year}-${month}-${day}`;
  const tot = `${lastYear}-${lastMonth}-${lastDay}`;
  if (!isCalendarDay(vanaf) || !isCalendarDay(tot) || vanaf >= tot || (more !== '' && !nearly)) {
    return null;
  }
  return { vanaf, tot, gemeenten: gemeente ? [gemeente] : [] };
}

/**
 * The deliveries at all locations, by date, with a note on each unreadable location. @throws
 * SourceError if all are
 */
export async function listAllMutations(locations: readonly string[]): Promise<MutationListing> {
  const found = await Promise.allSettled(locations.map(listMutations));
  const failed = found.flatMap((result) =>
    result.status === 'rejected' ? [result.reason as Error] : [],
  );
  const other = failed.find((error) => !(error instanceof SourceError));
  if (other || (failed.length > 0 && failed.length === found.length)) throw other ?? failed[0];
  const listings = found.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  return {
    listed: listings.flatMap(({ listed }) => listed).sort(byDates),
    notes: [...failed.map(({ message }) => message), ...listings.flatMap(({ notes }) => notes)],
  };
}

/** The deliveries of one location. @throws SourceError if it can't be read, or holds no list */
export async function listMutations(location: string): Promise<MutationListing> {
  if (isZip(location)) return { listed: [single(location)], notes: [] };
  if (/^(https?|s3):\/\//i.test(location)) return parsed(await text(location), location);
  const entry = await stat(location).catch((cause) => {
    throw new SourceError(
      `There is no folder and no list of mutations at ${location}. Check the path.`,
      { cause },
    );
  });
  if (!entry.isDirectory()) return parsed(await text(location), location);
  const names = (await readdir(location)).sort();
  return named(
    names.map((name) => ({ name, location: join(location, name), size: null })),
    location,
  );
}

/** A signed URL has a query after the name: `...zip?X-Amz-Signature=...`. */
function isZip(location: string): boolean {
  return /\.zip$/i.test(
    /^https?:/i.test(location) && URL.canParse(location) ? new URL(location).pathname : location,
  );
}

function single(location: string): ListedMutations {
  const name = /^https?:/i.test(location)
    ? basename(decodeURIComponent(new URL(location).pathname))
    : basename(location);
  const dates = datesOfName(name, { nearly: true });
  if (dates) return { name, location, ...dates, size: null };
  throw new SourceError(
    `${name} is not named like a delivery of mutations, BAGNLDM-13112021-14112021.zip: its name must have ` +
      'its first and its last date. Rename it, or pass an extract with --extract.',
  );
}

type Candidate = Pick<ListedMutations, 'name' | 'location' | 'size'>;

/** Those with the name of a delivery; nearly right names are a note. */
function named(candidates: readonly Candidate[], where: string): MutationListing {
  const listed = candidates.flatMap((candidate) => {
    const dates = datesOfName(candidate.name);
    return dates ? [{ ...candidate, ...dates }] : [];
  });
  const near = candidates
    .filter(({ name }) => nearName.test(name) && !datesOfName(name))
    .map(({ name }) => name);
  if (near.length === 0) return { listed, notes: [] };
  const note = `not used, because it is not named like a delivery such as BAGNLDM-13112021-14112021.zip: ${near.join(', ')} in ${where}`;
  return { listed, notes: [note] };
}

/**
 * A member of a list, or `null` without a name. Some lists have sizes as text; a size that is none
 * is ignored.
 */
function readMember(member: unknown) {
  const { naam, url = null, grootte } = (member ?? {}) as Record<string, unknown>;
  if (typeof naam !== 'string' || !(url === null || typeof url === 'string')) return null;
  const size = Number(grootte ?? Number.NaN);
  return { naam, url, size: Number.isInteger(size) && size >= 0 ? size : null };
}

function parsed(body: string, location: string): MutationListing {
  const json = parseJson(body, location);
  const members = Array.isArray(json) ? json.map(readMember) : null;
  const usable = members?.filter((member) => member !== null) ?? [];
  if (!members || (members.length > 0 && usable.length === 0)) {
    throw new SourceError(
      `${location} is not a list of mutations: a JSON array of {"naam", "url", "grootte"} is expected. Check the address.`,
    );
  }
  const led = usable.map(({ naam, url, size }) => {
    return { name: naam, location: locationOf(url ?? naam, location), size, url };
  });
  const { listed, notes } = named(
    led.flatMap(({ name, location, size }) =>
      location === null ? [] : [{ name, location, size }],
    ),
    location,
  );
  for (const { name, url } of led.filter((file) => file.location === null)) {
    const only = /^https:/i.test(location) ? 'https://' : 'https:// and http://';
    notes.push(
      `not used, as ${location} gives ${url} as its URL, and only ${only} is followed from there: ${name}`,
    );
  }
  const unusable = members.length - usable.length;
  if (unusable > 0) {
    notes.push(
      `${unusable} of the ${members.length} members of ${location} have no name and were not used`,
    );
  }
  return { listed, notes };
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
 * The location of a delivery, relative to its list; `null` if a list on the web may not lead there.
 */
function locationOf(url: string, list: string): string | null {
  if (!/^https?:/i.test(list)) {
    return /^[a-z][a-z0-9+.-]*:\/\//i.test(url)
      ? url
      : `${list.slice(0, list.lastIndexOf('/') + 1)}${url}`;
  }
  const found = URL.canParse(url, list) ? new URL(url, list) : null;
  const allowed = /^https:/i.test(list) ? ['https:'] : ['https:', 'http:'];
  return found && allowed.includes(found.protocol) ? found.href : null;
}

const longestList = 16 * 1024 * 1024;

async function text(location: string): Promise<string> {
  const tooLong = `${location} is too long for a list of mutations. Check the URL.`;
  try {
    const source = await openSource(location);
    const bytes = source && (await readWhole(source, longestList, tooLong));
    return bytes ? bytes.toString().replace(/^\uFEFF/, '') : '[]';
  } catch (error) {
    throw error instanceof SourceError ? error : connectionError(location, error as Error);
  }
}

/** Everything of a source, which it closes, if that is at most `most` bytes. @throws SourceError */
export async function readWhole(source: Source, most: number, tooLong: string): Promise<Buffer> {
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

/** The order of deliveries: by their start date, then the shortest first. */
export function byDates(a: ListedMutations, b: ListedMutations): number {
  const first = `${a.vanaf} ${a.tot}`;
  const second = `${b.vanaf} ${b.tot}`;
  return first < second ? -1 : first > second ? 1 : 0;
}

/**
 * The span of a delivery of mutations: it leads from the state of one date to the state of a later
 * date.
 */
export type Period = { vanaf: string; tot: string };

/**
 * The end of a way through deliveries from a date, and the first delivery of the best way there.
 */
type Way<T> = { end: string; count: number; first: T | null };

/**
 * The deliveries that lead from `date` to the latest date, by the way with the most deliveries, or
 * else the first.
 */
export function pathFrom<T extends Period>(deliveries: readonly T[], date: string): T[] {
  const ways = new Map<string, Way<T>>();
  const wayFrom = (from: string): Way<T> => ways.get(from) ?? { end: from, count: 0, first: null };
  const byStart = deliveries.toSorted((a, b) =>
    a.vanaf > b.vanaf ? -1 : a.vanaf < b.vanaf ? 1 : 0,
  );
  for (const delivery of byStart) {
    if (delivery.vanaf < date) break;
    const { end, count } = wayFrom(delivery.tot);
    const known = wayFrom(delivery.vanaf);
    const isBetter =
      known.first === null || end > known.end || (end === known.end && count + 1 > known.count);
    if (isBetter) ways.set(delivery.vanaf, { end, count: count + 1, first: delivery });
  }
  const path: T[] = [];
  for (let next = wayFrom(date).first; next; next = wayFrom(next.tot).first) path.push(next);
  return path;
}

/**
 * Why a list of deliveries can't be followed beyond `date`; `null` if no delivery leads further.
 */
export function gapAfter(
  deliveries: readonly (Period & { name: string })[],
  date: string,
): string | null {
  const later = deliveries
    .filter(({ tot }) => tot > date)
    .toSorted((a, b) => (a.vanaf < b.vanaf ? -1 : 1))[0];
  if (!later) return null;
  const how =
    later.vanaf > date
      ? `the next delivery, ${later.name}, starts at ${later.vanaf}`
      : `${later.name} spans that date, from ${later.vanaf} to ${later.tot}`;
  return (
    `No mutations follow ${date}: ${how}. Pass the missing ones with --mutations, or wait for the next full ` +
    'extract, which makes the dataset complete again.'
  );
}
