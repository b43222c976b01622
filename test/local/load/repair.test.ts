import { readFileSync } from 'node:fs';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type AddressItem, addressItem, keyItem, type StoredAddress } from '../../../core/addresses/address-item.ts';
import { dynamoDbAddressTable, scanAddresses } from '../../../loader/storage/address-table.ts';
import { paths } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import { LinesBySegment, repairTable } from '../../../local/load/repair.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { countWrites } from '../../loader/steps/count-writes.ts';
import { type LoadPlace, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, listsOf, march, tableOf } from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const bench = startForTests(startLoadBench);
let sources: { january: string; february: string; march: string };
let counted: Awaited<ReturnType<typeof countWrites>>;
/** January is live, once and for all; each test works on a copy. */
let loaded: LoadPlace;
let place: ReturnType<typeof at>;

beforeAll(async () => {
  const [one, two, three] = await Promise.all([january, february, march].map((month) => bench.extractOf(month)));
  sources = { january: one as string, february: two as string, march: three as string };
  counted = await countWrites(bench.client);
  loaded = await bench.newPlace();
  await runLoad({ ...at(loaded).options, source: sources.january });
});
beforeEach(async () => {
  place = at(await bench.copyPlace(loaded));
});

function at({ table, bucket }: LoadPlace) {
  const addresses = dynamoDbAddressTable(counted.client, table);
  const options = { storage: bench.storageIn(bucket), addresses, workers: 0 };
  return { table, units: () => counted.units(table), options, scan: () => scanAddresses(bench.client, table) };
}

const repair = (more: { planOnly?: boolean } = {}) => repairTable({ ...place.options, scan: place.scan, ...more });
const put = (Item: AddressItem) => bench.client.send(new PutItemCommand({ TableName: place.table, Item }));
const remove = (key: string) => bench.client.send(new DeleteItemCommand({ TableName: place.table, Key: keyItem(key) }));
const served = () => bench.addressesIn(place.table);
const stored = async (key: string) => (await place.options.addresses.read([key])).get(key) as StoredAddress;

/** One key of each kind of damage that an edit by hand can do. */
async function damage() {
  const [kerkstraat, dorpsstraat] = ['Kerkstraat', 'Dorpsstraat'].map((straat, index) => ({
    M: { straat: { S: straat }, woonplaats: { S: index === 0 ? 'Weesp' : 'Amsterdam' } },
  }));
  await remove('1012RJ#147#');
  await put(addressItem({ key: '1381AA#7#', places: [{ straat: 'Anderestraat', woonplaats: 'Weesp' }] }));
  await put({ ...keyItem('9999ZZ#1#'), places: { L: [kerkstraat, dorpsstraat].flatMap((one) => one ?? []) } });
  await put({ ...keyItem('1381GH#3#'), straat: { S: 'Kalverstraat' } });
  await put(addressItem({ key: '1381AA#8#', places: [{ straat: 'Nieuwestraat', woonplaats: 'Weesp' }] }));
  await put(addressItem({ key: '4205EW#14#A', places: [{ straat: 'Omsnijdersweg', woonplaats: 'Gorinchem' }] }));
}

describe('a repair', () => {
  it('finds every missing, different and unexpected key anywhere, and corrects it', async () => {
    await damage();
    expect(await repair()).toMatchObject({
      outcome: 'repaired',
      peildatum: january.peildatum,
      addresses: 11,
      added: 2,
      changed: 2,
      removed: 2,
      listsChanged: 0,
      examples: { removed: [{ key: '1381AA#8#' }, { key: '4205EW#14#A', before: ['Omsnijdersweg, Gorinchem'] }] },
      pending: false,
    });
    expect(await served()).toEqual(tableOf(january));
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
  });

  it('finds every missing, different and unexpected list of toevoegingen, separately from the addresses', async () => {
    const lists = await bench.listsIn(place.table);
    expect(lists).toEqual(listsOf(january));
    await remove('2513AA#1#');
    await put(addressItem({ ...(await stored('1381AA#9#')), toevoegingen: [null, 'A', 'B'] }));
    await put(addressItem({ key: '1381AA#8#', places: [], toevoegingen: ['Z'] }));
    await put(addressItem({ ...(await stored('1381AA#7#')), toevoegingen: [null, 'X'] }));
    expect(await repair()).toMatchObject({ addresses: 11, added: 0, changed: 0, removed: 0, listsChanged: 4 });
    expect(await bench.listsIn(place.table)).toEqual(lists);
    expect(await served()).toEqual(tableOf(january));
    expect(await repair()).toMatchObject({ listsChanged: 0 });
  });

  it.each([
    ['missing', null],
    ['damaged', Buffer.from('junk')],
  ])('names objects behind the snapshot that are %s, which only an extract can restore', async (_, bytes) => {
    expect(await repair()).toMatchObject({ unusable: [] });
    const { published } = await readManifest(place.options.storage);
    const id = published?.snapshot.id ?? '';
    const keys = [paths.snapshotReference(id), paths.records(id, 'nummeraanduidingen', '000')];
    for (const key of keys) {
      if (bytes) await place.options.storage.put(key, bytes);
      else await place.options.storage.delete([key]);
    }
    expect(await repair()).toMatchObject({ outcome: 'repaired', rebuilt: [], unusable: keys });
    await runLoad({ ...place.options, source: sources.january, again: true });
    expect(await repair()).toMatchObject({ unusable: [] });
  });

  it('with --plan reports the same and writes no address, like one that finds no difference', async () => {
    const before = place.units();
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
    await damage();
    const damaged = await served();
    expect(await repair({ planOnly: true })).toMatchObject({ outcome: 'planned', added: 2, changed: 2, removed: 2 });
    expect(place.units()).toBe(before);
    expect(await served()).toEqual(damaged);
    await repair();
    expect(place.units()).toBe(before + 6);
  });

  it('corrects any damage', async () => {
    const keys = [...tableOf(january).keys(), '1012RJ#1#', '1012RJ#14#', '1381AA#9#B', '8888AA#1#'];
    const edit = fc.record({ key: fc.constantFrom(...keys), straat: fc.option(fc.constantFrom('a\tb', '𝔸', 'Dam')) });
    await fc.assert(
      fc.asyncProperty(fc.array(edit, { maxLength: 12 }), async (edits) => {
        for (const { key, straat } of edits) {
          if (straat === null) await remove(key);
          else {
            const L = [{ M: { straat: { S: straat }, woonplaats: { S: 'Weesp' } } }];
            await put({ ...keyItem(key), places: { L } });
          }
        }
        await repair();
        expect(await served()).toEqual(tableOf(january));
      }),
      { numRuns: isFullSweep ? 20 : 3 },
    );
  });

  it('does not change keys that no lookup can request', async () => {
    const notes = [keyItem('#note'), { ...keyItem('1012RJ#147#\tx'), places: { L: [] } }];
    for (const note of notes) await put(note);
    expect(await repair()).toMatchObject({ added: 0, changed: 0, removed: 0 });
    for (const { address } of notes) await remove(address?.S ?? '');
    expect(await served()).toEqual(tableOf(january));
  });

  it('lets a load continue whose verification found a wrong key outside its changes', async () => {
    await put(addressItem({ key: '1012RJ#147#', places: [{ straat: 'Kalverstraat', woonplaats: 'Amsterdam' }] }));
    const load = () => runLoad({ ...place.options, source: sources.february });
    for (let times = 0; times < 2; times++) await expect(load()).rejects.toThrow(/1012RJ#147#.*"load repair"/);
    expect(await repair()).toMatchObject({ peildatum: february.peildatum, changed: 1, pending: true });
    expect(await load()).toMatchObject({ outcome: 'published', peildatum: february.peildatum });
    expect(await served()).toEqual(tableOf(february));
  });

  describe('of a table with a pending load', () => {
    const load = () => runLoad({ ...place.options, changesPerFile: 2, source: sources.february });
    const storage = () => place.options.storage;
    const work = () => storage().list(paths.loads);
    beforeEach(async () => {
      await put(addressItem({ key: '1012RJ#147#', places: [{ straat: 'Kalverstraat', woonplaats: 'Amsterdam' }] }));
      await expect(load()).rejects.toThrow(/1012RJ#147#/);
    });

    it('leaves nothing to write, so that the next run only verifies and publishes', async () => {
      expect(await repair()).toMatchObject({ changed: 1, pending: true });
      expect(await place.options.addresses.dataset()).toMatchObject({ peildatum: february.peildatum });
      const before = place.units();
      expect(await load()).toMatchObject({ outcome: 'published', peildatum: february.peildatum, added: 1, changed: 4 });
      expect(place.units()).toBe(before);
      expect(await served()).toEqual(tableOf(february));
    });

    const parts: [string, (key: string) => boolean][] = [
      ['one file of its changes', (key) => key.includes('/changes/13-000')],
      ['all of its work', () => true],
      ['the list of its changes', (key) => key.endsWith('/changes.json')],
    ];
    it.each(sweep(parts, 1))('is the remedy when %s is missing, and a load says so', async (_, isGone) => {
      const gone = (await work()).filter(isGone);
      expect(gone).not.toEqual([]);
      await storage().delete(gone);
      const goneError = {
        name: 'WorkGoneError',
        message: expect.stringMatching(/2026-02-08 .*Run "load repair".* then/),
      };
      for (let times = 0; times < 2; times++) await expect(load()).rejects.toMatchObject(goneError);

      await damage();
      await repair();
      expect(await load()).toMatchObject({
        outcome: 'published',
        peildatum: february.peildatum,
        addresses: 11,
        added: 1,
        changed: 4,
      });
      expect(await served()).toEqual(tableOf(february));
      expect(await load()).toMatchObject({ outcome: 'unchanged' });
      expect(await work()).toEqual([]);
    });
  });

  it('with a first load under the name of none ends with exactly the register, when a storage was lost', async () => {
    const recovery = readFileSync(new URL('../../../docs/recovery.md', import.meta.url), 'utf8');
    const [, key = ''] = /aws dynamodb delete-item .*\n? .*--key '(.+)'/.exec(recovery) ?? [];
    const { bucket } = await bench.newPlace();
    const options = { ...place.options, storage: bench.storageIn(bucket) };
    const load = () => runLoad({ ...options, source: sources.february });
    await expect(load()).rejects.toMatchObject({ name: 'ForeignStorageError' });
    await bench.client.send(new DeleteItemCommand({ TableName: place.table, Key: JSON.parse(key) }));
    expect(await load()).toMatchObject({ outcome: 'published', added: 11 });
    expect(await repairTable({ ...options, scan: place.scan })).toMatchObject({ added: 0, changed: 0, removed: 1 });
    expect(await served()).toEqual(tableOf(february));
  });

  it('ends with exactly the register, when the manifest of a first load was lost before it was published', async () => {
    const first = at(await bench.newPlace());
    const begin = runLoad({
      ...first.options,
      source: sources.january,
      addresses: { ...first.options.addresses, setDataset: async () => Promise.reject(new Error('killed')) },
    });
    await expect(begin).rejects.toThrow(/killed/);
    await first.options.storage.delete([paths.manifest, paths.manifestCopy]);
    expect(await runLoad({ ...first.options, source: sources.february })).toMatchObject({ added: 11 });
    expect(await bench.addressesIn(first.table)).not.toEqual(tableOf(february));
    expect(await repairTable({ ...first.options, scan: first.scan })).toMatchObject({
      added: 0,
      changed: 0,
      removed: 1,
    });
    expect(await bench.addressesIn(first.table)).toEqual(tableOf(february));
  });

  it('restores a table that is from a backup or empty to its state before the loss', async () => {
    const backup = await bench.copyTable(place.table);
    await runLoad({ ...place.options, source: sources.february });
    await runLoad({ ...place.options, source: sources.march, waiveSize: true });
    for (const table of [backup, await bench.newTable()]) {
      const addresses = dynamoDbAddressTable(bench.client, table);
      const options = { ...place.options, addresses };
      await repairTable({ ...options, scan: () => scanAddresses(bench.client, table) });
      expect(await bench.addressesIn(table)).toEqual(tableOf(march));
      expect(await runLoad({ ...options, source: sources.march })).toMatchObject({ outcome: 'unchanged' });
    }
  });

  it('waits for a running load', async () => {
    await place.options.addresses.lock.acquire('a load', 60);
    await expect(repair()).rejects.toMatchObject({ name: 'LockedError' });
    await place.options.addresses.lock.release('a load');
  });

  it('stops before it writes when it has lost its lock', async () => {
    await damage();
    const damaged = await served();
    const { lock } = place.options.addresses;
    const scan = async function* () {
      yield* place.scan();
      await lock.release('me');
      await lock.acquire('another', 60);
    };
    const repairing = repairTable({ ...place.options, owner: 'me', scan });
    await expect(repairing).rejects.toMatchObject({ name: 'LockedError', owner: 'another' });
    expect(await served()).toEqual(damaged);
    await lock.release('another');
  });

  it('of a table into which nothing was loaded is refused', async () => {
    place = at(await bench.newPlace());
    await expect(repair()).rejects.toMatchObject({
      name: 'UnknownSnapshotError',
      message: expect.stringMatching(/^Nothing was loaded yet/),
    });
  });

  it('is required for a table with addresses that has lost its dataset item, and corrects both', async () => {
    const { addresses } = place.options;
    await remove('#dataset');
    const load = () => runLoad({ ...place.options, source: sources.february });
    await expect(load()).rejects.toMatchObject({
      name: 'UnmarkedTableError',
      message: expect.stringMatching(/Run "load repair"/),
    });
    await repairTable({ ...place.options, scan: place.scan });
    expect(await addresses.dataset()).toMatchObject({ peildatum: january.peildatum });
    await load();
    expect(await served()).toEqual(tableOf(february));
  });
});

describe('lines by segment', () => {
  it('are all returned in order, also if they were compressed in between', () => {
    const lines = Array.from(
      { length: 1000 },
      (_, index) => `${10 + (index % 3)}12RJ#${index * 7919}#\t\tStraat\tWeesp\t0457\t`,
    );
    const kept = new LinesBySegment(16);
    for (const line of lines.toReversed()) kept.add(line);
    expect(kept.segments.sort()).toEqual(['10', '11', '12']);
    for (const segment of kept.segments) {
      expect(kept.of(segment)).toEqual(lines.filter((line) => line.startsWith(segment)).sort());
    }
    expect(kept.of('13')).toEqual([]);
  });
});
