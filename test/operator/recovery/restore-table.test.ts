import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { accountsTable } from '../../../core/names.ts';
import { tableSettingsIn } from '../../../operator/checks/table-settings.ts';
import type { Patience } from '../../../operator/connect/wait-for.ts';
import { drillStage } from '../../../operator/recovery/drill.ts';
import { restoreDeletedTable, restoreWrongContents } from '../../../operator/recovery/restore.ts';
import { templates } from '../../lib/synthesized.ts';
import { newAccount, testTables } from '../../support/address-service.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { restoreItems, type StoredItem, storedItems } from '../../support/stored-items.ts';
import { sweep } from '../../support/sweep.ts';
import { accountsTemplate, tableControl } from '../../support/table-control.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, startFakeAws, templateAnswer, testCaller, useAws } from '../fake-aws.ts';
import { deploymentStacks, isChange, OneFailure } from './recovery-bench.ts';

const table = testTables.accounts;
const tags = { application: 'bag-adres', stage: 'prod' };
let service: HttpService;
let control: ReturnType<typeof tableControl>;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let key: string;
/** What the table holds before the first test. */
let first: StoredItem[];
let leaveAws: () => void;
const operations: AwsOperations = {};
const failure = new OneFailure();

beforeAll(async () => {
  service = await startHttpService();
  aws = await startFakeAws(deploymentStacks(service.baseUrl), operations, service.endpoint);
  leaveAws = useAws(aws.endpoint);
  ({ key } = await newAccount(service, { day: 1e6 }));
  for (let count = 0; count < 3; count++) await newAccount(service, { day: 10 });
  first = await storedItems(service.client, table);
}, 60_000);
afterAll(async () => {
  leaveAws();
  await aws.stop();
  await service.stop();
});
beforeEach(() => {
  failure.next = null;
  pauses = 0;
  control = tableControl(service);
  control.adopt(table, { expiry: accountsTable.expires, tags: { ...tags } });
  for (const name of Object.keys(operations)) delete operations[name];
  Object.assign(operations, failure.in(control.operations));
  operations.GetTemplate = () => templateAnswer(accountsTemplate(tags));
});

let pauses = 0;
const patience: Patience = {
  pauseMilliseconds: 0,
  sleep: async () => {
    if (++pauses > 100) throw new Error('it waits for what never comes');
  },
};
const lines: string[] = [];
const tools = { stack: 'a', into: 'a', key: undefined, print: (line: string) => void lines.push(line), patience };

/** Runs a procedure until it has ended, as an operator does after each failure. */
async function untilDone<T>(work: () => Promise<T>): Promise<{ result: T; failures: string[] }> {
  const failures: string[] = [];
  for (;;) {
    try {
      return { result: await work(), failures };
    } catch (error) {
      failures.push((error as Error).message);
      if (failures.length > 3) throw error;
    }
  }
}

const state = async () => (await storedItems(service.client, table)).filter(({ item }) => !item.startsWith('audit#'));
const ofService = async () =>
  (await storedItems(service.client, table))
    .filter(({ account }) => account === 'service#')
    .map(({ actor, action, detail, outcome }) => ({ actor, action, detail, outcome }));
const settings = () => {
  const { isProtected, recovery, expiry, tags } = control.tables.get(table) ?? {};
  return { isProtected, recovery, expiry, tags };
};
const whole = { isProtected: true, recovery: true, expiry: accountsTable.expires, tags };

describe('restore deleted-table', () => {
  const restore = (execute: boolean, more: { key?: string } = {}) =>
    restoreDeletedTable({ ...tools, ...more, execute, table: 'accounts' });

  it('brings back every item and every setting, and ends with counts and the smoke test', async () => {
    const before = await state();
    await control.lose(table);
    const { failures, result } = await untilDone(() => restore(true));
    expect(failures).toEqual([]);
    expect(await state()).toEqual(before);
    expect(settings()).toEqual(whole);
    expect(result.summary.join('\n')).toMatch(/Now: \d+ plans, \d+ accounts, \d+ active keys/);
    expect(await ofService()).toEqual([
      {
        actor: testCaller,
        action: 'restore deleted-table',
        detail: { table, backup: expect.any(String), before: 'deleted' },
        outcome: 'done',
      },
    ]);
    const again = await restore(true, { key });
    expect(await ofService()).toHaveLength(1);
    expect(again.took).toEqual([]);
    expect(again.summary.join('\n')).toMatch(/Smoke test: \d+ passed, 0 failed/);
  }, 60_000);

  it('ends with a warning where the accounts table refuses the entry in the audit', async () => {
    await control.lose(table);
    operations.PutItem = () => ({ error: 'AccessDeniedException' });
    const { summary } = await restore(true);
    expect(summary.join('\n')).toContain('Not in the audit, as the accounts table refuses the entry');
    expect(settings()).toEqual(whole);
  });

  it('changes nothing without --yes', async () => {
    await control.lose(table);
    aws.asked.length = 0;
    const planned = await run(['restore', 'deleted-table', '--table', 'accounts', '--stack', 'a']);
    expect(planned).toMatchObject({ exit: 0, out: expect.stringContaining('Nothing was changed.') });
    expect(planned.err).toMatch(
      /1\/2 {2}to do +Restore accounts from the backup .*\n2\/2 {2}to do +Set what a restore/,
    );
    expect(aws.asked.filter(({ operation }) => isChange(operation))).toEqual([]);
    await untilDone(() => restore(true));
  });

  it.each(
    sweep(
      [1, 2, 3, 4, 5].flatMap((call) => (['before', 'after'] as const).map((when) => [call, when] as const)),
      2,
    ),
  )('continues when change %i failed, %s its effect', async (call, when) => {
    const before = await state();
    await control.lose(table);
    failure.next = { call, when };
    const { failures } = await untilDone(() => restore(true));
    expect(failures).toEqual([expect.stringContaining('run the same command again: it continues there')]);
    expect([await state(), settings()]).toEqual([before, whole]);
  });

  it('refuses where there is nothing to restore, or no backup', async () => {
    await expect(restore(true)).rejects.toThrow('The table accounts exists (ACTIVE), so there is nothing to restore.');
    Object.assign(control.tables.get(table) ?? {}, { recovery: false });
    const before = await storedItems(service.client, table);
    await control.lose(table);
    await expect(restore(true)).rejects.toThrow('DynamoDB has no backup of the deleted table accounts');
    await control.operations.RestoreTableFromBackup?.({} as never);
    control.backups.push({ arn: 'x', name: 'x', of: table, type: 'USER', made: 1, items: before });
    await control.operations.RestoreTableFromBackup?.({ TargetTableName: table, BackupArn: 'x' } as never);
  });
});

describe('restore wrong-contents', () => {
  const at = new Date(Math.floor(Date.now() / 1000) * 1000 - 1000);
  const restore = (execute: boolean) => restoreWrongContents({ ...tools, execute, at });

  // A procedure looks at every account: those of the tests before would make each slower than the last.
  beforeEach(() => restoreItems(service.client, table, first));

  /** A table that went wrong a moment after `at`, and what it should hold again. */
  async function damage() {
    const account = await newAccount(service, { day: 10 });
    await control.remember(table, at);
    const right = await state();
    const added = await service.admin.keys.create({ account: account.id, label: 'made since' });
    await service.admin.keys.revoke({ account: account.id, keyId: account.keyId });
    await service.admin.accounts.set({ id: account.id, limits: { day: 0 } });
    return { account, added, right };
  }

  it('brings back the contents, but not a key that was revoked since', async () => {
    const { account, added } = await damage();
    lines.length = 0;
    const planned = await restore(false);
    expect(planned.summary.join('\n')).toMatch(/Withdrawn since, and withdrawn again:\n.*key revoke .*"keyId"/);
    expect(planned.summary.join('\n')).toMatch(
      /lost with this restore; make these changes again:\n[\s\S]*key create .*\n.*account set/,
    );
    expect(lines.filter((line) => line.includes('DESTROYS'))).toEqual([expect.stringContaining('Delete accounts')]);
    const { result } = await untilDone(() => restore(true));
    const shown = await service.admin.accounts.show(account.id);
    expect(shown.windows.day?.limit).toBe(10);
    expect(shown.keys.map(({ keyId, state }) => [keyId, state])).toEqual([[account.keyId, 'revoked']]);
    expect((await service.instance.lookUp(account.key)).status).toBe(401);
    expect((await service.instance.lookUp(added.key)).status).toBe(401);
    expect(settings()).toEqual(whole);
    const [, good, now] = /Of .*: (.*)\.\nNow: (.*)\./.exec(result.summary.join('\n')) ?? [];
    expect(now).toBe(good);
    // What was live exists still, as a backup, beside the copy.
    expect(control.backups.map(({ name }) => name.split('-')[0]).sort()).toEqual([
      'accounts$DeletedTableBackup',
      'good',
      'wrong',
    ]);
  });

  it.each(
    sweep(
      Array.from({ length: 10 }, (_, i) => [i + 1, i % 2 ? 'before' : 'after'] as const),
      2,
    ),
  )(
    'continues when change %i failed, %s its effect, and never loses both tables',
    async (call, when) => {
      const { account } = await damage();
      failure.next = { call, when };
      const { failures } = await untilDone(() => restore(true));
      expect(failures).toHaveLength(1);
      expect((await service.admin.accounts.show(account.id)).windows.day?.limit).toBe(10);
      expect(settings()).toEqual(whole);
    },
    60_000,
  );

  inSweep('is not undone by a restore of the deleted table, which holds the wrong contents', async () => {
    await damage();
    failure.next = { call: 6, when: 'before' };
    await expect(restore(true)).rejects.toThrow(/Step 6\/7 failed/);
    expect(control.tables.has(table)).toBe(false);
    await expect(restoreDeletedTable({ ...tools, execute: true, table: 'accounts' })).rejects.toThrow(
      `Continue it: restore wrong-contents --at ${at.toISOString().replace('.000', '')}`,
    );
    await untilDone(() => restore(true));
  });

  inSweep('is audited under the identity that AWS sees', async () => {
    const { account } = await damage();
    await untilDone(() => restore(true));
    expect((await service.admin.accounts.audit(account.id)).entries[0]).toMatchObject({
      action: 'key revoke',
      actor: testCaller,
    });
    const counts = expect.objectContaining({ accounts: expect.any(Number) });
    expect((await ofService()).at(-1)).toEqual({
      actor: testCaller,
      action: 'restore wrong-contents',
      detail: {
        table,
        at: at.toISOString(),
        counts,
        before: counts,
        lost: expect.any(Number),
        withdrawnAgain: expect.any(Number),
      },
      outcome: 'done',
    });
    await run(['account', 'suspend', account.id, '--stack', 'a']);
    expect((await service.admin.accounts.audit(account.id)).entries[0]).toMatchObject({
      action: 'account suspend',
      actor: testCaller,
    });
    operations.GetCallerIdentity = () => ({ error: 'ServiceUnavailable' });
    await run(['account', 'activate', account.id, '--stack', 'a']);
    expect((await service.admin.accounts.audit(account.id)).entries[0]?.actor).toMatch(/@.* \(not confirmed by AWS\)$/);
  });

  it('refuses a time that can not be restored', async () => {
    const long = await run(['restore', 'wrong-contents', '--at', '2020-01-01T00:00:00Z', '--stack', 'a']);
    expect(long).toMatchObject({ exit: 1, err: expect.stringContaining('can be restored to a time from 2026-') });
    const form = await run(['restore', 'wrong-contents', '--at', 'yesterday', '--stack', 'a']);
    expect(form).toMatchObject({ exit: 2, err: expect.stringContaining('2026-01-31T12:00:00Z') });
    const future = await run(['restore', 'wrong-contents', '--at', '2099-01-01T00:00:00Z', '--stack', 'a']);
    expect(future).toMatchObject({ exit: 2, err: expect.stringContaining('in the future') });
  });
});

describe('the settings of a table', () => {
  it('are read from the template as it is deployed', async () => {
    const { data } = await templates();
    expect(tableSettingsIn(JSON.stringify(data), 'accounts')).toEqual({
      deletionProtection: true,
      pointInTimeRecovery: true,
      timeToLive: accountsTable.expires,
      tags,
    });
    expect(tableSettingsIn(JSON.stringify(data), 'addresses')).toMatchObject({ timeToLive: null, tags });
    expect(() => tableSettingsIn('{}', 'accounts')).toThrow('has no accounts table');
  }, 60_000);
});

describe('drill', () => {
  const drill = (seed: number, stack = 'a') => {
    const sleep = async (milliseconds: number) => {
      await patience.sleep(0);
      // The pause after the time to which the table goes back.
      if (milliseconds === 2_000) await control.remember(table, new Date(Date.now() - 5_000));
    };
    return drillStage({
      stack,
      into: 'a',
      execute: true,
      seed,
      print: tools.print,
      patience: { pauseMilliseconds: 0, sleep },
    });
  };

  const seeds: [number, string[]][] = [
    [4, ['deleted-table', 'wrong-contents']],
    [9, ['wrong-contents', 'deleted-table']],
  ];
  it.each(sweep(seeds, 1))(
    'loses no account and no key of a test stage, though each procedure is interrupted: seed %i',
    async (seed, order) => {
      const before = await state();
      lines.length = 0;
      const { procedures } = await drill(seed);
      expect(procedures.map(({ procedure }) => procedure)).toEqual(order);
      for (const one of procedures) {
        expect(one).toMatchObject({ lostAccounts: 0, lostKeys: 0, interruptedBefore: expect.any(String) });
        expect(one.minutes).toBeGreaterThanOrEqual(one.minutesDown);
      }
      expect(lines.filter((line) => /interrupted before step \d: the same command again/.test(line))).toHaveLength(2);
      expect(settings()).toEqual(whole);
      expect(await state()).toEqual(before);
      expect((await service.instance.lookUp(key)).status).toBe(200);
    },
  );

  it('by command line shows its plan, and changes nothing without --yes', async () => {
    const { exit, out, err } = await run(['drill', '--stack', 'a']);
    expect(exit).toBe(0);
    expect(err).toMatch(
      /^Into: a in account 123456789012.*\nThere now: [\s\S]*\nNothing was changed. .*--yes --into a\.$/,
    );
    expect(out).toMatch(/Deletes the accounts table.*restore deleted-table/);
    expect(settings()).toEqual(whole);
    expect(await run(['drill', '--stack', 'a', '--seed', 'x'])).toMatchObject({ exit: 2 });
  });

  it('is refused in production', async () => {
    await expect(drill(1, 'bag-adres-prod')).rejects.toThrow('bag-adres-prod is production');
    expect(settings()).toEqual(whole);
  });
});
