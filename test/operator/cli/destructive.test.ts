import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accountsTable } from '../../../core/names.ts';
import { lockKey } from '../../../loader/storage/lock.ts';
import { destructive } from '../../../operator/cli/destructive.ts';
import { personalData } from '../../../operator/connect/person.ts';
import { newAccount, testChecksumSecret } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { restoreItems, type StoredItem, storedItems } from '../../support/stored-items.ts';
import { sweep } from '../../support/sweep.ts';
import { accountsTemplate, tableControl } from '../../support/table-control.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, startFakeAws, templateAnswer, useAws } from '../fake-aws.ts';
import { startLiveDeployment } from '../live-deployment.ts';
import {
  deploymentStacks,
  isChange,
  OneFailure,
  startNewDeployment,
  writeKeyPair,
} from '../recovery/recovery-bench.ts';

let service: HttpService;
let s3: TestS3;
let folder: string;
/** The deployment that the set is of. */
let source: Awaited<ReturnType<typeof startFakeAws>>;
/** The deployment that a set is restored into. */
let other: Awaited<ReturnType<typeof startNewDeployment>>;
let leaveAws: () => void;
const failure = new OneFailure();
const operations: AwsOperations = {};

beforeAll(async () => {
  service = await startHttpService();
  s3 = await startS3('snapshots');
  source = await startFakeAws(deploymentStacks(service.baseUrl), operations, service.endpoint);
  other = await startNewDeployment(service.baseUrl, failure);
  for (const [name, stack] of Object.entries(other.stacks)) other.stacks[name.replace('a-', 'b-')] = stack;
  folder = await mkdtemp(join(tmpdir(), 'sets-'));
  await writeKeyPair(folder);
  leaveAws = useAws(source.endpoint, { AWS_ENDPOINT_URL_S3: s3.endpoint });
  await newAccount(service, { day: 1e6 });
  await newAccount(service, { day: 1e6 });
  operations.GetSecretValue = () => ({ value: { SecretString: testChecksumSecret } });
  await run(['backup', 'create', '--stack', 'a', '--to', folder, '--public-key', join(folder, 'public.pem')]);
}, 60_000);
afterAll(async () => {
  leaveAws();
  for (const one of [source, other, service, s3]) await one.stop();
  await rm(folder, { recursive: true });
});
beforeEach(async () => {
  failure.left = null;
  await other.reset();
  const control = tableControl(service);
  control.adopt('accounts', { expiry: accountsTable.expires, tags: {} });
  await control.remember('accounts', new Date(at));
  Object.assign(operations, control.operations);
  operations.GetTemplate = () => templateAnswer(accountsTemplate({}));
  source.asked.length = 0;
  other.asked.length = 0;
});

const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 1000).toISOString().replace('.000', '');

/** Puts into the new deployment what is not of the set. */
async function occupy(): Promise<void> {
  await other.admin.plans.put({ code: 'of-others', limits: { day: 5 } });
  await other.admin.accounts.create({ id: 'of-others', plan: 'of-others' });
}

/** Commands that replace all that a deployment holds, on a target that holds what is not of it. */
const commands: Record<string, { where: 'source' | 'other'; args: () => string[] }> = {
  'restore lost-account': { where: 'other', args: () => fromSet },
  'restore lost-region': { where: 'other', args: () => fromSet },
  'restore wrong-contents': { where: 'source', args: () => ['--at', at] },
  drill: { where: 'source', args: () => [] },
};
let fromSet: string[];

/** Runs one of the commands, and says what it changed. */
async function on(command: string, ...more: string[]) {
  fromSet = ['--from', folder, '--private-key', join(folder, 'private.pem')];
  const { where, args } = commands[command] ?? { where: 'other' as const, args: () => [] };
  const aws = where === 'source' ? source : other;
  process.env.AWS_ENDPOINT_URL = aws.endpoint;
  process.env.AWS_ENDPOINT_URL_S3 = s3.endpoint;
  process.env.AWS_REGION = command === 'restore lost-region' ? 'eu-central-1' : 'eu-west-1';
  aws.asked.length = 0;
  const stack = more.includes('--stack') ? [] : ['--stack', 'a'];
  const ended = await run([...command.split(' '), ...args(), ...stack, ...more]);
  return { ...ended, changes: aws.asked.map(({ operation }) => operation).filter(isChange) };
}

/** A command on accounts, the register or the code of a deployment. */
type Case = {
  args: () => string[];
  /** Brings about what it is for. */
  prepare: () => Promise<unknown>;
  /** What it says is there now, or will be. */
  says: RegExp;
  /** What it changed: the same after it was killed and run again. */
  outcome: () => Promise<unknown>;
};

const month = new Date(Date.now() - 40 * 86_400_000).toISOString().slice(0, 7);
const email = 'jo@example.nl';
let live: Awaited<ReturnType<typeof startLiveDeployment>>;
let keyId: string;
let refused: string;
/** What its accounts table holds before each test. */
let first: StoredItem[];
/** Who held the lock, on another machine. */
const locker = 'elsewhere:1:2:x';
const rogue = '1012RJ#999#';

const register = async () => (await live.addresses.dataset())?.peildatum;

const cases: Record<string, Case> = {
  'account delete': {
    args: () => ['acme'],
    prepare: () => live.admin.accounts.suspend('acme'),
    says: /\nDeletes account "acme", on the plan standard since 2\S+, never used, with its 1 key,/,
    outcome: async () => (await live.admin.accounts.list({})).accounts.map(({ id }) => id),
  },
  'account repair-windows': {
    args: () => ['acme'],
    prepare: async () => undefined,
    says: /\nSets the usage of each window of account "acme"/,
    outcome: async () => (await live.admin.accounts.show('acme')).windows.day?.used,
  },
  'key revoke': {
    args: () => [keyId, '--account', 'acme'],
    prepare: async () => undefined,
    says: /\nRevokes key \w+, "webshop", of account "acme", never used/,
    outcome: async () => (await live.admin.keys.list('acme')).map(({ state }) => state),
  },
  'rotate-checksum-secret': {
    args: () => [],
    prepare: async () => {
      live.versions.set('v1', { value: '', labels: ['AWSCURRENT'] });
      live.versions.set('v2', { value: '', labels: ['ROTATING'] });
    },
    says: /\nMakes v2 the current version of the checksum secret in the place of v1/,
    outcome: async () => [...live.versions].flatMap(([id, { labels }]) => (labels.includes('AWSCURRENT') ? id : [])),
  },
  'usage close': {
    args: () => ['--month', month],
    prepare: async () => undefined,
    says: /\nCloses \d{4}-\d\d: writes the statements of all accounts/,
    outcome: async () => (await on('usage months', '--json')).out,
  },
  'load approve': {
    args: () => [],
    prepare: async () => {
      await live.goTo('2026-02-08');
      refused = await live.refuse();
    },
    says: /\nPuts the register of 2026-04-08 \(load \S+, 40 addresses\) in the place of the register of 2026-02-08: 40 added, 0 changed, 10 removed\.\nIt was refused: /,
    outcome: register,
  },
  'load rollback': {
    args: () => ['2026-01-08'],
    prepare: () => live.goTo('2026-02-08'),
    says: /\nPuts the register of 2026-01-08 \(load \S+, 11 addresses\) in the place of that of 2026-02-08 \(10 addresses, \d+ days old\)/,
    outcome: register,
  },
  'load repair': {
    args: () => [],
    prepare: async () => {
      await live.goTo('2026-02-08');
      await live.putAddress(rogue);
    },
    says: /\nCompares every address with the snapshot of the register, that of 2026-02-08 \(10 addresses/,
    outcome: async () => (await live.addresses.read([rogue])).size,
  },
  'load discard': {
    args: () => [refused],
    prepare: async () => {
      await live.goTo('2026-02-08');
      refused = await live.refuse();
    },
    says: /\nRemoves the work of load 2026-04-08-\w+, \d+ objects/,
    outcome: async () => (await on('load discard', refused)).err,
  },
  'load unlock': {
    args: () => [],
    prepare: () => live.addresses.lock.acquire(locker, -1),
    says: /\nRemoves the lock of elsewhere:1:2:x/,
    outcome: () => live.addresses.lock.holder(),
  },
  'person erase': {
    args: () => [email],
    prepare: () => live.admin.members.add({ account: 'acme', person: email, role: 'viewer' }),
    says: /Into: .*/,
    outcome: async () => (await personalData(live.client, 'accounts', email)).length,
  },
  rollback: {
    args: () => [],
    prepare: async () => {
      for (const name of ['AddressFunction', 'ValidateFunction']) live.aliases.set(name, { FunctionVersion: '4' });
    },
    says: /Point AddressFunction .* from version 4 to 3/,
    outcome: async () => [...live.aliases.values()].map(({ FunctionVersion }) => FunctionVersion),
  },
};

/**
 * Those that need an AWS of their own, and where they are tried on a wrong target and killed: restore-table.test.ts,
 * which also interrupts the procedures of a drill, take-down.test.ts and upgrade.test.ts.
 */
const elsewhere = ['restore deleted-table', 'take-down', 'upgrade', 'rollback-code'];

const agreed = (command: string) => (destructive[command] === 'asks' ? [] : ['--yes']);
const planned = (command: string) => (destructive[command] === 'asks' ? ['--plan'] : []);
const toRun =
  (command: string, stack = 'a', folder?: string) =>
  async (...more: string[]) => {
    process.env.AWS_ENDPOINT_URL = live.endpoint;
    process.env.AWS_ENDPOINT_URL_S3 = live.s3;
    live.asked.length = 0;
    const words = [...command.split(' '), ...(cases[command]?.args() ?? []), '--stack', stack, ...more];
    const ended = await run(words, process.env, folder);
    // A comparison holds the lock too.
    const asked = live.asked.filter(({ input }) => !JSON.stringify(input).includes(lockKey));
    return { ...ended, changes: asked.map(({ operation }) => operation).filter(isChange) };
  };

describe('the list of commands that replace or delete', () => {
  it('has these, each of which is tried on a wrong target and killed between any two changes', () => {
    const tried = [...Object.keys(commands), ...Object.keys(cases), ...elsewhere];
    expect(tried.sort()).toEqual(Object.keys(destructive).sort());
  });
});

describe('a command that replaces or deletes what is in a deployment', () => {
  beforeAll(async () => {
    live = await startLiveDeployment(failure.killed);
    process.env.AWS_ENDPOINT_URL_S3 = live.s3;
    await live.admin.plans.put({ code: 'standard', limits: { day: 5 } });
    await live.admin.accounts.create({ id: 'acme', plan: 'standard' });
    ({ keyId } = await live.admin.keys.create({ account: 'acme', label: 'webshop' }));
    first = await storedItems(live.client, 'accounts');
    await live.loadRegisters();
  }, 60_000);
  afterAll(() => live.stop());
  beforeEach(() => {
    process.env.AWS_ENDPOINT_URL_S3 = live.s3;
    return restoreItems(live.client, 'accounts', first);
  });

  it.each(Object.keys(cases))('%s says where and what is there, and changes nothing in a plan', async (command) => {
    await cases[command]?.prepare();
    const { out, err, changes } = await toRun(command)(...planned(command));
    expect(changes).toEqual([]);
    expect(`${err}\n${out}`).toMatch(/Into: a in account 123456789012, eu-west-1\n/);
    expect(`${err}\n${out}`).toMatch(cases[command]?.says ?? '');
  });

  it.each(sweep(Object.keys(cases), 4))('%s is refused where bag-adres.json has another account', async (command) => {
    await cases[command]?.prepare();
    const settings = { stages: { a: { account: '999999999999', region: 'eu-west-1' } } };
    await writeFile(join(folder, 'bag-adres.json'), JSON.stringify(settings));
    const { exit, err, changes } = await toRun(command, 'a', folder)(...agreed(command));
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toContain(
      'has a in account 999999999999, but the credentials are of 123456789012. Nothing was changed.',
    );
  });

  it.each(sweep(Object.keys(cases), 4))(
    '%s changes nothing in a deployment that lacks what it names',
    async (command) => {
      await cases[command]?.prepare();
      const { exit, err, changes } = await toRun(command, 'b')(...agreed(command), '--json');
      expect(changes).toEqual([]);
      if (exit === 1) expect(JSON.parse(err).error.code).not.toBe('error');
    },
  );

  it.each(sweep(Object.keys(cases), 2))(
    '%s ends as it does at once after it was killed between any two changes',
    async (command) => {
      const attempt = toRun(command);
      const begin = async () => {
        await restoreItems(live.client, 'accounts', first);
        await cases[command]?.prepare();
      };
      await begin();
      const { changes, ...whole } = await attempt(...agreed(command));
      expect([whole.exit, whole.exit === 0 || whole.err]).toEqual([0, true]);
      const expected = await cases[command]?.outcome();
      for (const left of sweep(changes.keys(), 1)) {
        await begin();
        failure.left = left;
        await attempt(...agreed(command));
        failure.left = null;
        // As of a process that is gone.
        const held = await live.addresses.lock.holder();
        if (held && held.owner !== locker) await live.addresses.lock.release(held.owner);
        const again = await attempt(...agreed(command));
        expect([left, again.exit, again.err]).toEqual([
          left,
          expect.any(Number),
          expect.not.stringContaining('InternalServerError'),
        ]);
        expect([left, await cases[command]?.outcome()]).toEqual([left, expected]);
      }
    },
    60_000,
  );
});

describe('a command that replaces or deletes all that a deployment holds', () => {
  it.each(Object.keys(commands))(
    '%s says where, what is there now and from where, and changes nothing',
    async (command) => {
      await occupy();
      const { exit, out, err, changes } = await on(command);
      expect([exit, changes]).toEqual([0, []]);
      expect(err).toMatch(
        /Into: a in account 123456789012, eu-(west|central)-1\nThere now: \d plans, \d accounts, .*register/,
      );
      if (command !== 'drill') expect(err).toMatch(/\nFrom: .*(set of \d{4}-|point-in-time recovery of accounts, at)/);
      expect(out + err).toContain('--into a.');
    },
  );

  it.each(sweep(Object.keys(commands), 2))(
    '%s is refused with --yes alone, before its first write',
    async (command) => {
      await occupy();
      const { exit, err, changes } = await on(command, '--yes');
      expect([exit, changes]).toEqual([1, []]);
      expect(err).toMatch(/replaces what a in account 123456789012, eu-.* has: \d+ plans, .*add --into a\./);
    },
  );

  it.each(sweep(Object.keys(commands), 1))('%s is refused where --into names another deployment', async (command) => {
    await occupy();
    const { exit, err, changes } = await on(command, '--yes', '--into', 'bag-adres-test');
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toContain('--stack selects a, --into names bag-adres-test. Nothing was changed.');
  });
});

describe('a restore of a set', () => {
  it.each(sweep(['restore lost-account', 'restore lost-region'], 1))(
    '%s goes on after it was killed between any two changes, without --into',
    async (command) => {
      const expected = (await service.admin.backup.export()).accounts;
      const { changes } = await on(command, '--yes');
      expect(changes.length).toBeGreaterThan(8);
      for (const left of sweep(changes.keys(), 2)) {
        await other.reset();
        failure.left = left;
        expect((await on(command, '--yes')).exit).toBe(1);
        failure.left = null;
        expect((await on(command, '--yes')).err).toContain('"checksumSecretVersions": ["v2"]');
        expect((await other.admin.backup.export()).accounts).toEqual(expected);
      }
    },
    60_000,
  );
});

describe('restore lost-account', () => {
  const restore = (...more: string[]) => on('restore lost-account', '--yes', ...more);

  it('replaces no secret where a plan differs from the set, also with --into', async () => {
    const { plans } = await service.admin.backup.export();
    await other.admin.plans.put({ code: `${plans[0]?.code}`, limits: { day: 5 } });
    const { exit, err, changes } = await restore('--into', 'a');
    expect([exit, changes]).toEqual([1, []]);
    expect(err).toContain('exists and differs from the backup; nothing was imported');
  });

  it('replaces the secret of a deployment that has the accounts of the set only with --into', async () => {
    await other.admin.backup.import(await service.admin.backup.export());
    const refused = await restore();
    expect([refused.exit, refused.changes]).toEqual([1, []]);
    expect((await restore('--into', 'a')).changes).toContain('PutSecretValue');
  });

  it('restores a set of another deployment only with --into', async () => {
    const refused = await restore('--stack', 'b');
    expect([refused.exit, refused.changes]).toEqual([1, []]);
    expect((await restore('--stack', 'b', '--into', 'b')).err).toContain('Step 3/4');
  });
});
