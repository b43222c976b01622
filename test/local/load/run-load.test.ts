import { beforeAll, describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import type { AddressTable } from '../../../loader/storage/address-table.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { loadHistory, loadStatus } from '../../../loader/storage/stored-loads.ts';
import type { RefusedLoadError } from '../../../loader/verdict/load-report.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { countWrites } from '../../loader/steps/count-writes.ts';
import { type LoadPlace, startLoadBench } from '../../loader/steps/load-bench.ts';
import {
  february,
  februaryChanges,
  idOf,
  january,
  listsOf,
  type Month,
  march,
  tableOf,
} from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startLoadBench);
let sources: { january: string; february: string; march: string };
let counted: Awaited<ReturnType<typeof countWrites>>;
/** January is live, once and for all; a test works on a copy. */
let loaded: LoadPlace;

beforeAll(async () => {
  sources = {
    january: await bench.extractOf(january),
    february: await bench.extractOf(february),
    march: await bench.extractOf(march),
  };
  counted = await countWrites(bench.client);
  loaded = await bench.newPlace();
  await runLoad({ ...at(loaded).options, source: sources.january });
});

/** A table and its storage, with the writes of loads that the engine counted. */
function at({ table, bucket }: LoadPlace) {
  const addresses = dynamoDbAddressTable(counted.client, table);
  const options = { storage: bench.storageIn(bucket), addresses, workers: 0 };
  return { table, units: () => counted.units(table), options };
}

const newPlace = async () => at(await bench.newPlace());
const afterJanuary = async () => at(await bench.copyPlace(loaded));

describe('a load', () => {
  it('makes the table equal to the extract, and reports what it did', async () => {
    const { table, options } = await newPlace();
    const report = await runLoad({ ...options, storage: bench.newFolder(), source: sources.january });
    expect(report).toMatchObject({
      outcome: 'published',
      peildatum: '2026-01-08',
      voorkomens: 13,
      nummeraanduidingen: 13,
      addresses: 11,
      added: 11,
      changed: 0,
      removed: 0,
      problems: 0,
    });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(await options.addresses.dataset()).toMatchObject({ peildatum: '2026-01-08' });
  });

  it('of the same extract writes nothing', async () => {
    const { units, options } = await afterJanuary();
    const before = units();
    const again = await runLoad({ ...options, source: sources.january });
    expect(again).toMatchObject({ outcome: 'unchanged', peildatum: '2026-01-08', addresses: 11, added: 0 });
    expect(units()).toBe(before);
  });

  it('of the same contents in another file writes nothing either, even when forced', async () => {
    const { units, options } = await afterJanuary();
    const before = units();
    const repacked = await bench.extractOf(january, { reversed: true, inner: 'deflated' });
    expect((await runLoad({ ...options, source: repacked })).outcome).toBe('unchanged');
    const forced = await runLoad({ ...options, source: repacked, again: true });
    expect(forced).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0 });
    expect(units()).toBe(before);
  });

  it('of the next month writes exactly the keys that changed', async () => {
    const { table, units, options } = await afterJanuary();
    const before = units();
    const report = await runLoad({ ...options, source: sources.february });
    expect(report).toMatchObject({ added: 1, changed: 4, removed: 1 });
    expect(report.examples.added.map(({ key }) => key)).toEqual(februaryChanges.added);
    expect(report.examples.changed.map(({ key }) => key)).toEqual(februaryChanges.changed);
    expect(report.examples.removed.map(({ key }) => key)).toEqual(februaryChanges.removed);
    expect(units() - before).toBe(6);
    expect(await bench.addressesIn(table)).toEqual(tableOf(february));
  });

  it('keeps the lists of toevoegingen equal to the addresses, and counts them separately', async () => {
    const { table, options, units } = await newPlace();
    const first = await runLoad({ ...options, source: sources.january });
    expect(first).toMatchObject({ addresses: 11, added: 11, changed: 0, listsChanged: 1 });
    expect([units(), await bench.listsIn(table)]).toEqual([12, listsOf(january)]);

    const more: Month = {
      peildatum: '2026-01-09',
      addresses: [
        ...january.addresses,
        ['1381AA 9 B', 'Buitenveer', 'Weesp'],
        ['2513AA 1', 'Binnenhof', '’s-Gravenhage'],
      ],
    };
    const grown = await runLoad({ ...options, source: await bench.extractOf(more) });
    // The bare 1381AA 9 only has another list; 2513AA 1 becomes an address where only a list was.
    expect(grown).toMatchObject({ addresses: 13, added: 2, changed: 0, removed: 0, listsChanged: 1 });
    expect([units() - 12, await bench.listsIn(table)]).toEqual([3, listsOf(more)]);

    const back = await runLoad({ ...options, rollback: january.peildatum });
    expect(back).toMatchObject({ addresses: 11, added: 0, changed: 0, removed: 2, listsChanged: 1 });
    expect([units() - 15, await bench.listsIn(table)]).toEqual([3, listsOf(january)]);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
  });

  it("stops before a bulk import that can't run, and the live dataset stays", async () => {
    const { options } = await newPlace();
    const noRoom = {
      takesOn: async () => Promise.reject(new Error('no room')),
      run: async () => undefined,
    };
    await expect(runLoad({ ...options, bulkImport: noRoom, source: sources.january })).rejects.toThrow('no room');
    expect(await loadStatus(options)).toMatchObject({
      published: null,
      pending: null,
    });
    expect(await runLoad({ ...options, source: sources.january })).toMatchObject({ outcome: 'published' });
  });

  it('into a new table writes everything, whatever the storage records', async () => {
    const { options } = await afterJanuary();
    const table = await bench.newTable();
    const addresses = dynamoDbAddressTable(bench.client, table);
    await runLoad({ ...options, addresses, source: sources.january });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
  });

  it('refuses a storage that does not know the snapshot in the table', async () => {
    const { options } = await afterJanuary();
    const other = await newPlace();
    const load = runLoad({ ...options, storage: other.options.storage, source: sources.february });
    await expect(load).rejects.toThrow(/holds the snapshot of 2026-01-08 .* which this storage does not know/);
  });

  it('stops with a clear message while another load is running', async () => {
    const { options } = await newPlace();
    await options.addresses.lock.acquire('elsewhere:1', 60);
    const load = runLoad({ ...options, source: sources.january });
    await expect(load).rejects.toThrow(/Another load \(elsewhere:1\) is writing to this table/);
  });

  it('takes over the lock of a process that no longer exists, and releases its own', async () => {
    const { options } = await newPlace();
    const { hostname } = await import('node:os');
    await options.addresses.lock.acquire(`${hostname()}:999999999:dead`, 60);
    await runLoad({ ...options, source: sources.january });
    await expect(options.addresses.lock.acquire('next', 60)).resolves.toMatchObject({ owner: 'next' });
  });

  it('leaves only the snapshot and the manifest behind', async () => {
    const { options } = await afterJanuary();
    const keys = (await options.storage.list('')).map((key) => key.replace(/2026-01-08-\w+/, 'ID'));
    const segments = ['10', '13', '25', '99'];
    const snapshot = [...segments, 'nummeraanduidingen/000', 'reference'];
    expect(keys).toEqual(['manifest.copy.json', 'manifest.json', ...snapshot.map((name) => `snapshots/ID/${name}`)]);
  });

  it('keeps the given number of snapshots', async () => {
    const { options } = await newPlace();
    for (const source of Object.values(sources)) await runLoad({ ...options, source, keep: 2 });
    const history = await loadHistory(options);
    expect(history.map(({ peildatum, kept }) => [peildatum, kept])).toEqual([
      ['2026-03-08', true],
      ['2026-02-08', true],
      ['2026-01-08', false],
    ]);
    const status = await loadStatus(options, Date.parse('2026-03-18T12:00:00Z'));
    expect(status).toMatchObject({ published: { peildatum: '2026-03-08' }, pending: null, ageDays: 10 });
  });
});

describe('a plan', () => {
  it('reports what the load would do, with examples, and writes nothing', async () => {
    const { table, units, options } = await afterJanuary();
    const before = units();
    const plan = await runLoad({ planOnly: true, ...options, source: sources.february });
    expect(plan).toMatchObject({
      outcome: 'planned',
      peildatum: '2026-02-08',
      livePeildatum: '2026-01-08',
      added: 1,
      changed: 4,
    });
    expect(plan.examples.changed[0]).toEqual({
      key: '1012RJ#149#',
      before: ['Nieuwezijds Voorburgwal, Amsterdam'],
      after: ['Nieuwezijds Achterburgwal, Amsterdam'],
      nummeraanduidingen: [idOf('1012RJ 149')],
    });
    expect(units()).toBe(before);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    const run = await runLoad({ ...options, source: sources.february });
    expect(run).toMatchObject({ load: plan.load, added: plan.added, changed: plan.changed, removed: plan.removed });
  });
});

describe('a rollback', () => {
  it('writes only a difference, and restores the table', async () => {
    const { table, units, options } = await afterJanuary();
    await runLoad({ ...options, source: sources.february });
    const before = units();
    const report = await runLoad({ ...options, rollback: '2026-01-08' });
    expect(report).toMatchObject({ outcome: 'published', peildatum: '2026-01-08', added: 1, changed: 4, removed: 1 });
    expect(units() - before).toBe(6);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(await options.addresses.dataset()).toMatchObject({ peildatum: '2026-01-08' });
  });

  it('is not undone by the next daily check, only on request or by a newer snapshot', async () => {
    const { table, options } = await afterJanuary();
    await runLoad({ ...options, source: sources.february });
    await runLoad({ ...options, rollback: '2026-01-08' });
    const look = await runLoad({ ...options, source: sources.february });
    expect(look).toMatchObject({ outcome: 'unchanged', reason: expect.stringMatching(/was rolled back/) });
    await runLoad({ ...options, source: sources.february, again: true });
    expect(await bench.addressesIn(table)).toEqual(tableOf(february));
    await runLoad({ ...options, source: sources.march });
    expect(await bench.addressesIn(table)).toEqual(tableOf(march));
  });

  it('to a snapshot that is not kept lists those that are', async () => {
    const { options } = await afterJanuary();
    await runLoad({ ...options, source: sources.february });
    const back = runLoad({ ...options, rollback: '2025-01-08' });
    await expect(back).rejects.toThrow('No snapshot of 2025-01-08 is kept. Choose one of: 2026-01-08.');
  });
});

describe('a load that is half written', () => {
  /** Ends while it writes, after so many files of two changes each. */
  const interrupted = async (options: Awaited<ReturnType<typeof afterJanuary>>['options'], files: number) => {
    let left = files;
    const addresses: AddressTable = Object.create(options.addresses, {
      write: {
        value: (...args: Parameters<AddressTable['write']>) => {
          if (left-- === 0) throw new Error('killed');
          return options.addresses.write(...args);
        },
      },
    });
    const run = runLoad({ ...options, addresses, changesPerFile: 2, source: sources.february });
    await expect(run).rejects.toThrow('killed');
  };

  it.each([0, 1, 2])('is undone by a rollback to what was live before it, after %i files', async (files) => {
    const { table, options } = await afterJanuary();
    await interrupted(options, files);
    // Of any size: an operator asked for it.
    const thresholds = { ...localGuardDefaults, alwaysAllowed: 0, maximumAddedShare: 0, maximumChangedShare: 0 };
    const plan = await runLoad({ ...options, thresholds, rollback: january.peildatum, planOnly: true });
    expect(plan).toMatchObject({ outcome: 'planned', objections: [] });
    expect(plan.waived.length).toBeGreaterThan(0);
    const report = await runLoad({ ...options, thresholds, rollback: january.peildatum });
    expect(report).toMatchObject({ outcome: 'published', kind: 'rollback', peildatum: january.peildatum });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(await loadStatus(options)).toMatchObject({ pending: null, published: { peildatum: january.peildatum } });
    // Nor does the next check load again what was undone.
    expect(await runLoad({ ...options, source: sources.february })).toMatchObject({ outcome: 'unchanged' });
    await runLoad({ ...options, source: sources.february, again: true });
    expect(await bench.addressesIn(table)).toEqual(tableOf(february));
  });

  it('is undone also by a rollback that was interrupted itself, and by no rollback to another snapshot', async () => {
    const { table, options } = await afterJanuary();
    await runLoad({ ...options, source: sources.february });
    await runLoad({ ...options, source: sources.march });
    await runLoad({ ...options, rollback: january.peildatum });
    await interrupted({ ...options, again: true } as typeof options, 1);
    await expect(runLoad({ ...options, rollback: march.peildatum })).rejects.toThrow(
      /The load of 2026-02-08 \(.*\) is half written\. Undo it with "load rollback .*", which puts back the register of 2026-01-08;/,
    );
    for (const step of ['guard', 'apply'] as const) {
      const onStep = (name: string) => {
        if (name === step) throw new Error('killed');
      };
      await runLoad({ ...options, rollback: january.peildatum, onStep }).catch(() => undefined);
    }
    await runLoad({ ...options, rollback: january.peildatum });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect((await loadStatus(options)).pending).toBeNull();
  });
});

describe('the guard', () => {
  const thresholds = { ...localGuardDefaults, alwaysAllowed: 0, maximumRemovedShare: 0.4, maximumChangedShare: 0.4 };
  const half = { peildatum: february.peildatum, addresses: january.addresses.slice(0, 6) };

  it.each([
    [
      'half of its addresses removed',
      () => bench.extractOf(half),
      /it would remove 5 addresses where 11 are live: 45\.5%/,
    ],
    ['no addresses', () => bench.extractOf({ ...half, addresses: [] }), /has 0 addresses, fewer than the 1 required/],
    [
      'an older date',
      () => bench.extractOf({ ...january, peildatum: '2025-12-08' }),
      /the extract of 2025-12-08 is older than the live dataset of 2026-01-08/,
    ],
  ])('stops an extract with %s before the first write', async (_, extract, message) => {
    const { table, units, options } = await afterJanuary();
    const before = units();
    await expect(runLoad({ ...options, thresholds, source: await extract() })).rejects.toThrow(message);
    expect(units()).toBe(before);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(await options.addresses.dataset()).toMatchObject({ peildatum: '2026-01-08' });
  });

  it('accepts only the approved load', async () => {
    const { table, options } = await afterJanuary();
    const run = { ...options, thresholds, source: await bench.extractOf(half) };
    const { load } = await runLoad({ ...run, planOnly: true });
    await expect(runLoad({ ...run, approve: '2026-02-08-0000000000' })).rejects.toThrow(`approve ${load}`);
    expect(await runLoad({ ...run, approve: load ?? '' })).toMatchObject({ outcome: 'published', approved: true });
    expect(await bench.addressesIn(table)).toEqual(tableOf(half));
  });

  describe('a load with allowed changes of any size', () => {
    it('publishes it, and reports the waived objections', async () => {
      const { table, options } = await afterJanuary();
      const report = await runLoad({ ...options, thresholds, source: await bench.extractOf(half), waiveSize: true });
      expect(report).toMatchObject({ outcome: 'published', approved: false, objections: [] });
      expect(report.waived.map(({ code }) => code)).toEqual(['too_many_removed']);
      expect(await bench.addressesIn(table)).toEqual(tableOf(half));
    });

    it.each([
      ['no addresses', { ...half, addresses: [] }, 'too_few_addresses'],
      ['an older date', { ...half, peildatum: '2025-12-08' }, 'older_peildatum'],
    ])('still stops an extract with %s', async (_, month, code) => {
      const { table, options } = await afterJanuary();
      const load = runLoad({ ...options, thresholds, source: await bench.extractOf(month), waiveSize: true });
      const error = await load.catch((error: RefusedLoadError) => error);
      expect((error as RefusedLoadError).report.objections).toMatchObject([{ code }]);
      expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    });

    it('lets a disposable extract, such as the demo, be replaced by an older one and replace a newer one', async () => {
      const { table, options } = await newPlace();
      const older = await bench.extractOf({ ...half, peildatum: '2025-12-08' });
      const run = { ...options, waiveSize: true, disposable: sources.january };
      await runLoad({ ...run, source: sources.january });
      expect(await runLoad({ ...run, source: older })).toMatchObject({ outcome: 'published' });
      await runLoad({ ...run, source: sources.march });
      expect(await runLoad({ ...run, source: sources.january })).toMatchObject({ outcome: 'published' });
      expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    });
  });
});
