import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import type { LocalState } from '../../local/data-folder.ts';
import { type Engine, startEngine, startEngineAt } from '../../local/engine/engine.ts';
import { Random } from '../bench/generator/random.ts';
import { administer } from '../local-run.ts';
import { Disasters } from './disasters.ts';
import { startEngineProxy } from './engine-proxy.ts';
import { startExtractServer } from './extract-server.ts';
import { openJournal } from './journal.ts';
import { LoadActor } from './loads.ts';
import { type Customer, Hammer, judgeCharges, Possible } from './lookups.ts';
import { Processes } from './processes.ts';
import { type State, writeRegister } from './register.ts';

/** What ends a run early; it leaves no process behind. */
const interrupts = ['SIGINT', 'SIGTERM'] as const;
/** The variable by which the run inside the small file system knows where that is. */
const diskVariable = 'CHAOS_DISK';
const diskMegabytes = 64;
const unshare = ['--user', '--map-root-user', '--mount'];

const plans: [account: string, limits: Customer['limits']][] = [
  ['unlimited', {}],
  ['slow', { minute: 30 }],
  ['busy', { minute: 200, day: 100_000 }],
  ['trial', { day: 150 }],
];

type Options = { minutes: number; seed: number; runs: number };

const command = new Command('npm run chaos --')
  .description(
    'Loads, looks up, kills, stops, fills the disk and breaks connections on this machine, all at once, then compares the table ' +
      'with the register and the charges with the answers',
  )
  .option('--minutes <number>', 'how long', minutes, 5)
  .option(
    '--seed <number>',
    'repeats the choices of a run, though not their timing',
    Number,
    Date.now() % 1_000_000,
  )
  .option('--runs <number>', 'how many runs, each with the next seed', Number, 1)
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(main);
await command.parseAsync();

function minutes(text: string): number {
  if (Number(text) > 0) return Number(text);
  throw new InvalidArgumentError('Use a number of minutes above 0.');
}

async function main(options: Options): Promise<void> {
  const disk = process.env[diskVariable];
  if (disk === undefined && canMountDisk()) {
    process.exitCode = await runOnDisk();
    return;
  }
  if (disk === undefined) {
    console.log(
      'This system lets nobody mount a small disk (unshare --user --mount): none gets full.',
    );
  }
  for (let run = 0; run < options.runs; run++) {
    await chaos({ ...options, seed: options.seed + run }, disk);
  }
}

function canMountDisk(): boolean {
  const script = `mount -t tmpfs -o size=1m tmpfs "$0"`;
  return (
    spawnSync('unshare', [...unshare, 'sh', '-c', script, tmpdir()], { stdio: 'ignore' }).status ===
    0
  );
}

/**
 * Runs the same command where a folder is a file system of its own, small enough to be filled; that
 * ends with it.
 */
async function runOnDisk(): Promise<number> {
  const disk = mkdtempSync(join(tmpdir(), 'chaos-disk-'));
  const script = `mount -t tmpfs -o size=${diskMegabytes}m tmpfs "$0" && exec "$@"`;
  const self = [
    process.execPath,
    ...process.execArgv,
    import.meta.filename,
    ...process.argv.slice(2),
  ];
  const child = spawn('unshare', [...unshare, 'sh', '-c', script, disk, ...self], {
    stdio: 'inherit',
    env: { ...process.env, [diskVariable]: disk },
  });
  for (const signal of interrupts) process.on(signal, () => child.kill(signal));
  const [code] = await once(child, 'close');
  rmSync(disk, { recursive: true });
  return code ?? 1;
}

async function chaos(options: Options, disk: string | undefined): Promise<void> {
  const { seed } = options;
  const work = mkdtempSync(join(tmpdir(), `chaos-${seed}-`));
  const journal = openJournal(join(work, 'journal.log'));
  console.log(
    `Seed ${seed}, ${options.minutes} minutes; the journal is ${join(work, 'journal.log')}`,
  );
  await using resources = new AsyncDisposableStack();
  const data = join(disk ?? work, `data-${seed}`);
  mkdirSync(data, { mode: 0o700 });
  resources.defer(() => rmSync(data, { recursive: true, force: true }));

  const random = new Random(seed, 2);
  const states = await writeRegister(work, seed, 6 + Math.ceil(options.minutes * 5));
  const first = states[0] as State;
  const files = states.flatMap(({ extract, mutations }) =>
    mutations === null ? [extract] : [extract, mutations],
  );
  const server = await startExtractServer(files, new Random(seed, 3));
  resources.defer(server.stop);
  const proxy = await startEngineProxy(new Random(seed, 4));
  resources.defer(proxy.stop);

  // Half of the runs disturb what lies between the service and its engine too, which only another
  // engine than its own allows.
  const ownEngine = seed % 2 === 0 ? undefined : join(data, 'engine.db');
  let engine: Engine | undefined;
  if (ownEngine) {
    engine = await startEngine(ownEngine);
    proxy.target(engine.endpoint);
    resources.defer(async () => engine?.stop());
  }
  const reviveEngine = async () => {
    if (engine) engine = await startEngineAt(engine.endpoint, ownEngine);
  };
  journal.note('engine', ownEngine ? 'behind the proxy' : 'of the service');
  const processes = new Processes({
    journal,
    data,
    commandData: join(work, 'commands'),
    environment: ownEngine ? { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint } : {},
    proxied(state) {
      if (!ownEngine) proxy.target(state.endpoint);
      return { ...state, endpoint: proxy.endpoint };
    },
  });
  resources.defer(() => processes.endService('SIGKILL'));
  const interrupt = () => {
    for (const child of [...processes.commands.keys(), processes.serviceProcess]) {
      child?.kill('SIGKILL');
    }
    process.exit(130);
  };
  for (const signal of interrupts) process.on(signal, interrupt);
  resources.defer(() => {
    for (const signal of interrupts) process.off(signal, interrupt);
  });
  if ((await processes.startService(first.extract)) !== undefined) {
    throw new Error('The service did not start');
  }

  const possible = new Possible(first);
  const customers = await createCustomers(processes.state as LocalState);
  const loads = new LoadActor({
    journal,
    processes,
    possible,
    states,
    server,
    random: new Random(seed, 5),
  });
  const hammer = new Hammer(journal, possible, states, new Random(seed, 6));
  const disasters = new Disasters({
    journal,
    random,
    processes,
    loads,
    hammer,
    server,
    proxy,
    disk,
    database: ownEngine ?? join(data, 'dynamodb.db'),
    reviveEngine: ownEngine ? reviveEngine : undefined,
    isLong: options.minutes >= 3,
  });

  const lookups = [0, 1, 2].map(() => hammer.run(customers, () => processes.state?.baseUrl));
  const loaders = [loads.run(), loads.run()];
  const breaking = disasters.run();
  await sleep(options.minutes * 60_000);

  await disasters.stop(breaking);
  loads.stop();
  const ended = await Promise.race([Promise.all(loaders), sleep(120_000, 'hang', { ref: false })]);
  if (ended === 'hang') {
    journal.finding(`still running: ${[...processes.commands.values()].join(', ')}`);
  }
  for (const child of processes.commands.keys()) child.kill('SIGKILL');
  await Promise.all(loaders);
  if (await loads.finish()) await loads.compare(states.at(-1) as State);
  const check = await processes.run('load', 'check');
  if (!check.ok) journal.finding(`"load check" after the last load: ${check.message}`);
  hammer.stop();
  await Promise.all(lookups);
  const { state } = processes;
  for (const customer of state ? customers : []) {
    const { account } = customer;
    const { days } = await administer(state as LocalState, (admin) =>
      admin.accounts.usage(account),
    );
    const charged = days.reduce((sum, { lookups }) => sum + lookups, 0);
    judgeCharges(journal, customer, hammer.sent.get(account) ?? [], charged);
  }
  await processes.endService('SIGTERM');

  console.log(JSON.stringify(Object.fromEntries([...journal.counts].sort())));
  if (journal.findings.length === 0) {
    console.log(`Seed ${seed}: no finding.`);
    rmSync(work, { recursive: true });
    return;
  }
  process.exitCode = 1;
  cpSync(join(data, 'functions.log'), join(work, 'functions.log'), { force: true });
  console.log(
    `Seed ${seed}: ${journal.findings.length} findings.\n${journal.findings.slice(0, 20).join('\n')}`,
  );
  console.log(`Run it again with: npm run chaos -- --minutes ${options.minutes} --seed ${seed}`);
}

async function createCustomers(state: LocalState): Promise<Customer[]> {
  const customers: Customer[] = [];
  await administer(state, async (admin) => {
    for (const [account, limits] of plans) {
      await admin.plans.put({ code: account, limits: { ...limits, month: null }, state: 'active' });
      await admin.accounts.create({ id: account, plan: account });
      const { key } = await admin.keys.create({ account, label: 'chaos' });
      customers.push({ account, key, limits });
    }
  });
  return customers;
}
