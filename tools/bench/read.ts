import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';
import { findMembers } from '../../loader/bag/extract-members.ts';
import { readXml } from '../../loader/bag/read-stands.ts';
import type { Load, Slice } from '../../loader/dataset/load.ts';
import { releaseMemory } from '../../loader/release-memory.ts';
import { step as extract } from '../../loader/steps/extract.ts';
import { step as reference } from '../../loader/steps/reference.ts';
import { step as stage } from '../../loader/steps/stage.ts';
import { noProgress, type StepContext } from '../../loader/steps/step.ts';
import { fileSource, folderStorage } from '../../loader/storage/files.ts';
import { getJson, openObject, paths, putJson, type Storage } from '../../loader/storage/storage.ts';
import type { Extracted } from '../../loader/storage/work.ts';
import type { RandomAccess } from '../../loader/zip/random-access.ts';
import { entryRange, readEntry } from '../../loader/zip/zip.ts';
import type { Benchmark } from './benchmark.ts';
import { generatedExtract } from './generator/generate.ts';
import { cpuOf, median, rounded } from './measure.ts';

/** Enough for the compiler of the engine to have seen everything. */
const warmUpSlices = 2;
const parsedFiles = 2;
const fastRounds = 20;
/**
 * The clock of a CPU is coarse: a small extract is read again until inflating it has taken this
 * long.
 */
const leastMilliseconds = 2_000;

/**
 * CPU of the loader's own extract step (inflate, parse, validity, join, rows by segment, stored),
 * against inflating the same entries into buffers of their known size, in turn, in one thread; at
 * 1/100, 1/10 and 1 of the country as far as `--scale` goes. And the megabytes a second of reading
 * alone, by the fast and the strict reader (saxes), and of GDAL's LVBAG driver, where that is
 * installed, over a few files. And the memory of a whole load on all cores, from zip to snapshot.
 */
export const benchmark: Benchmark = {
  async run({ extract, scale }) {
    if (extract) return { extract, ...(await measure(extract)) };
    const scales = [0.01, 0.1, 1].filter((smaller) => smaller < scale).concat(scale);
    const figures = [];
    for (const share of scales) {
      const { path } = await generatedExtract({ scale: share });
      figures.push({ scale: share, ...(await measure(path)) });
    }
    const [{ scale: _, ...largest } = { scale: 0 }] = figures.slice(-1);
    return { extract: `generated, ${scale} of the country`, ...largest, by_scale: figures };
  },
  plot: (figures) => ({
    title: 'XML read by one core',
    unit: 'MB/s',
    bars: [
      {
        label: 'inflate alone',
        value: Number(figures.mb_per_cpu_second_inflate),
        isReference: true,
      },
      {
        label: 'inflate alone, memory released',
        value: Number(figures.mb_per_cpu_second_inflate_and_release),
      },
      {
        label: 'extract: inflate, parse, join, segment',
        value: Number(figures.mb_per_cpu_second_extract),
      },
      { label: 'reading alone', value: Number(figures.mb_per_cpu_second_parse) },
      { label: 'saxes (our strict reader)', value: Number(figures.mb_per_cpu_second_strict) },
      ...(figures.mb_per_cpu_second_ogr2ogr === null
        ? []
        : [{ label: 'ogr2ogr (GDAL LVBAG)', value: Number(figures.mb_per_cpu_second_ogr2ogr) }]),
    ],
  }),
};

async function measure(path: string) {
  const folder = mkdtempSync(join(tmpdir(), 'bag-adres-read-'));
  try {
    const storage = folderStorage(folder);
    const load = await prepared(storage, path);
    const slices = await getJson<Slice[]>(storage, paths.slices(load.id));
    const warmUp = slices
      .slice(0, warmUpSlices)
      .map((slice) => ({ ...slice, slice: `warm-up-${slice.slice}` }));
    await extractAll(storage, load, warmUp);
    for (const inflate of [inflateFresh, inflateAndRelease]) {
      await cpuOfInflating(storage, load, warmUp, inflate);
    }

    const cpu = { inflate: 0, released: 0, extract: 0 };
    let rounds = 0;
    while (cpu.inflate < leastMilliseconds) {
      rounds++;
      const measured = slices.map((slice) => ({ ...slice, slice: `${rounds}-${slice.slice}` }));
      cpu.inflate += await cpuOfInflating(storage, load, slices, inflateFresh);
      cpu.released += await cpuOfInflating(storage, load, slices, inflateAndRelease);
      cpu.extract += await cpuOf(() => extractAll(storage, load, measured));
    }
    for (const way of ['inflate', 'released', 'extract'] as const) cpu[way] /= rounds;

    const total = { bytes: 0, voorkomens: 0 };
    for (const slice of slices) {
      const { voorkomens } = await getJson<Extracted>(
        storage,
        paths.extracted(load.id, `1-${slice.slice}`),
      );
      total.voorkomens += voorkomens;
      for (const { size } of slice.files) total.bytes += size;
    }
    const megabytesPerSecond = (milliseconds: number, bytes = total.bytes) =>
      rounded(bytes / milliseconds / 1_000);
    const reading = await parsed(storage, load, slices);
    return {
      files: slices.reduce((count, slice) => count + slice.files.length, 0),
      xml_mb: rounded(total.bytes / 1e6),
      voorkomens: total.voorkomens,
      cpu_ratio_to_inflate: rounded(cpu.extract / cpu.inflate),
      cpu_seconds_inflate: rounded(cpu.inflate / 1_000),
      cpu_seconds_extract: rounded(cpu.extract / 1_000),
      mb_per_cpu_second_inflate: megabytesPerSecond(cpu.inflate),
      mb_per_cpu_second_inflate_and_release: megabytesPerSecond(cpu.released),
      mb_per_cpu_second_extract: megabytesPerSecond(cpu.extract),
      mb_per_cpu_second_parse: megabytesPerSecond(reading.fastCpu, reading.bytes),
      mb_per_cpu_second_strict: megabytesPerSecond(reading.strictCpu, reading.bytes),
      mb_per_cpu_second_ogr2ogr: ogr2ogrMegabytesPerSecond(folder, reading.example),
      ...zipToSnapshot(path),
    };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * The steps of a load that come before: its members by themselves, streets and places, and the
 * slices of the work.
 */
async function prepared(storage: Storage, path: string): Promise<Load> {
  const source = await fileSource(path);
  if (!source?.access) throw new Error(`${path} can't be read`);
  const { peildatum, members } = await findMembers(source.access, path);
  await source.close();
  const load: Load = {
    id: 'bench',
    kind: 'extract',
    peildatum,
    base: null,
    target: null,
    days: [],
    extract: null,
    source: source.version,
    members,
    identity: 'bench',
  };
  await putJson(storage, paths.load(load.id), load);
  for (const step of [stage, reference]) {
    await step.run(contextOf(storage), { load: load.id, owner: '' });
  }
  return load;
}

/** The context of steps that use the storage alone. */
function contextOf(storage: Storage): StepContext {
  return {
    storage,
    options: {},
    progress: noProgress,
    onDone: () => undefined,
  } as Partial<StepContext> as StepContext;
}

async function extractAll(storage: Storage, load: Load, slices: Slice[]): Promise<void> {
  const context = contextOf(storage);
  for (const slice of slices) {
    await extract.each(context, { load: load.id, owner: '' }, slice, undefined);
  }
}

/** The CPU of inflating alone: the deflated bytes are read before the clock runs. */
async function cpuOfInflating(
  storage: Storage,
  load: Load,
  slices: Slice[],
  inflate: (compressed: Buffer, size: number) => void,
): Promise<number> {
  let cpu = 0;
  for (const slice of slices) {
    const zip = await memberOf(storage, load, slice);
    const ranges = await Promise.all(
      slice.files.map((entry) => entryRange(zip, entry, entry.name)),
    );
    const compressed = await Promise.all(
      ranges.map(({ position, length }) => zip.read(position, length)),
    );
    cpu += await cpuOf(() => {
      compressed.forEach((bytes, i) => {
        inflate(bytes, slice.files[i]?.size ?? 0);
      });
    });
  }
  return cpu;
}

/** The reference: each entry into a new buffer of its known size. */
function inflateFresh(compressed: Buffer, size: number): void {
  inflateRawSync(compressed, { chunkSize: size + 1, maxOutputLength: size + 1 });
}

/**
 * Releases the memory of each entry at once, as the loader does, so that the next one is inflated
 * into it.
 */
function inflateAndRelease(compressed: Buffer, size: number): void {
  releaseMemory(inflateRawSync(compressed, { chunkSize: size + 1, maxOutputLength: size + 1 }));
}

/** Reading alone, by both readers, on a few inflated files of the same extract. */
async function parsed(
  storage: Storage,
  load: Load,
  slices: Slice[],
): Promise<{ fastCpu: number; strictCpu: number; bytes: number; example: Buffer }> {
  const files = slices
    .flatMap((slice) => slice.files.map((entry) => ({ slice, entry })))
    .slice(0, parsedFiles);
  const xmls = await Promise.all(
    files.map(async ({ slice, entry }) =>
      readEntry(await memberOf(storage, load, slice), entry, entry.name),
    ),
  );
  const read = (strictly: boolean) => () => {
    for (const xml of xmls) {
      readXml.NUM(xml, 'parsed', load.peildatum, () => {}, { strictly, visitCanonical: () => {} });
    }
  };
  const fastCpu = await cpuOf(() => {
    for (let round = 0; round < fastRounds; round++) read(false)();
  });
  const strictCpu = await cpuOf(read(true));
  const bytes = xmls.reduce((sum, xml) => sum + xml.length, 0);
  return { fastCpu: fastCpu / fastRounds, strictCpu, bytes, example: xmls[0] as Buffer };
}

function memberOf(storage: Storage, load: Load, slice: Slice): Promise<RandomAccess> {
  return openObject(
    storage,
    paths.member(load.id, slice.member, load.members[slice.member]?.name ?? ''),
  );
}

/**
 * Whole loads up to their proposal on all cores, each in a process of its own that starts as
 * `npm start` does: how long, and the memory of all threads. The middle one of three counts, since
 * when V8 collects its garbage is chance.
 */
export function zipToSnapshot(path: string, objecten = false) {
  const launch = fileURLToPath(new URL('../../local/launch.js', import.meta.url));
  const script = fileURLToPath(new URL('./mutations-parts/run-load.ts', import.meta.url));
  const wanted = JSON.stringify({ planOnly: true, objecten, source: path });
  const runs = Array.from({ length: 3 }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'bag-adres-plan-'));
    try {
      return JSON.parse(
        execFileSync(process.execPath, [launch, script, folder, wanted], { encoding: 'utf8' }),
      );
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  return {
    seconds_zip_to_snapshot: rounded(
      median(runs.map(({ seconds_with_start }) => seconds_with_start)),
    ),
    cpu_seconds_zip_to_snapshot: rounded(median(runs.map(({ cpu_seconds }) => cpu_seconds))),
    memory_mb_zip_to_snapshot: Math.round(median(runs.map(({ memory_mb }) => memory_mb))),
  };
}

/**
 * GDAL's LVBAG driver over one file of NUM, in megabytes a second of its CPU; `null` where GDAL is
 * not installed.
 */
function ogr2ogrMegabytesPerSecond(folder: string, xml: Buffer): number | null {
  if (spawnSync('ogr2ogr', ['--version']).status !== 0) return null;
  writeFileSync(join(folder, '9999NUM01012026-000001.xml'), xml);
  const command = 'TIMEFORMAT="%U %S"; time ogr2ogr -f CSV ogr2ogr.csv 9999NUM01012026-000001.xml';
  const { stderr, status } = spawnSync('bash', ['-c', command], { cwd: folder, encoding: 'utf8' });
  const [, user, system] = /([\d.]+) ([\d.]+)\s*$/.exec(stderr) ?? [];
  if (status !== 0 || !user || !system) return null;
  return rounded(xml.length / 1e6 / (Number(user) + Number(system)));
}
