import { ExtractError } from '../extract-error.ts';
import { bufferAccess, type RandomAccess, subRange } from '../zip/random-access.ts';
import { entryRange, listEntries, readEntry, withEntry, type ZipEntry } from '../zip/zip.ts';
import { type Mutation, readMutations } from './mutations.ts';
import type { Problem } from './problem-report.ts';

/** The mutations of one delivery, usually of a day: the changes from the date `vanaf` to the date `tot`. */
export type MutationDelivery = { vanaf: string; tot: string; mutations: Mutation[]; problems: Problem[] };

/**
 * Reads a delivery of mutations, `BAGNLDM-13112021-14112021.zip`; errors name it `label`. Holds an inner zip in memory
 * if it is compressed a second time. @throws ExtractError for anything but a complete delivery in the known schema
 * whose parts agree with each other
 */
export async function readMutationDelivery(source: RandomAccess, label: string): Promise<MutationDelivery> {
  const member = memberOf(await listEntries(source, label), label);
  const inner = await innerZip(source, member, label);
  const name = baseName(member.name);
  const files = xmlFilesOf(await listEntries(inner, `${label} > ${name}`), `${label} > ${name}`);
  const delivery: MutationDelivery = { ...datesIn(name), mutations: [], problems: [] };
  for (const entry of files) {
    const file = `${label} > ${name} > ${baseName(entry.name)}`;
    const { vanaf, tot, mutations, problems } = await withEntry(inner, entry, file, (xml) => readMutations(xml, file));
    if (vanaf !== delivery.vanaf || tot !== delivery.tot) {
      throw contradicts(
        file,
        `it leads from ${vanaf} to ${tot}, and its name says ${delivery.vanaf} to ${delivery.tot}`,
      );
    }
    for (const mutation of mutations) delivery.mutations.push(mutation);
    delivery.problems.push(...problems);
  }
  return delivery;
}

const memberPattern = /^\d{4}MUT(\d{2})(\d{2})(\d{4})-(\d{2})(\d{2})(\d{4})\.zip$/;

function memberOf(entries: ZipEntry[], label: string): ZipEntry {
  const found = entries.filter(({ name }) => memberPattern.test(baseName(name)) && !name.startsWith('__MACOSX/'));
  const [member] = found;
  if (member && found.length === 1) return member;
  if (found.length > 1) {
    throw contradicts(label, `it holds ${found.map(({ name }) => name).join(' and ')}; one is expected`);
  }
  const [first = 'nothing', ...more] = entries.map(({ name }) => name);
  const held = more.length > 0 ? `${first} and ${more.length} more` : first;
  const hint = entries.some(({ name }) => /^\d{4}(NUM|GEM)\d{8}\.zip$/.test(baseName(name)))
    ? 'It is a full extract: pass it with --extract.'
    : 'Use a delivery of mutations such as BAGNLDM-13112021-14112021.zip.';
  throw new ExtractError('missing_member', label, `is not a delivery of mutations: it holds ${held}. ${hint}`);
}

function datesIn(name: string): { vanaf: string; tot: string } {
  const [, day, month, year, lastDay, lastMonth, lastYear] = memberPattern.exec(name) ?? [];
  return { vanaf: `${year}-${month}-${day}`, tot: `${lastYear}-${lastMonth}-${lastDay}` };
}

/** The XML files in the order of their numbers, which must be 1 to the last one. */
function xmlFilesOf(entries: ZipEntry[], label: string): ZipEntry[] {
  const numbered = entries.flatMap((entry) => {
    const number = /-(\d{6})\.xml$/i.exec(entry.name)?.[1];
    return number && !baseName(entry.name).startsWith('.') ? [{ entry, number: Number(number) }] : [];
  });
  numbered.sort((a, b) => a.number - b.number);
  const wrong = numbered.findIndex(({ number }, i) => number !== i + 1);
  if (numbered.length === 0 || wrong >= 0) {
    const numbers = numbered.map(({ number }) => number).join(', ') || 'none';
    throw new ExtractError(
      'missing_member',
      label,
      `holds the parts ${numbers}, not 1 to the last; get the file again`,
    );
  }
  return numbered.map(({ entry }) => entry);
}

async function innerZip(outer: RandomAccess, entry: ZipEntry, label: string): Promise<RandomAccess> {
  const file = `${label} > ${baseName(entry.name)}`;
  if (entry.method !== 'stored') return bufferAccess(await readEntry(outer, entry, file));
  const { position, length } = await entryRange(outer, entry, file);
  return subRange(outer, position, length);
}

function contradicts(file: string, problem: string): ExtractError {
  return new ExtractError('invalid_mutations', file, `contradicts itself: ${problem}. Get the file again`);
}

function baseName(name: string): string {
  return name.slice(name.lastIndexOf('/') + 1);
}
