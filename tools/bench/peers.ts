import { type ExecFileException, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { bufferAccess, fileAccess } from '../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../loader/zip/zip.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { zipOf } from '../../test/loader/bag/zip-of.ts';
import { newAccount } from '../../test/support/address-service.ts';
import { freePort } from '../../test/support/free-port.ts';
import { readyText, start } from '../../test/support/start.ts';
import { sample, weespTruth } from '../../test/support/weesp-truth.ts';
import { administer, lookUp } from '../local-run.ts';
import { type Benchmark, CannotMeasure, type Figures } from './benchmark.ts';
import { generatedExtract } from './generator/generate.ts';
import { limits, startBare } from './local.ts';
import { inTurn, median, pairedRatio, processStat, rounded } from './measure.ts';
import { zipToSnapshot } from './read.ts';

const run = promisify(execFile);
const rounds = 3;
const secondsARound = 4;
const callers = 50;
/** A zip of a tenth of the country has 34 MB; GDAL takes minutes for more. */
const mostMegabytesOfGdal = 50;
/** On a busy machine some are answered 503; more than these would be another measurement. */
const leastAnswered = 0.98;
const addressesACall = 100;
/** The peer reads the country in a minute or two, and starts in less than a second. */
const mostMinutes = { work: 15, start: 1 };
const needed = { cargo: 'see https://rustup.rs', wrk: 'apt-get install wrk' };
const buildService = ['build', '--release', '--bin', 'bag-service'];
const weesp = 'Weesp';

/** An address that both find, and how each is asked for it. */
type Asked = { url: string; key?: string; script?: string; addresses: number };

/**
 * bag-address-lookup of Tweede golf and `npm start`, from the same extract to the first answer and
 * under the same load, each with all its processes, the engine included; our snapshot beside the
 * peer's database; and GDAL, which only reads. The peer's program is built before the clock runs.
 * It then needs a second build, which puts the addresses into the program; that is counted.
 */
export const benchmark: Benchmark = {
  scale: 0.1,
  async run({ extract, scale, peer }) {
    const folder = resolve(peer ?? '');
    if (!peer || !existsSync(join(folder, 'Cargo.toml'))) {
      throw new CannotMeasure(
        'Name a checkout: git clone https://github.com/tweedegolf/bag-address-lookup, then --peer DIR.',
      );
    }
    for (const [program, how] of Object.entries(needed)) {
      if (spawnSync(program, ['--version']).error) {
        throw new CannotMeasure(`This benchmark needs ${program}: ${how}.`);
      }
    }
    const { stdout: commit } = await run('git', ['-C', folder, 'rev-parse', 'HEAD']);
    await using resources = new AsyncDisposableStack();
    const work = await mkdtemp(join(tmpdir(), 'bench-peers-'));
    resources.defer(() => rm(work, { recursive: true }));
    const extracts: { name: string; path: string }[] = [];
    if (extract) extracts.push({ name: basename(extract), path: extract });
    else {
      if (existsSync(sample)) {
        extracts.push({ name: weesp, path: await nationalLayout(sample, work) });
      }
      const { path } = await generatedExtract({ scale });
      extracts.push({ name: `generated, ${scale} of the country`, path });
    }
    await writeFile(join(folder, 'data/bag.bin'), '');
    await runPeer(folder, 'cargo', [
      'build',
      '--release',
      '--bin',
      'create-db',
      '--features',
      'create',
    ]);
    await runPeer(folder, 'cargo', buildService);
    const first: Figures[] = [];
    let lookups: Figures = {};
    for (const [index, { name, path }] of extracts.entries()) {
      await using servers = new AsyncDisposableStack();
      const ours = await measured(() =>
        firstAnswerOfOurs(resolve(path), join(work, `data-${index}`), servers),
      );
      const theirs = await firstAnswerOfPeer(folder, resolve(path), ours.result, servers);
      const gdalUsed = await gdalReads(resolve(path), work);
      const figures = {
        extract: name,
        ours: ours.used,
        ours_snapshot: snapshot(resolve(path)),
        ...theirs.figures,
        gdal_reads: gdalUsed,
      };
      first.push(
        name === weesp ? { ...figures, peer_answers: await agreement(theirs.base) } : figures,
      );
      if (index === extracts.length - 1) {
        lookups = await underLoad(ours.result, theirs.lookup, work, servers);
      }
    }
    return {
      peer: 'bag-address-lookup',
      commit: commit.trim(),
      zip_to_first_answer: first,
      callers,
      ...lookups,
    };
  },
};

/**
 * The same inner zips in the layout of the country's extract, which is the only one that the peer
 * reads.
 */
async function nationalLayout(path: string, folder: string): Promise<string> {
  const outer = await fileAccess(path);
  const files: Record<string, Buffer> = {};
  for (const entry of await listEntries(outer, path)) {
    const bytes = await readEntry(outer, entry, path);
    if (!/^\d{4}GEM/.test(entry.name)) files[entry.name] = bytes;
    else {
      for (const inner of await listEntries(bufferAccess(bytes), entry.name)) {
        if (/^\d{4}(NUM|OPR|WPL)\d/.test(inner.name)) {
          files[`9999${inner.name.slice(4)}`] = await readEntry(
            bufferAccess(bytes),
            inner,
            entry.name,
          );
        }
      }
    }
  }
  await outer.close();
  const national = join(folder, 'national.zip');
  await writeFile(national, await zipOf(files, false));
  return national;
}

/**
 * A load up to its snapshot, from which the engine or DynamoDB is then filled: the peer has no such
 * step, and answers from its database.
 */
function snapshot(path: string): Used {
  const { seconds_zip_to_snapshot, cpu_seconds_zip_to_snapshot, memory_mb_zip_to_snapshot } =
    zipToSnapshot(path);
  return {
    seconds: seconds_zip_to_snapshot,
    cpu_seconds: cpu_seconds_zip_to_snapshot,
    memory_mb: memory_mb_zip_to_snapshot,
  };
}

/**
 * CPU and memory of all processes that this one has started and that run, and the CPU of those that
 * ended.
 */
function children() {
  const stats = new Map<number, ReturnType<typeof processStat>>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    try {
      stats.set(Number(name), processStat(name));
    } catch {
      // It has ended.
    }
  }
  const isOurs = (pid: number): boolean =>
    pid === process.pid || (stats.has(pid) && isOurs(stats.get(pid)?.parent ?? 0));
  let cpu = 0;
  let memory = 0;
  for (const { parent, cpuMilliseconds, endedCpuMilliseconds, memoryMegabytes } of stats.values()) {
    if (!isOurs(parent)) continue;
    cpu += cpuMilliseconds + endedCpuMilliseconds;
    memory += memoryMegabytes;
  }
  return { cpu, memory, ended: stats.get(process.pid)?.endedCpuMilliseconds ?? 0 };
}

type Used = { seconds: number; cpu_seconds: number; memory_mb: number };

/** What work in other processes took, with the most memory that they had at one time. */
async function measured<T>(work: () => Promise<T>): Promise<{ result: T; used: Used }> {
  const before = children();
  const begin = performance.now();
  let peak = 0;
  const watch = setInterval(() => {
    peak = Math.max(peak, children().memory - before.memory);
  }, 50);
  const result = await work().finally(() => clearInterval(watch));
  const after = children();
  const milliseconds = performance.now() - begin;
  return {
    result,
    used: {
      seconds: rounded(milliseconds / 1_000, 3),
      cpu_seconds: rounded((after.cpu + after.ended - before.cpu - before.ended) / 1_000, 3),
      memory_mb: Math.round(Math.max(peak, after.memory - before.memory)),
    },
  };
}

type Ours = {
  asked: Asked;
  batch: Record<string, unknown>;
  origin: string;
  postcode: string;
  huisnummer: string;
};

async function firstAnswerOfOurs(
  path: string,
  data: string,
  servers: AsyncDisposableStack,
): Promise<Ours> {
  const service = start(['--port', '0', '--data', data, '--extract', path], { line: 'npm start' });
  servers.defer(async () => {
    service.child.kill('SIGINT');
    await service.ended;
  });
  const printed = await service.until(readyText);
  const [, greeted = '', url = ''] = /curl -H 'X-API-Key: (\w+)' '(\S+)'/.exec(printed) ?? [];
  await lookUp({ url, key: greeted });
  service.child.stdout?.removeAllListeners('data').resume(); // a line for each request
  const { origin, searchParams } = new URL(url);
  const { key } = await administer(await readLocalState(data), (admin) =>
    newAccount({ admin }, limits),
  );
  const [postcode = '', huisnummer = ''] = ['postcode', 'huisnummer'].map(
    (name) => searchParams.get(name) ?? '',
  );
  const address = { ...Object.fromEntries(searchParams), huisnummer: Number(huisnummer) };
  const batch = { addresses: Array(addressesACall).fill(address) };
  return { asked: { url, key, addresses: 1 }, batch, origin, postcode, huisnummer };
}

/**
 * Without `curl` on its path, the peer takes the names of gemeenten from its own files: no download
 * is measured.
 */
async function firstAnswerOfPeer(
  folder: string,
  path: string,
  ours: Ours,
  servers: AsyncDisposableStack,
) {
  await rm(join(folder, 'data/bag.bin'), { force: true });
  await rm(join(folder, 'data/bag.zip'), { force: true });
  await symlink(path, join(folder, 'data/bag.zip'));
  const program = (name: string) => join(folder, 'target/release', name);
  const created = await measured(() =>
    runPeer(folder, program('create-db'), [], { PATH: '/nonexistent' }),
  );
  const built = await measured(() => runPeer(folder, 'cargo', buildService));
  const base = `http://127.0.0.1:${await freePort()}`;
  const lookup: Asked = {
    url: `${base}/lookup?pc=${ours.postcode}&n=${ours.huisnummer}`,
    addresses: 1,
  };
  const started = await measured(async () => {
    const env = { ...process.env, BAG_ADDRESS_LOOKUP_QUIET: '1' };
    const child = spawn(program('bag-service'), [new URL(base).host], {
      env,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (text) => {
      errors = `${errors}${text}`.slice(-1000);
    });
    const ended = once(child, 'close');
    servers.defer(async () => {
      child.kill('SIGINT');
      await ended;
    });
    await firstAnswer(lookup.url, () =>
      child.exitCode === null ? undefined : `ended with ${child.exitCode}\n${errors}`,
    );
  });
  const figures = { peer_database: created.used, peer_build: built.used, peer_start: started.used };
  const peer = Object.values(figures).reduce((total, part) => ({
    seconds: rounded(total.seconds + part.seconds, 3),
    cpu_seconds: rounded(total.cpu_seconds + part.cpu_seconds, 3),
    memory_mb: Math.max(total.memory_mb, part.memory_mb),
  }));
  return { lookup, base, figures: { peer, ...figures } };
}

/** Runs a program of the peer to its end. @throws CannotMeasure with the end of its output */
async function runPeer(
  cwd: string,
  file: string,
  args: string[],
  env: NodeJS.ProcessEnv = process.env,
) {
  const limits = { timeout: mostMinutes.work * 60_000, maxBuffer: 2 ** 28 };
  await run(file, args, { cwd, env, ...limits }).catch(
    (error: ExecFileException & { stderr: string }) => {
      const { killed, code, signal, stderr } = error;
      const how = killed
        ? `did not end within ${mostMinutes.work} minutes`
        : `ended with ${code ?? signal}`;
      throw cantRead(`"${[basename(file), ...args].join(' ')}" ${how}`, stderr);
    },
  );
}

/**
 * Waits until the peer finds the address. @throws CannotMeasure if it has ended, or answers that it
 * has no such address
 */
async function firstAnswer(url: string, end: () => string | undefined): Promise<void> {
  const until = performance.now() + mostMinutes.start * 60_000;
  for (;;) {
    const answer = await fetch(url, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    if (answer?.ok) return;
    if (answer) {
      throw cantRead(`bag-service answers ${answer.status} for ${url}, which npm start finds`);
    }
    const ended = end();
    if (ended) throw cantRead(`bag-service ${ended}`);
    if (performance.now() > until) {
      throw cantRead(`bag-service did not answer within ${mostMinutes.start} minute`);
    }
    await sleep(5);
  }
}

/** `what` happened, and the end of what the peer printed. */
function cantRead(what: string, output = ''): CannotMeasure {
  const lines = `${what}\n${output}`.trim().split('\n');
  return new CannotMeasure(
    [
      "The peer can't be measured:",
      ...[...lines.slice(0, 1), ...lines.slice(1).slice(-5)].map((line) => `  ${line}`),
      'If its build failed, check out the commit that docs/performance.md names. Otherwise it does not read this extract: give another one.',
    ].join('\n'),
  );
}

/** For how many of Weesp's addresses the peer names the street that they have. */
async function agreement(base: string) {
  const { current } = await weespTruth();
  let same = 0;
  for (const { postcode, huisnummer, straat } of current.values()) {
    const answer = await fetch(`${base}/lookup?pc=${postcode}&n=${huisnummer}`);
    if (((await answer.json()) as { pr?: string }).pr === straat) same++;
  }
  return { addresses: current.size, same_street: same };
}

/**
 * GDAL's LVBAG driver over the nummeraanduidingen, openbare ruimten and woonplaatsen; `null`
 * without GDAL.
 */
async function gdalReads(path: string, folder: string): Promise<Used | null> {
  const isSmall = statSync(path).size <= mostMegabytesOfGdal * 1e6;
  if (!isSmall || spawnSync('ogr2ogr', ['--version']).status !== 0) return null;
  const source = await fileAccess(path);
  const members = (await listEntries(source, path)).filter(({ name }) =>
    /^9999(NUM|OPR|WPL)/.test(name),
  );
  await source.close();
  const { used } = await measured(async () => {
    for (const { name } of members) {
      const csv = join(folder, `${name}.csv`);
      await run('ogr2ogr', ['-f', 'CSV', csv, `/vsizip/{/vsizip/{${path}}/${name}}`]);
      await rm(csv, { recursive: true });
    }
  });
  return used;
}

/**
 * Lookups of one address with as many connections as callers, one contender after the other, in
 * turn.
 */
async function underLoad(
  ours: Ours,
  peer: Asked,
  folder: string,
  servers: AsyncDisposableStack,
): Promise<Figures> {
  const script = join(folder, 'batch.lua');
  const body = JSON.stringify(ours.batch);
  const head = 'wrk.method = "POST"\nwrk.headers["content-type"] = "application/json"';
  await writeFile(script, `${head}\nwrk.body = [[${body}]]`);
  const bare = await startBare(servers);
  const contenders: Record<string, Asked> = {
    peer_without_keys: peer,
    ours_with_keys: ours.asked,
    ours_with_keys_100_a_call: {
      ...ours.asked,
      url: `${ours.origin}/v1/addresses`,
      script,
      addresses: addressesACall,
    },
    bare_server_without_keys: { url: bare.url, addresses: 1 },
  };
  const perSecond = new Map<string, number[]>();
  const load = (name: string, asked: Asked) => async () => {
    const cpu = children().cpu;
    const { requests, rate } = await wrk(asked);
    perSecond.set(name, [...(perSecond.get(name) ?? []), rate * asked.addresses]);
    return (children().cpu - cpu) / requests / asked.addresses;
  };
  for (const asked of Object.values(contenders)) await wrk(asked);
  const loads = Object.fromEntries(
    Object.entries(contenders).map(([name, asked]) => [name, load(name, asked)]),
  );
  const cpu = await inTurn(rounds, loads);
  const each = (value: (name: string) => number) =>
    Object.fromEntries(Object.keys(contenders).map((name) => [name, rounded(value(name), 3)]));
  return {
    cpu_ms_an_address: each((name) => median(cpu[name] ?? [])),
    cpu_ratio_to_peer: each((name) => pairedRatio(cpu[name] ?? [], cpu.peer_without_keys ?? [])),
    addresses_a_second: each((name) => median(perSecond.get(name) ?? [])),
  };
}

async function wrk({ url, key, script }: Asked): Promise<{ requests: number; rate: number }> {
  // A call with many addresses is as much work as so many callers have in flight.
  const connections = script ? '2' : `${callers}`;
  const options = [
    '--threads',
    '1',
    '--connections',
    connections,
    '--duration',
    `${secondsARound}s`,
  ];
  if (key) options.push('--header', `X-API-Key: ${key}`);
  if (script) options.push('--script', script);
  const { stdout } = await run('wrk', [...options, url]);
  const [all = 0, rate = 0, failed] = [
    /(\d+) requests in/,
    /Requests\/sec: +([\d.]+)/,
    /Non-2xx.*: (\d+)/,
  ].map((text) => Number(text.exec(stdout)?.[1] ?? 0));
  const answered = 1 - (failed ?? 0) / all;
  if (!(answered > leastAnswered)) throw new Error(`${url} was not answered with 200:\n${stdout}`);
  return { requests: all * answered, rate: rate * answered };
}
