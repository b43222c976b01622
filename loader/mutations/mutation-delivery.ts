/** Deliveries of mutations: the zip, and what its documents say that it is. */

import {
  areaText,
  baseName,
  deliveryFile,
  findDeliveryDocument,
  futureDelivery,
  isCalendarDay,
  isFuture,
  isJunk,
} from '../bag/delivery-document.ts';
import { heldBy, innerZip, listXmlFiles } from '../bag/extract-members.ts';
import { readGemeenteRelaties, relatieFile } from '../bag/gemeente-relaties.ts';
import type { Problem } from '../bag/problem-report.ts';
import { dayOf, type GemeenteRelatie } from '../bag/voorkomen.ts';
import { ExtractError } from '../load-error.ts';
import type { RandomAccess } from '../zip/random-access.ts';
import { hashOf, listEntries, withEntry, type ZipEntry } from '../zip/zip.ts';
import { type Mutation, readMutations } from './read-mutations.ts';

/** The identity of a delivery, by its own documents. */
export type DeliveryIdentity = {
  /** It leads from this date to `tot`. */
  vanaf: string;
  tot: string;
  /** The codes of the gemeenten that it covers, in order; none for the whole country. */
  gemeenten: string[];
  /**
   * Identifies its XML: another zip of the same files has the same hash, a corrected delivery has
   * another.
   */
  hash: string;
  /**
   * When its Leveringsdocument was written, as `ZipEntry` counts: of two for one period the later
   * counts.
   */
  made: number;
};

/** The mutations of one delivery, usually of a day. */
export type MutationDelivery = DeliveryIdentity & {
  mutations: Mutation[];
  /** All relations that hold on its last date or later. `null` if it has no file of relations. */
  relaties: GemeenteRelatie[] | null;
  problems: Problem[];
};

/** A period and an area, as a document says them. */
type DeliveryScope = Omit<DeliveryIdentity, 'hash' | 'made'>;

/**
 * Reads a delivery of mutations, `BAGNLDM-13112021-14112021.zip`; errors name it `label`. Holds an
 * inner zip in memory if it is compressed a second time. Its Leveringsdocument, the names of its
 * files and their headers must agree on its dates and its area. @throws ExtractError for anything
 * but a complete delivery in the known schema, up to today
 */
export async function readMutationDelivery(
  source: RandomAccess,
  label: string,
  { now = Date.now(), objecten = false }: { now?: number; objecten?: boolean } = {},
): Promise<MutationDelivery> {
  const entries = await listEntries(source, label);
  const member = memberOf(entries, label);
  const name = baseName(member.name);
  let scope = await scopeInDocument(source, entries, label);
  let by = deliveryFile;
  requireSameDates(scope, name, label);
  const inner = await innerZip(source, member, label);
  const files = await listXmlFiles(inner, `${label} > ${name}`);
  const mutations: Mutation[] = [];
  const problems: Problem[] = [];
  for (const entry of files) {
    const file = `${label} > ${name} > ${baseName(entry.name)}`;
    const { vanaf, tot, gemeenten, ...read } = await withEntry(inner, entry, file, (xml) =>
      readMutations(xml, file, { objecten }),
    );
    const header = { vanaf, tot, gemeenten };
    if (!scope) {
      requireSameDates(header, name, label);
      [scope, by] = [header, baseName(entry.name)];
    }
    if (scopeText(header) !== scopeText(scope)) {
      throw contradicts(file, `it is ${scopeText(header)}, but ${by} says ${scopeText(scope)}`);
    }
    for (const mutation of read.mutations) mutations.push(mutation);
    problems.push(...read.problems);
  }
  if (!scope) throw contradicts(label, 'it says of no period that it covers it');
  if (isFuture(scope.tot, now)) throw futureDelivery(scope.tot, label, now);
  const { vanaf, tot, gemeenten } = scope;
  const isRelatieMember = (name: string) => name.startsWith(relatieFile) && name.endsWith('.zip');
  const relatieMember = onlyOne(entries, isRelatieMember, label);
  let relaties: GemeenteRelatie[] | null = null;
  if (relatieMember) {
    const read = await readRelaties(source, relatieMember, label, tot);
    relaties = read.relaties;
    problems.push(...read.problems);
    files.push(...read.files);
  }
  const made = (
    entries.find(({ name: path }) => baseName(path) === deliveryFile && !isJunk(path)) ?? member
  ).modified;
  return { vanaf, tot, gemeenten, hash: hashOf(files), made, mutations, relaties, problems };
}

/** Reads the relations as they are after the delivery. @throws ExtractError */
async function readRelaties(
  source: RandomAccess,
  member: ZipEntry,
  label: string,
  tot: string,
): Promise<{ relaties: GemeenteRelatie[]; problems: Problem[]; files: ZipEntry[] }> {
  const name = `${label} > ${baseName(member.name)}`;
  const inner = await innerZip(source, member, label);
  const relaties: GemeenteRelatie[] = [];
  const problems: Problem[] = [];
  const files = await listXmlFiles(inner, name);
  for (const entry of files) {
    const file = `${name} > ${baseName(entry.name)}`;
    const read = await withEntry(inner, entry, file, (xml) => readGemeenteRelaties(xml, file, tot));
    for (const relatie of read.relaties) if (relatie.eind > dayOf(tot)) relaties.push(relatie);
    problems.push(...read.problems);
  }
  return { relaties, problems, files };
}

/** `of 2021-11-13 to 2021-11-14 for the whole country`. */
export function scopeText({ vanaf, tot, gemeenten }: DeliveryScope): string {
  return `of ${vanaf} to ${tot} for ${areaText(gemeenten)}`;
}

/**
 * The contents of the Leveringsdocument; `null` for a delivery without one, whose file headers
 * count instead.
 */
async function scopeInDocument(
  source: RandomAccess,
  entries: readonly ZipEntry[],
  label: string,
): Promise<DeliveryScope | null> {
  const document = await findDeliveryDocument(source, entries, label);
  if (!document) return null;
  const { variant, standTechnischeDatum, vanaf, tot, gemeenten } = document;
  const file = `${label} > ${deliveryFile}`;
  if (variant !== 'MUT-Extract') {
    const problem = `a delivery of kind ${variant || 'unknown'}; MUT-Extract is needed`;
    throw new ExtractError('invalid_mutations', file, problem);
  }
  for (const date of [vanaf, tot, standTechnischeDatum]) {
    if (!isCalendarDay(date)) {
      throw new ExtractError(
        'invalid_mutations',
        file,
        `has no valid dates (from and to): '${date}'`,
      );
    }
  }
  if (tot !== standTechnischeDatum || vanaf >= tot) {
    throw contradicts(
      file,
      `it covers ${vanaf} to ${tot}, and its StandTechnischeDatum is ${standTechnischeDatum}`,
    );
  }
  return { vanaf, tot, gemeenten };
}

/** @throws ExtractError if a document has other dates than the name of the inner zip */
function requireSameDates(scope: DeliveryScope | null, name: string, label: string): void {
  const { vanaf, tot } = datesIn(name);
  if (!scope || (scope.vanaf === vanaf && scope.tot === tot)) return;
  throw contradicts(
    `${label} > ${name}`,
    `it covers ${scope.vanaf} to ${scope.tot}, but its name says ${vanaf} to ${tot}`,
  );
}

const memberPattern = /^\d{4}MUT(\d{2})(\d{2})(\d{4})-(\d{2})(\d{2})(\d{4})\.zip$/;

function memberOf(entries: ZipEntry[], label: string): ZipEntry {
  const names = entries
    .map(({ name }) => baseName(name))
    .filter((name) => memberPattern.test(name));
  const periods = new Set(names.map((name) => Object.values(datesIn(name)).join()));
  if (periods.size > 1) {
    const problem = `holds more than one period, ${names.join(', ')}. Use a delivery for each`;
    throw new ExtractError('invalid_mutations', label, problem);
  }
  const member = onlyOne(entries, (name) => memberPattern.test(name), label);
  if (member) return member;
  const hint = entries.some(({ name }) => /^\d{4}(NUM|GEM)\d{8}\.zip$/.test(baseName(name)))
    ? 'It is a full extract: pass it with --extract.'
    : 'Use a delivery of mutations such as BAGNLDM-13112021-14112021.zip.';
  const problem = `is not a delivery of mutations: it holds ${heldBy(entries)}. ${hint}`;
  throw new ExtractError('missing_member', label, problem);
}

/** The entry with such a name, if any. @throws ExtractError for two such entries */
function onlyOne(
  entries: ZipEntry[],
  isIt: (name: string) => boolean,
  label: string,
): ZipEntry | undefined {
  const [entry, other] = entries.filter(({ name }) => isIt(baseName(name)) && !isJunk(name));
  if (other) throw contradicts(label, `it holds ${entry?.name} and ${other.name}; one is expected`);
  return entry;
}

function datesIn(name: string): { vanaf: string; tot: string } {
  const [, day, month, year, lastDay, lastMonth, lastYear] = memberPattern.exec(name) ?? [];
  return { vanaf: `${year}-${month}-${day}`, tot: `${lastYear}-${lastMonth}-${lastDay}` };
}

function contradicts(file: string, problem: string): ExtractError {
  return new ExtractError(
    'invalid_mutations',
    file,
    `contradicts itself: ${problem}. Get the file again`,
  );
}
