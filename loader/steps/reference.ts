import { zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { addProblem, emptyReport, type ProblemReport } from '../bag/problem-report.ts';
import { readOpenbareRuimten, readWoonplaatsen } from '../bag/read-reference.ts';
import type { OpenbareRuimte, Reference, Woonplaats } from '../bag/voorkomen.ts';
import { extractName, type Load } from '../dataset/load.ts';
import { fileLabel, listXmlFiles, type Member } from '../pipeline/extract-members.ts';
import type { RandomAccess } from '../pipeline/random-access.ts';
import type { ZipEntry } from '../pipeline/zip.ts';
import { entryStream, readEntry } from '../pipeline/zip-entry.ts';
import { noProgress, type Progress } from '../progress.ts';
import { getJson, getObject, openObject, putJson, type Storage } from '../storage/storage.ts';
import { paths } from './paths.ts';

/** The XML files that one worker reads: `member` is the place of their zip among the members of the load. */
export type Part = { part: string; member: number; files: ZipEntry[] };

/** XML of one part; the country's 16 GB make some 125 parts of ten files. */
const usualPartBytes = 128 * 1024 * 1024;

/**
 * Reads the current streets and places into one file that every worker can hold, and divides the nummeraanduidingen
 * into parts.
 */
export async function reference(
  storage: Storage,
  loadId: string,
  { partBytes = usualPartBytes, progress = noProgress }: { partBytes?: number; progress?: Progress } = {},
): Promise<{ parts: number }> {
  if (await storage.open(paths.parts(loadId))) {
    return { parts: (await getJson<Part[]>(storage, paths.parts(loadId))).length };
  }
  const load = await getJson<Load>(storage, paths.load(loadId));
  const shown = progress.begin('reference', { rows: 0 });
  const openbareRuimten: OpenbareRuimte[] = [];
  const woonplaatsen: Woonplaats[] = [];
  const problems = emptyReport();
  const parts: Part[] = [];
  for (const [index, member] of load.members.entries()) {
    const { zip, files } = await openMember(storage, load, index);
    if (member.kind === 'NUM') {
      for (const group of inParts(files, partBytes)) {
        parts.push({ part: String(parts.length).padStart(4, '0'), member: index, files: group });
      }
      continue;
    }
    for (const file of files) {
      const label = fileLabel(extractName(load), member, file);
      const counts =
        member.kind === 'OPR'
          ? readOpenbareRuimten(await readEntry(zip, file, label), label, load.state, (o) => openbareRuimten.push(o))
          : await readWoonplaatsen(entryStream(zip, file, label), label, load.state, (w) => woonplaatsen.push(w));
      for (const problem of counts.problems) addProblem(problems, problem);
      shown.advance({ rows: counts.voorkomens, bytes: file.compressedSize });
    }
  }
  const stored: StoredReference = { openbareRuimten, woonplaatsen, problems };
  await storage.put(paths.reference(loadId), zstdCompressSync(JSON.stringify(stored)));
  await putJson(storage, paths.parts(loadId), parts);
  shown.end();
  return { parts: parts.length };
}

type StoredReference = { openbareRuimten: OpenbareRuimte[]; woonplaatsen: Woonplaats[]; problems: ProblemReport };

/** The current streets and places, and what was wrong with others. */
export async function loadReference(
  storage: Storage,
  loadId: string,
): Promise<{ reference: Reference; problems: ProblemReport }> {
  const packed = await getObject(storage, paths.reference(loadId));
  const stored = JSON.parse(zstdDecompressSync(packed).toString()) as StoredReference;
  return {
    reference: {
      openbareRuimten: new Map(stored.openbareRuimten.map((o) => [o.identificatie, o])),
      woonplaatsen: new Map(stored.woonplaatsen.map((w) => [w.identificatie, w])),
    },
    problems: stored.problems,
  };
}

/** A staged inner zip and the XML files in it. */
async function openMember(
  storage: Storage,
  load: Load,
  index: number,
): Promise<{ zip: RandomAccess; files: ZipEntry[] }> {
  const member = load.members[index] as Member;
  const zip = await openObject(storage, paths.member(load.id, index, member.name));
  return { zip, files: await listXmlFiles(zip, member.name) };
}

function* inParts(files: ZipEntry[], partBytes: number): Generator<ZipEntry[]> {
  let part: ZipEntry[] = [];
  let bytes = 0;
  for (const file of files) {
    if (part.length > 0 && bytes + file.size > partBytes) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(file);
    bytes += file.size;
  }
  if (part.length > 0) yield part;
}
