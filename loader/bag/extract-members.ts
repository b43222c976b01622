import type { Readable } from 'node:stream';
import { ExtractError } from '../load-error.ts';
import { bufferAccess, type RandomAccess, subRange } from '../zip/random-access.ts';
import {
  entryRange,
  entryStream,
  hashOf,
  listEntries,
  readEntry,
  type ZipEntry,
} from '../zip/zip.ts';
import {
  areaText,
  baseName,
  type DeliveryDocument,
  deliveryFile,
  findDeliveryDocument,
  futureDelivery,
  isCalendarDay,
  isFuture,
  isJunk,
} from './delivery-document.ts';
import { type ObjectenKind, objectenKinds, type StandKind } from './elements.ts';
import { relatieFile } from './gemeente-relaties.ts';

/**
 * The contents of an inner zip: objects of one kind, or the relations between woonplaatsen and
 * gemeenten.
 */
export type MemberKind = StandKind | typeof relatieFile;

/**
 * An inner zip of one kind, and the entries leading to it from the outer zip: 1, or 2 for a
 * municipality.
 */
export type Member = { kind: MemberKind; name: string; path: ZipEntry[] };

/**
 * Copies a deflated inner zip so that it can be read by range. `name` identifies the contents, for
 * reuse.
 */
export type Spool = (stream: Readable, name: string, size: number) => Promise<RandomAccess>;

/**
 * The members of an extract with nummeraanduidingen, openbare ruimten, woonplaatsen (NUM, OPR, WPL,
 * in this order) and the relations of woonplaatsen to gemeenten, which may be missing; with
 * `objecten` also members with adresseerbare objecten (VBO, LIG, STA) after them; its peildatum,
 * and the codes of the gemeenten that it covers (none: the whole country). Entries may be in any
 * order, among other entries; `Inactief`, `NietBag` and `InOnderzoek` are never members.
 * @throws ExtractError, also if the extract contradicts itself: a member or a Leveringsdocument
 * twice, or different dates
 */
export async function findMembers(
  source: RandomAccess,
  label: string,
  options: { spool?: Spool; now?: number; objecten?: boolean } = {},
): Promise<{ peildatum: string; members: Member[]; gemeenten: string[] }> {
  const entries = await listEntries(source, label);
  const { peildatum, gemeenten } = await described(source, entries, label);
  if (isFuture(peildatum, options.now)) throw futureDelivery(peildatum, label, options.now);
  const required = options.objecten ? [...addressKinds, ...objectenKinds] : addressKinds;
  const kinds: MemberKind[] = [
    ...addressKinds,
    relatieFile,
    ...(options.objecten ? objectenKinds : []),
  ];
  const members = membersAmong(entries, [], kinds);
  for (const entry of entries.filter(({ name }) => /^\d{4}GEM\d{8}\.zip$/.test(baseName(name)))) {
    const municipality = await innerZip(source, entry, label, options.spool);
    members.push(
      ...membersAmong(
        await listEntries(municipality, `${label} > ${baseName(entry.name)}`),
        [entry],
        kinds,
      ),
    );
  }
  for (const kind of required) {
    if (!members.some((member) => member.kind === kind)) throw missing(label, kind, entries);
  }
  members.sort(
    (a, b) => kinds.indexOf(a.kind) - kinds.indexOf(b.kind) || (a.name < b.name ? -1 : 1),
  );
  refuseTwice(members, label);
  refuseOtherDates(members, peildatum, label);
  refuseOtherArea(members, gemeenten, required, label);
  return { peildatum, members, gemeenten: gemeenten.length > 0 ? gemeenten : codesOf(members) };
}

/** The municipality codes in the names of members; `9999` is the whole country. */
function codesOf(members: readonly Member[]): string[] {
  const codes = new Set(members.filter(isOfArea).map(({ name }) => name.slice(0, 4)));
  return codes.has('9999') ? [] : [...codes].sort();
}

/**
 * Whether a member's name tells the area that it covers: relations always cover the whole country.
 */
export function isOfArea({ kind }: Member): boolean {
  return kind !== relatieFile;
}

/**
 * The inner zip of a member: in place if every zip around it is stored, else through `spool` or in
 * memory.
 */
export async function memberAccess(
  source: RandomAccess,
  member: Member,
  label: string,
  spool?: Spool,
): Promise<RandomAccess> {
  let inner = source;
  for (const entry of member.path) inner = await innerZip(inner, entry, label, spool);
  return inner;
}

/**
 * Identifies the XML of each member, however it is zipped, with its kind. @throws what
 * `listXmlFiles` throws
 */
export async function contentsOfMembers(
  source: RandomAccess,
  members: readonly Member[],
  label: string,
  spool?: Spool,
): Promise<[MemberKind, hash: string][]> {
  const contents: [MemberKind, string][] = [];
  for (const member of members) {
    const inner = await memberAccess(source, member, label, spool);
    contents.push([member.kind, hashOf(await listXmlFiles(inner, fileLabel(label, member)))]);
  }
  return contents;
}

/** The XML files of a member, by name. @throws ExtractError for a missing or repeated file */
export async function listXmlFiles(inner: RandomAccess, label: string): Promise<ZipEntry[]> {
  const refused = (code: 'missing_member' | 'duplicate_member', what: string) =>
    new ExtractError(code, label, `${what}; get the file again`);
  const all = (await listEntries(inner, label)).filter(
    ({ name }) => /\.xml$/i.test(name) && !isJunk(name),
  );
  if (all.length === 0) throw refused('missing_member', 'holds no XML file');
  const files = all.toSorted((a, b) => (baseName(a.name) < baseName(b.name) ? -1 : 1));
  // The header of a file without objects has as many bytes.
  const written = files.filter(({ size }) => size > 2_500);
  for (const [first, copy] of Map.groupBy(
    written,
    ({ crc32, size }) => `${crc32} ${size}`,
  ).values()) {
    if (!first || !copy) continue;
    throw refused(
      'duplicate_member',
      `holds ${baseName(copy.name)}, which is a copy of ${baseName(first.name)}`,
    );
  }
  const numbers = files.flatMap(({ name }) => /[-_](\d{6})\.xml$/i.exec(name)?.[1] ?? []).sort();
  const wrong = numbers.findIndex((number, index) => Number(number) !== index + 1);
  if (wrong < 0) return files;
  if (Number(numbers[wrong]) === wrong) {
    throw refused('duplicate_member', `holds file ${numbers[wrong]} twice`);
  }
  const lacking = String(wrong + 1).padStart(6, '0');
  throw refused('missing_member', `lacks file ${lacking} of ${Number(numbers.at(-1))}`);
}

/** The name of an entry of `label` in messages. */
export function fileLabel(label: string, member: Member, file?: ZipEntry): string {
  return [
    label,
    ...[...member.path, ...(file ? [file] : [])].map(({ name }) => baseName(name)),
  ].join(' > ');
}

const addressKinds: StandKind[] = ['NUM', 'OPR', 'WPL'];

function membersAmong(
  entries: ZipEntry[],
  path: ZipEntry[],
  kinds: readonly MemberKind[],
): Member[] {
  return entries.flatMap((entry) => {
    const name = baseName(entry.name);
    const [, object, relations] =
      /^(?:\d{4}([A-Z]{3})|(GEM-WPL-RELATIE)-)\d{8}\.zip$/.exec(name) ?? [];
    const kind = kinds.find((known) => known === (object ?? relations));
    return kind && !isJunk(entry.name) && !unused.test(entry.name)
      ? [{ kind, name, path: [...path, entry] }]
      : [];
  });
}

/** A zip within a zip: in place if it is stored, else through `spool` or in memory. */
export async function innerZip(
  outer: RandomAccess,
  entry: ZipEntry,
  label: string,
  spool?: Spool,
): Promise<RandomAccess> {
  const file = `${label} > ${baseName(entry.name)}`;
  if (entry.method !== 'stored') {
    if (!spool) return bufferAccess(await readEntry(outer, entry, file));
    return spool(entryStream(outer, entry, file), spoolName(entry), entry.size);
  }
  const { position, length } = await entryRange(outer, entry, file);
  return subRange(outer, position, length);
}

/**
 * Has the CRC-32: a server may replace an extract by one of the same size without any other sign.
 */
function spoolName({ crc32, name }: ZipEntry): string {
  return `${crc32.toString(16).padStart(8, '0')}-${baseName(name)}`;
}

async function described(
  source: RandomAccess,
  entries: ZipEntry[],
  label: string,
): Promise<{ peildatum: string; gemeenten: string[] }> {
  const document = await findDeliveryDocument(source, entries, label);
  if (document) {
    return {
      peildatum: peildatumOf(document, `${label} > ${deliveryFile}`),
      gemeenten: document.gemeenten,
    };
  }
  if (entries.some(({ name }) => /^\d{4}MUT.*\.zip$/.test(baseName(name)))) {
    throw mutationDelivery(label);
  }
  if (!entries.some(({ name }) => /^\d{4}(NUM|OPR|WPL|GEM)\d{8}\.zip$/.test(baseName(name)))) {
    throw foreign(label, entries);
  }
  const problem = `has no ${deliveryFile}, so its peildatum is unknown; get the extract again`;
  throw new ExtractError('missing_peildatum', label, problem);
}

/**
 * The peildatum of an extract. @throws ExtractError for a delivery that is not the full history
 * (LVC)
 */
function peildatumOf(
  { variant, standTechnischeDatum: date }: DeliveryDocument,
  file: string,
): string {
  if (variant === 'MUT-Extract') throw mutationDelivery(file);
  if (variant !== 'LVC-Extract') {
    throw new ExtractError(
      'unknown_schema',
      file,
      `a delivery of kind ${variant || 'unknown'}; LVC-Extract is needed`,
    );
  }
  if (!isCalendarDay(date)) {
    throw new ExtractError(
      'missing_peildatum',
      file,
      `its StandTechnischeDatum is not a date: '${date}'`,
    );
  }
  return date;
}

function mutationDelivery(file: string): ExtractError {
  const problem =
    'a delivery of mutations; use a full extract (lvbag-extract-nl.zip, BAGNLDL or BAGGEM)';
  return new ExtractError('mutation_delivery', file, problem);
}

/** The contents of an unknown zip: its first entry, and the number of other entries. */
export function heldBy(entries: readonly ZipEntry[]): string {
  const [first = 'nothing', ...more] = entries.map(({ name }) => name);
  return more.length > 0 ? `${first} and ${more.length} more` : first;
}

function foreign(label: string, entries: ZipEntry[]): ExtractError {
  const problem = `is not an extract of the BAG: it holds ${heldBy(entries)}. Use lvbag-extract-nl.zip, or the BAGGEM of a municipality`;
  return new ExtractError('missing_member', label, problem);
}

function missing(label: string, kind: StandKind, entries: ZipEntry[]): ExtractError {
  const held = entries.slice(0, 20).map(({ name }) => name);
  const problem = `has no member 9999${kind}*.zip; it holds ${held.join(', ') || 'nothing'}`;
  const whole = 'Use a whole lvbag-extract-nl.zip, or the BAGGEM of a municipality';
  const without = objectenKinds.includes(kind as ObjectenKind)
    ? ', or load it without objects (dataset.objecten, or --objecten of npm start)'
    : '';
  return new ExtractError('missing_member', label, `${problem}. ${whole}${without}`);
}

function refuseTwice(members: Member[], label: string): void {
  const twice = members.find(
    ({ name }, index) => members.findIndex((member) => member.name === name) < index,
  );
  if (!twice) return;
  const problem = `holds ${twice.name} twice, so its contents are unknown; get the extract again`;
  throw new ExtractError('duplicate_member', label, problem);
}

/** Members of an older date have objects that have ended since: combined, they would come back. */
function refuseOtherDates(members: Member[], peildatum: string, label: string): void {
  const dates = new Set(
    members.map(({ name }) => name.replace(/^.*(\d\d)(\d\d)(\d{4})\.zip$/, '$3-$2-$1')),
  );
  if (dates.size === 1 && dates.has(peildatum)) return;
  const held = members.slice(0, 20).map(({ name }) => name);
  const problem =
    dates.size > 1
      ? `holds members with different dates: ${held.join(', ')}. Use an extract of one date`
      : `is of ${peildatum} by its ${deliveryFile}, but holds ${held.join(', ')}; get the extract again`;
  throw new ExtractError('mixed_peildatums', label, problem);
}

/** Refuses an extract that lacks a member for a municipality in its Leveringsdocument. */
function refuseOtherArea(
  members: Member[],
  gemeenten: string[],
  kinds: readonly StandKind[],
  label: string,
): void {
  if (codesOf(members).length === 0) return;
  const names = gemeenten.flatMap((code) => kinds.map((kind) => `${code}${kind}`));
  const lacking = names.filter((name) => !members.some((member) => member.name.startsWith(name)));
  if (lacking.length === 0) return;
  const problem = `is of ${areaText(gemeenten)} by its ${deliveryFile}, but has no ${lacking.join(', ')}; get the extract again`;
  throw new ExtractError('missing_member', label, problem);
}

/** Entries in the folders of objects that are not used for addresses. */
const unused = /(?:Inactief|NietBag|InOnderzoek)[^/]*\//i;
