import { describe, expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import type { AddressTable, BulkImport } from '../../../loader/storage/address-table.ts';
import { loadHistory, loadStatus } from '../../../loader/storage/stored-loads.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import {
  february,
  februaryChanges,
  january,
  listsOf,
  type Month,
  march,
  tableOf,
} from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startLoadBench);
const afterJanuary = () => bench.after([january]);

describe('a load', () => {
  it('of the same extract writes nothing, nor of its contents in another file, even when forced', async () => {
    const dataset = await afterJanuary();
    const before = dataset.units();
    const again = await dataset.load({ month: january });
    expect(again).toMatchObject({
      outcome: 'unchanged',
      peildatum: '2026-01-08',
      addresses: 11,
      added: 0,
    });
    const source = await bench.extractOf(january, { reversed: true, inner: 'deflated' });
    expect((await dataset.load({ source })).outcome).toBe('unchanged');
    const forced = await dataset.load({ source, again: true });
    expect(forced).toMatchObject({ outcome: 'published', added: 0, changed: 0, removed: 0 });
    expect(dataset.units()).toBe(before);
  });

  it('of the next month writes exactly the keys that changed', async () => {
    const dataset = await afterJanuary();
    const before = dataset.units();
    const report = await dataset.load({ month: february });
    expect(report).toMatchObject({ added: 1, changed: 4, removed: 1 });
    for (const kind of ['added', 'changed', 'removed'] as const) {
      expect(report.examples[kind].map(({ key }) => key)).toEqual(februaryChanges[kind]);
    }
    expect(dataset.units() - before).toBe(6);
    expect(await dataset.served()).toEqual(tableOf(february));
  });

  it('keeps the lists of toevoegingen equal to the addresses, and counts them separately', async () => {
    const dataset = await bench.newDataset();
    const first = await dataset.load({ month: january });
    expect(first).toMatchObject({
      outcome: 'published',
      peildatum: '2026-01-08',
      listsChanged: 1,
      voorkomens: 13,
      nummeraanduidingen: 13,
      addresses: 11,
      problems: 0,
      added: 11,
      changed: 0,
      removed: 0,
    });
    expect([dataset.units(), await dataset.lists()]).toEqual([12, listsOf(january)]);

    const more: Month = {
      peildatum: '2026-01-09',
      addresses: [
        ...january.addresses,
        ['1381AA 9 B', 'Buitenveer', 'Weesp'],
        ['2513AA 1', 'Binnenhof', '’s-Gravenhage'],
      ],
    };
    const grown = await dataset.load({ month: more });
    // The bare 1381AA 9 only has another list; 2513AA 1 becomes an address where only a list was.
    expect(grown).toMatchObject({
      addresses: 13,
      added: 2,
      changed: 0,
      removed: 0,
      listsChanged: 1,
    });
    expect([dataset.units() - 12, await dataset.lists()]).toEqual([3, listsOf(more)]);

    const back = await dataset.load({ rollback: january.peildatum });
    expect(back).toMatchObject({
      addresses: 11,
      added: 0,
      changed: 0,
      removed: 2,
      listsChanged: 1,
    });
    expect([dataset.units() - 15, await dataset.lists()]).toEqual([3, listsOf(january)]);
    expect(await dataset.served()).toEqual(tableOf(january));
  });

  it('counts a first load alike after the addresses that it gives as examples', async () => {
    const dataset = await bench.newDataset();
    const names = [
      ...[1, 2, 3, 4, 5].map((number) => `1381AA ${number}`),
      '1391AA 7',
      '1391AA 9 A',
    ];
    const month: Month = {
      peildatum: '2026-01-08',
      addresses: names.map((name) => [name, 'Buitenveer', 'Weesp']),
    };
    const report = await dataset.load({ month });
    expect(report).toMatchObject({
      addresses: 7,
      added: 7,
      changed: 0,
      removed: 0,
      listsChanged: 1,
    });
    expect(report.examples.added.map(({ key }) => key)).toEqual(
      [1, 2, 3, 4, 5].map((number) => `1381AA#${number}#`),
    );
    expect([dataset.units(), await dataset.lists()]).toEqual([8, listsOf(month)]);
    expect(await dataset.served()).toEqual(tableOf(month));
  });

  it('writes nothing for a bulk import that can not run or fails, and imports again, with no address by itself', async () => {
    const dataset = await bench.newDataset();
    const noRoom = {
      takesOn: async () => Promise.reject(new Error('no room')),
      run: async () => undefined,
    };
    await expect(dataset.load({ bulkImport: noRoom, month: january })).rejects.toThrow('no room');
    expect(await loadStatus(dataset)).toMatchObject({ published: null, pending: null });
    const failing = {
      takesOn: async () => true,
      run: async () => Promise.reject(new Error('killed')),
    };
    await expect(dataset.load({ bulkImport: failing, month: january })).rejects.toThrow('killed');
    const run: BulkImport['run'] = async (groups) => {
      for await (const lines of groups) await bench.putLines(dataset.table, lines);
    };
    await dataset.load({ bulkImport: { ...failing, run }, month: january });
    const written = dataset.units();
    expect(await dataset.served()).toEqual(tableOf(january));
    await dataset.load({ month: february });
    expect([written, dataset.units() - written]).toEqual([12, 6]);
  });

  it('into a new table writes everything, whatever the storage records', async () => {
    const dataset = await afterJanuary();
    const other = await bench.newDataset();
    await dataset.load({ addresses: other.addresses, month: january });
    expect(await other.served()).toEqual(tableOf(january));
  });

  it('leaves only the snapshot and the manifest behind', async () => {
    const { storage } = await afterJanuary();
    const keys = (await storage.list('')).map((key) => key.replace(/2026-01-08-\w+/, 'ID'));
    const snapshot = ['10', '13', '25', '99', 'nummeraanduidingen/000', 'reference'];
    expect(keys).toEqual([
      'manifest.copy.json',
      'manifest.json',
      ...snapshot.map((name) => `snapshots/ID/${name}`),
    ]);
  });

  it('keeps the given number of snapshots', async () => {
    const dataset = await bench.after([january, february, march], { keep: 2 });
    const kept = (await loadHistory(dataset)).map((entry) => `${entry.peildatum} ${entry.kept}`);
    expect(kept).toEqual(['2026-03-08 true', '2026-02-08 true', '2026-01-08 false']);
    const status = await loadStatus(dataset, Date.parse('2026-03-18T12:00:00Z'));
    expect(status).toMatchObject({
      published: { peildatum: '2026-03-08' },
      pending: null,
      ageDays: 10,
    });
  });
});

describe('a load that is half written', () => {
  /** Loads February, which ends while it writes, after so many files of two changes each. */
  const interrupt = async (dataset: Dataset, files: number, again = false) => {
    let left = files;
    const addresses: AddressTable = Object.create(dataset.addresses, {
      write: {
        value: (...args: Parameters<AddressTable['write']>) => {
          if (left-- === 0) throw new Error('killed');
          return dataset.addresses.write(...args);
        },
      },
    });
    await expect(
      dataset.load({ addresses, again, changesPerFile: 2, month: february }),
    ).rejects.toThrow('killed');
  };

  it.each([0, 1, 2])(
    'is undone by a rollback to what was live before it, after %i files',
    async (files) => {
      const dataset = await afterJanuary();
      await interrupt(dataset, files);
      // Of any size: an operator asked for it.
      const thresholds = { ...localGuardDefaults, alwaysAllowed: 0, maximumShare: 0 };
      const plan = await dataset.load({ thresholds, rollback: january.peildatum, planOnly: true });
      expect(plan).toMatchObject({ outcome: 'planned', objections: [] });
      expect(plan.overruled.length).toBeGreaterThan(0);
      const report = await dataset.load({ thresholds, rollback: january.peildatum });
      expect(report).toMatchObject({
        outcome: 'published',
        kind: 'rollback',
        peildatum: january.peildatum,
      });
      expect(await dataset.served()).toEqual(tableOf(january));
      expect(await loadStatus(dataset)).toMatchObject({
        pending: null,
        published: { peildatum: january.peildatum },
      });
      // Nor does the next check load again what was undone.
      expect(await dataset.load({ month: february })).toMatchObject({ outcome: 'unchanged' });
      await dataset.load({ month: february, again: true });
      expect(await dataset.served()).toEqual(tableOf(february));
    },
  );

  it('is undone also by a rollback that was interrupted itself, and by no rollback to another snapshot', async () => {
    const dataset = await bench.after([january, february, march]);
    await dataset.load({ rollback: january.peildatum });
    await interrupt(dataset, 1, true);
    await expect(dataset.load({ rollback: march.peildatum })).rejects.toThrow(
      /The load of 2026-02-08 \(.*\) is half written: finish it with "load run --finish", or undo it with "load rollback .*", which puts back the register of 2026-01-08\. Then roll back to 2026-03-08\.$/,
    );
    for (const step of ['guard', 'apply'] as const) {
      const onStep = (name: string) => {
        if (name === step) throw new Error('killed');
      };
      await dataset.load({ rollback: january.peildatum, onStep }).catch(() => undefined);
    }
    await dataset.load({ rollback: january.peildatum });
    expect(await dataset.served()).toEqual(tableOf(january));
    expect((await loadStatus(dataset)).pending).toBeNull();
  });
});

describe('a rollback to a date with several snapshots', () => {
  it('names each of them by its load, which is accepted', async () => {
    const corrected = { ...january, addresses: january.addresses.slice(1) };
    const dataset = await bench.after([january, corrected], { waiveSize: true });
    const [live, first] = await loadHistory(dataset);
    const loads = [live, first].map((entry) => entry?.load ?? '');
    await expect(dataset.load({ rollback: january.peildatum })).rejects.toMatchObject({
      name: 'AmbiguousSnapshotError',
      message: expect.stringMatching(
        new RegExp(
          `^Several snapshots of 2026-01-08 are kept\\. Choose one by its load: "load rollback ${loads[0]}" \\(published at .*, live\\), "load rollback ${loads[1]}" \\(published at [^,]*\\)\\.$`,
        ),
      ),
    });
    expect(await dataset.load({ rollback: loads[1] })).toMatchObject({ outcome: 'published' });
    expect(await dataset.served()).toEqual(tableOf(january));
    // The rollback has the snapshot of that load: there are no more than two to choose from.
    await expect(dataset.load({ rollback: january.peildatum })).rejects.toThrow(
      /^Several snapshots of 2026-01-08 are kept\. [^(]*\([^(]*\([^(]*$/,
    );
  });
});

describe('a load in threads', () => {
  it('has as many buckets as in one thread', async () => {
    const buckets = [];
    for (const workers of [0, 1]) {
      const storage = bench.newFolder();
      const dataset = await bench.newDataset({ storage, workers, bucketBytes: 100 });
      await dataset.load({ month: january });
      const { published } = await loadStatus(dataset);
      buckets.push(published?.snapshot.buckets);
    }
    expect(buckets[0]).toBeGreaterThan(1);
    expect(buckets[1]).toBe(buckets[0]);
  });
});

describe('the guard', () => {
  const thresholds = { ...localGuardDefaults, alwaysAllowed: 0, maximumShare: 0.4 };
  const half: Month = { peildatum: february.peildatum, addresses: january.addresses.slice(0, 6) };

  it('stops an extract with half of its addresses removed before the first write, unless that load is approved', async () => {
    const dataset = await afterJanuary();
    const before = dataset.units();
    const run = { thresholds, month: half };
    await expect(dataset.load(run)).rejects.toThrow(
      /it would remove 6 of the 12 addresses: 50%, over the limit of 4 \(40%\)/,
    );
    const { load } = await dataset.load({ ...run, planOnly: true });
    const work = (await dataset.storage.list('')).filter((key) =>
      /^loads.*(rows|joined)/.test(key),
    );
    expect(work).toEqual([expect.stringMatching(/joined\/nummeraanduidingen\/000\.json$/)]);
    await expect(dataset.load({ ...run, approve: '2026-02-08-0000000000' })).rejects.toThrow(
      `approve ${load}`,
    );
    expect([dataset.units(), await dataset.served()]).toEqual([before, tableOf(january)]);
    expect(await dataset.load({ ...run, approve: load ?? '' })).toMatchObject({
      outcome: 'published',
      approved: true,
    });
    expect(await dataset.served()).toEqual(tableOf(half));
  });

  it('lets a disposable extract, such as the demo, be replaced by an older one and replace a newer one', async () => {
    const dataset = await bench.newDataset({
      waiveSize: true,
      disposable: await bench.extractOf(january),
    });
    await dataset.load({ month: january });
    expect(await dataset.load({ month: { ...half, peildatum: '2025-12-08' } })).toMatchObject({
      outcome: 'published',
    });
    await dataset.load({ month: march });
    expect(await dataset.load({ month: january })).toMatchObject({ outcome: 'published' });
    expect(await dataset.served()).toEqual(tableOf(january));
  });
});
