import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { type LoadProposal, reportOf } from '../../../loader/guard/load-report.ts';
import { openStorage } from '../../../loader/storage/open.ts';
import { getJson, paths, putJson, putPacked } from '../../../loader/storage/storage.ts';
import { findRefusedProposal } from '../../../loader/storage/stored-loads.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import type { AdminError } from '../../../packages/admin/accounts/admin-error.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import {
  changesFilesOf,
  type LoadRunner,
  loadsOf,
  readChanges,
} from '../../../packages/admin/load-approvals.ts';
import { idOf } from '../../loader/steps/months.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { createWaitingLoad, type WaitingLoad } from '../../support/waiting-load.ts';

const service = startForTests(startAddressService);
const source = startForTests(() => createWaitingLoad(service.client));
let register: WaitingLoad;
let started: string[];
let states: Map<string, 'running' | 'done' | 'failed'>;
let others: { name: string; since: string }[];

/** A runner that notes what it is asked, and runs nothing by itself. */
const runner: LoadRunner = {
  running: async () => others,
  async start(name, _load, decision) {
    if (states.has(name)) return;
    started.push(decision === 'approve' ? name : `${decision} ${name}`);
    states.set(name, 'running');
  },
  stateOf: async (name) => states.get(name) ?? 'none',
};

const loadsAs = (actor: string, other = runner) =>
  loadsOf(
    createAdminStore(service.client, testTables.accounts, actor, Date.now),
    register.storage,
    other,
  );
const codeOf = (call: Promise<unknown>) =>
  call.then(String, (error: unknown) => (error as AdminError).code);

/** What an approval or a rejection of the waiting load is given. */
async function inputNow() {
  const { load, proposal } = await loadsAs('olaf').show(register.waiting);
  return { load, proposal };
}

beforeEach(async () => {
  register = await source.copy();
  [started, states, others] = [[], new Map(), []];
  const key = { account: 'loads#', item: `approval#${register.waiting}` };
  await createAdminStore(service.client, testTables.accounts, 'test', Date.now).delete(key);
  return register.stop;
});

describe('the loads of the register', () => {
  it('are those that were published, and those that await approval, with their changes', async () => {
    const loads = loadsAs('olaf');
    expect(await loads.register()).toMatchObject({
      peildatum: '2026-01-08',
      loads: [{ peildatum: '2026-01-08', addresses: 11, removed: 0 }],
    });
    const [waits, ...more] = await loads.waiting();
    expect(more).toEqual([]);
    expect(waits).toMatchObject({
      load: register.waiting,
      peildatum: '2026-03-08',
      livePeildatum: '2026-01-08',
      removed: 4,
      objections: [{ code: 'too_many_removed' }],
      approval: null,
    });
    expect(waits?.examples.removed[0]).toEqual({
      key: '1381AA#9#A',
      before: ['Buitenveer, Weesp'],
      after: null,
      nummeraanduidingen: [idOf('1381AA 9 A')],
    });
    expect(await loads.show(register.waiting)).toEqual(waits);
  });

  it('have the names and values that the report of the command line has', async () => {
    const proposal = await findRefusedProposal(register.storage, register.waiting);
    const report = reportOf(proposal as LoadProposal, 'refused');
    const waits = await loadsAs('olaf').show(register.waiting);
    const { proposal: _proposal, changesFiles, streets, woonplaatsen, approval, ...shared } = waits;
    expect(report).toMatchObject(shared);
  });
});

describe('an approval', () => {
  it('starts the load once and records who approved it, however often it is sent', async () => {
    const input = await inputNow();
    const before = (await loadsAs('olaf').audit()).entries.length;
    const answers = await Promise.all(
      ['olaf', 'olaf', 'petra'].map((actor) => loadsAs(actor).approve(input)),
    );
    answers.push(await loadsAs('petra').approve(input));
    expect(answers.filter((answer) => answer.started)).toHaveLength(1);
    expect(started).toHaveLength(1);
    const [entry, ...older] = (await loadsAs('petra').audit()).entries;
    expect(older).toHaveLength(before);
    expect(entry).toMatchObject({
      action: 'load approve',
      outcome: 'done',
      detail: { load: register.waiting },
    });
    expect((await loadsAs('petra').show(register.waiting)).approval).toMatchObject({
      by: entry?.actor,
      state: 'running',
    });
  });

  it('runs exactly that load, which then no longer awaits approval; sending the form again starts nothing', async () => {
    const input = await inputNow();
    expect(await loadsAs('olaf').approve(input)).toMatchObject({
      load: register.waiting,
      started: true,
    });
    const { addresses, storageFolder } = register;
    await runLoad({ storage: storageFolder, addresses, approve: register.waiting, workers: 0 });
    states.set(started[0] ?? '', 'done');
    expect(await loadsAs('olaf').waiting()).toEqual([]);
    expect((await loadsAs('olaf').register()).peildatum).toBe('2026-03-08');
    expect(await loadsAs('olaf').approve(input)).toMatchObject({
      load: register.waiting,
      started: false,
    });
    expect(started).toHaveLength(1);
  });

  it('gives way to a rejection, which starts a run of its own, as long as the load waits', async () => {
    const input = await inputNow();
    await loadsAs('olaf').approve(input);
    states.set(started[0] ?? '', 'failed');
    expect(await loadsAs('petra').reject(input)).toMatchObject({
      load: register.waiting,
      started: true,
    });
    expect(await loadsAs('petra').reject(input)).toMatchObject({
      load: register.waiting,
      started: false,
    });
    expect(started).toEqual([
      expect.not.stringMatching(/^reject /),
      expect.stringMatching(/^reject /),
    ]);
    expect((await loadsAs('olaf').audit()).entries[0]).toMatchObject({
      action: 'load reject',
      actor: 'petra',
    });
    expect((await loadsAs('olaf').show(register.waiting)).approval).toMatchObject({
      decision: 'reject',
      by: 'petra',
    });
    const { addresses, storageFolder } = register;
    const report = await runLoad({ storage: storageFolder, addresses, reject: register.waiting });
    expect(report).toMatchObject({
      outcome: 'rejected',
      load: register.waiting,
      peildatum: '2026-01-08',
    });
    states.set(started[1] ?? '', 'done');
    expect(await loadsAs('olaf').waiting()).toEqual([]);
    expect(await loadsAs('petra').reject(input)).toMatchObject({
      load: register.waiting,
      started: false,
    });
    expect(await codeOf(loadsAs('petra').approve(input))).toBe('not_found');
    expect((await loadsAs('olaf').register()).peildatum).toBe('2026-01-08');
  });

  it('is refused if the load would now change something else', async () => {
    const input = await inputNow();
    const stored = await getJson<{ counts: { changes: { removed: number } } }>(
      register.storage,
      paths.proposal(register.waiting),
    );
    stored.counts.changes.removed++;
    await putJson(register.storage, paths.proposal(register.waiting), stored);
    expect(await codeOf(loadsAs('olaf').approve(input))).toBe('conflict');
    expect(started).toEqual([]);
  });

  it('is refused while another load is running', async () => {
    const input = await inputNow();
    others = [{ name: 'daily', since: '2026-03-09T05:00:00.000Z' }];
    expect(await codeOf(loadsAs('olaf').approve(input))).toBe('conflict');
    expect(started).toEqual([]);
  });

  it('can be given again when the run that it started has failed', async () => {
    const input = await inputNow();
    await loadsAs('olaf').approve(input);
    states.set(started[0] ?? '', 'failed');
    expect((await loadsAs('olaf').show(register.waiting)).approval).toMatchObject({
      state: 'failed',
    });
    expect(await loadsAs('petra').approve(input)).toMatchObject({ started: true });
    expect(new Set(started).size).toBe(2);
  });

  it('whose process died before it started the load is completed by the next approval', async () => {
    const input = await inputNow();
    const dying: LoadRunner = { ...runner, start: () => Promise.reject(new Error('died')) };
    await expect(loadsAs('olaf', dying).approve(input)).rejects.toThrow('died');
    expect((await loadsAs('olaf').audit()).entries[0]).toMatchObject({
      actor: 'olaf',
      outcome: 'unknown',
    });
    expect(await loadsAs('petra').approve(input)).toMatchObject({ started: false }); // of the approval before
    expect(started).toHaveLength(1);
  });

  it('of an unknown load is refused', async () => {
    const load = '2026-01-08-0123456789';
    expect(await codeOf(loadsAs('olaf').approve({ load, proposal: 'x' }))).toBe('not_found');
    expect(await codeOf(loadsAs('olaf').show(load))).toBe('not_found');
    expect(started).toEqual([]);
  });
});

const load = '2026-03-08-0123456789';
const planWith = (...bytes: number[]) =>
  ({
    load,
    csv: bytes.map((size, i) => ({ name: `10-00${i}`, changes: 1, bytes: size })),
  }) as unknown as LoadProposal;

describe('the files of the changes of a load', () => {
  it('have up to 4 MB of parts that belong together, in their order', () => {
    const sizes = changesFilesOf(planWith(2e6, 2e6, 1, 5e6, 3e6)).map((file) =>
      file.map(({ bytes }) => bytes),
    );
    expect(sizes).toEqual([[2e6, 2e6], [1], [5e6], [3e6]]);
  });

  const folder = folderForNow('changes-');
  it('begin with the names of the columns, each of them', async () => {
    const storage = await openStorage(folder);
    for (const [i, text] of ['a\r\n', 'b\r\n', 'c\r\n'].entries()) {
      await putPacked(storage, paths.changesCsv(load, `10-00${i}`), gzipSync(text));
    }
    const proposal = planWith(2e6, 2e6, 1);
    const head = 'key,before,after,nummeraanduidingen\r\n';
    expect(await readChanges(storage, proposal, 1)).toBe(`${head}a\r\nb\r\n`);
    expect(await readChanges(storage, proposal, 2)).toBe(`${head}c\r\n`);
    for (const file of [0, 3, -1, 1.5]) {
      await expect(readChanges(storage, proposal, file)).rejects.toMatchObject({
        code: 'not_found',
      });
    }
  });
});
