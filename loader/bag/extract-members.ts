import type { Readable } from 'node:stream';
import { ExtractError } from '../extract-error.ts';
import { bufferAccess, type RandomAccess, subRange } from '../zip/random-access.ts';
import { listEntries, type ZipEntry } from '../zip/zip.ts';
import { entryRange, entryStream, readEntry } from '../zip/zip-entry.ts';
import { deliveryFile, mutationDelivery, type ObjectKind, readPeildatum } from './schema.ts';

/** An inner zip of one kind of object, and the entries that lead to it from the outer zip: 1, or 2 for a municipality. */
export type Member = { kind: ObjectKind; name: string; path: ZipEntry[] };

/**
 * Copies a deflated inner zip to where it can be read by range: memory, a temporary file, S3. `name` is the same for the
 * same entry, so that a spool may reuse a copy.
 */
export type Spool = (stream: Readable, name: string, size: number) => Promise<RandomAccess>;

/** Copies into memory; refuses an inner zip over 256 MB, which needs a spool to a file or to S3. */
export const memorySpool: Spool = async (stream, name, size) => {
  if (size > 256 * 1024 * 1024) throw new Error(`${name}: ${size} bytes are too many to inflate into memory`);
  return bufferAccess(Buffer.concat(await stream.toArray()));
};

/**
 * The members of an extract that addresses are made of, in the order NUM, OPR, WPL, and its snapshot date. Entries may
 * come in any order, beside others and junk; `Inactief`, `NietBag` and `InOnderzoek` are never among the members.
 * `peildatum` overrides the date of the Leveringsdocument, which may then be missing.
 * @throws ExtractError, for instance where the names of members have different dates
 */
export async function findMembers(
  source: RandomAccess,
  label: string,
  options: { spool?: Spool; peildatum?: string } = {},
): Promise<{ peildatum: string; members: Member[] }> {
  const entries = await listEntries(source, label);
  const peildatum = await peildatumOf(source, entries, label, options.peildatum);
  const members = membersAmong(entries, []);
  for (const entry of entries.filter(({ name }) => /^\d{4}GEM\d{8}\.zip$/.test(baseName(name)))) {
    const municipality = await innerZip(source, entry, label, options.spool ?? memorySpool);
    members.push(...membersAmong(await listEntries(municipality, `${label} > ${baseName(entry.name)}`), [entry]));
  }
  for (const kind of kinds) {
    if (!members.some((member) => member.kind === kind)) throw missing(label, kind, entries);
  }
  members.sort((a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1));
  if (new Set(members.map(({ name }) => dateIn(name))).size > 1) throw mixed(label, members);
  return { peildatum, members };
}

/** The inner zip of a member: in place where every zip around it is stored, else by way of `spool`. */
export async function memberAccess(
  source: RandomAccess,
  member: Member,
  label: string,
  spool: Spool = memorySpool,
): Promise<RandomAccess> {
  let inner = source;
  for (const entry of member.path) inner = await innerZip(inner, entry, label, spool);
  return inner;
}

/** The XML files of a member, in the order of its zip: every `.xml` but the junk of a Mac. */
export async function listXmlFiles(inner: RandomAccess, label: string): Promise<ZipEntry[]> {
  const files = (await listEntries(inner, label)).filter(({ name }) => name.endsWith('.xml') && !isJunk(name));
  if (files.length === 0) throw new ExtractError('missing_member', label, 'holds no XML file; get the extract again');
  return files;
}

/** The name of an entry of `label` in messages. */
export function fileLabel(label: string, member: Member, file?: ZipEntry): string {
  return [label, ...[...member.path, ...(file ? [file] : [])].map(({ name }) => baseName(name))].join(' > ');
}

const kinds: ObjectKind[] = ['NUM', 'OPR', 'WPL'];

function membersAmong(entries: ZipEntry[], path: ZipEntry[]): Member[] {
  return entries.flatMap((entry) => {
    const name = baseName(entry.name);
    const kind = /^\d{4}(NUM|OPR|WPL)\d{8}\.zip$/.exec(name)?.[1] as ObjectKind | undefined;
    return kind && !isJunk(entry.name) ? [{ kind, name, path: [...path, entry] }] : [];
  });
}

async function innerZip(outer: RandomAccess, entry: ZipEntry, label: string, spool: Spool): Promise<RandomAccess> {
  const file = `${label} > ${baseName(entry.name)}`;
  if (entry.method !== 'stored') return spool(entryStream(outer, entry, file), baseName(entry.name), entry.size);
  const { position, length } = await entryRange(outer, entry, file);
  return subRange(outer, position, length);
}

async function peildatumOf(
  source: RandomAccess,
  entries: ZipEntry[],
  label: string,
  given: string | undefined,
): Promise<string> {
  const delivery = entries.find(({ name }) => baseName(name) === deliveryFile && !isJunk(name));
  if (delivery) {
    const file = `${label} > ${deliveryFile}`;
    const own = readPeildatum(await readEntry(source, delivery, file), file);
    return given ?? own;
  }
  if (entries.some(({ name }) => /^\d{4}MUT.*\.zip$/.test(baseName(name)))) throw mutationDelivery(label);
  if (given !== undefined) return given;
  if (!entries.some(({ name }) => /^\d{4}(NUM|OPR|WPL|GEM)\d{8}\.zip$/.test(baseName(name))))
    throw foreign(label, entries);
  const problem = `has no ${deliveryFile}, so its snapshot date is unknown; get the extract again`;
  throw new ExtractError('missing_peildatum', label, problem);
}

function foreign(label: string, entries: ZipEntry[]): ExtractError {
  const [first = 'nothing', ...more] = entries.map(({ name }) => name);
  const held = more.length > 0 ? `${first} and ${more.length} more` : first;
  const problem = `is no extract of the BAG: it holds ${held}. Give lvbag-extract-nl.zip, or a BAGGEM of a municipality`;
  return new ExtractError('missing_member', label, problem);
}

function missing(label: string, kind: ObjectKind, entries: ZipEntry[]): ExtractError {
  const held = entries.slice(0, 20).map(({ name }) => name);
  const problem = `has no member 9999${kind}*.zip; it holds ${held.join(', ') || 'nothing'}`;
  return new ExtractError('missing_member', label, `${problem}. Give a full extract (lvbag-extract-nl.zip or BAGGEM)`);
}

/** Members of an older date still have what has ended since: together they would bring back what no longer exists. */
function mixed(label: string, members: Member[]): ExtractError {
  const held = members.slice(0, 20).map(({ name }) => name);
  const problem = `holds members of several dates: ${held.join(', ')}. Give an extract of one date`;
  return new ExtractError('mixed_peildatums', label, problem);
}

/** `08012026` of `9999NUM08012026.zip`. */
function dateIn(member: string): string {
  return member.slice(-'08012026.zip'.length);
}

/** What a Mac adds to a zip: `__MACOSX/.../._9999NUM.xml` is binary, whatever its name says. */
function isJunk(name: string): boolean {
  return name.startsWith('__MACOSX/') || baseName(name).startsWith('.');
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
