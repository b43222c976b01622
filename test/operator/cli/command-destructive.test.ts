import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { GetCommand, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { checksumSecret, settledSecret } from '../../../core/accounts/checksum-secret.ts';
import { lockKey } from '../../../loader/storage/lock.ts';
import { destructive } from '../../../operator/cli/command.ts';
import { personalData } from '../../../operator/deployment/person.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { restoreItems, type StoredItem, storedItems } from '../../support/stored-items.ts';
import { sweep } from '../../support/sweep.ts';
import { run } from '../command-line.ts';
import { useAws } from '../fake-aws.ts';
import { startLiveDeployment } from '../live-deployment.ts';

const changing = /^(BatchWrite|Create|Delete|Start|Update|Put|Transact)/;
const isChange = (operation: string) => changing.test(operation);
/** How many more changes have an effect, as of a process that is killed then; `null`: all. */
const failure = { left: null as number | null };
const killed = (operation: string) =>
  failure.left !== null && isChange(operation) && failure.left-- <= 0;

const folder = folderForNow('destructive-');
const live = startForTests(() => startLiveDeployment(killed));

beforeAll(async () => {
  useAws(live.endpoint, { AWS_ENDPOINT_URL_S3: live.s3 });
  await live.admin.plans.put({ code: 'standard', limits: { day: 5 } });
  await live.admin.accounts.create({ id: 'acme', plan: 'standard' });
  ({ keyId } = await live.admin.keys.create({ account: 'acme', label: 'webshop' }));
  first = await storedItems(live.client, 'accounts');
  await live.loadRegisters();
});
beforeEach(async () => {
  failure.left = null;
  await restoreItems(live.client, 'accounts', first);
});

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
  'key revoke': {
    args: () => [keyId, '--account', 'acme'],
    prepare: async () => undefined,
    says: /\nRevokes key \w+, "webshop", of account "acme", never used/,
    outcome: async () => (await live.admin.keys.list('acme')).map(({ state }) => state),
  },
  'rotate-checksum-secret': {
    args: () => [],
    prepare: () =>
      live.client.send(
        new PutCommand({ TableName: 'accounts', Item: { ...settledSecret('one'), next: 'two' } }),
      ),
    says: /\nCreates another checksum secret, and signs new keys with it/,
    outcome: async () => {
      const { Item } = await live.client.send(
        new GetCommand({ TableName: 'accounts', Key: checksumSecret.key }),
      );
      return [Item?.current, Item?.next, Item?.previous];
    },
  },
  'usage close': {
    args: () => ['--month', month],
    prepare: async () => undefined,
    says: /\nCloses \d{4}-\d\d: writes the statements of all accounts/,
    outcome: async () => (await toRun('usage months')('--json')).out,
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
    says: /\nPuts the register of 2026-01-08 \(load \S+, 11 addresses\) in the place of the snapshot of 2026-02-08 \(10 addresses, \d+ days old\)/,
    outcome: register,
  },
  'load repair': {
    args: () => [],
    prepare: async () => {
      await live.goTo('2026-02-08');
      await live.putAddress(rogue);
    },
    says: /\nCompares every address with the snapshot of 2026-02-08 \(10 addresses/,
    outcome: async () => (await live.addresses.read([rogue])).size,
  },
  'load discard': {
    args: () => [refused],
    prepare: async () => {
      await live.goTo('2026-02-08');
      refused = await live.refuse();
    },
    says: /\nRemoves the work of load 2026-04-08-\w+, \d+ objects/,
    outcome: async () => (await toRun('load discard')()).err,
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
    outcome: async () =>
      (await personalData({ client: live.client, table: 'accounts' }, email)).length,
  },
  'restore carry-over': {
    args: () => ['--from', 'accounts-before', '--since', '2026-01-01T00:00:00Z'],
    async prepare() {
      await live.keepFormer((former) => former.keys.revoke({ account: 'acme', keyId }));
    },
    says: /\nRevoke key \w+ \(webshop\) of account acme\n(Stays lost: .*\n)*Would repeat 1 change/,
    outcome: async () => (await live.admin.keys.list('acme')).map(({ state }) => state),
  },
};

const agreed = (_: string) => ['--yes'];
const planned = (command: string) => (destructive[command] === 'asks' ? ['--plan'] : []);
const toRun =
  (command: string, stage = 'a', folder?: string) =>
  async (...more: string[]) => {
    live.asked.length = 0;
    const words = [
      ...command.split(' '),
      ...(cases[command]?.args() ?? []),
      '--stage',
      stage,
      ...more,
    ];
    const ended = await run(words, process.env, folder);
    // A comparison holds the lock too.
    const asked = live.asked.filter(({ input }) => !JSON.stringify(input).includes(lockKey));
    return { ...ended, changes: asked.map(({ operation }) => operation).filter(isChange) };
  };

describe('the list of commands that replace or delete', () => {
  it('has these, each of which is tried on a wrong target and killed between any two changes', () => {
    const tried = Object.keys(cases);
    expect(tried.sort()).toEqual(Object.keys(destructive).sort());
  });
});

describe('a command that replaces or deletes what is in a deployment', () => {
  it.each(Object.keys(cases))(
    '%s says where and what is there, and changes nothing in a plan',
    async (command) => {
      await cases[command]?.prepare();
      const { out, err, changes } = await toRun(command)(...planned(command));
      expect(changes).toEqual([]);
      expect(`${err}\n${out}`).toMatch(/Into: bag-adres-a in account 123456789012, eu-west-1\n/);
      expect(`${err}\n${out}`).toMatch(cases[command]?.says ?? '');
    },
  );

  it.each(sweep(Object.keys(cases), 2))(
    '%s is refused where bag-adres.json has another account',
    async (command) => {
      await cases[command]?.prepare();
      const settings = { stages: { a: { account: '999999999999', region: 'eu-west-1' } } };
      await writeFile(join(folder, 'bag-adres.json'), JSON.stringify(settings));
      const { exit, err, changes } = await toRun(command, 'a', folder)(...agreed(command));
      expect([exit, changes]).toEqual([1, []]);
      expect(err).toContain(
        'has bag-adres-a in account 999999999999, but the credentials are of 123456789012. Nothing was changed.',
      );
    },
  );

  it.each(sweep(Object.keys(cases), 2))(
    '%s changes nothing in a deployment that lacks what it names',
    async (command) => {
      await cases[command]?.prepare();
      const { exit, err } = await toRun(command, 'b')(...agreed(command), '--json');
      // The audit may tell of the attempt, and a comparison holds the lock.
      const isLasting = (input: object) =>
        ![lockKey, 'audit#'].some((text) => JSON.stringify(input).includes(text));
      const changed = live.asked.filter(
        ({ operation, input }) => isChange(operation) && isLasting(input),
      );
      expect(changed).toEqual([]);
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
  );
});
