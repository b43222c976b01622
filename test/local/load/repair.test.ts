import { readFileSync } from 'node:fs';
import { DeleteItemCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  type AddressItem,
  addressItem,
  keyItem,
  type StoredAddress,
} from '../../../core/addresses/address-item.ts';
import { scanAddresses } from '../../../loader/storage/address-table.ts';
import { paths } from '../../../loader/storage/storage.ts';
import { readManifest } from '../../../loader/storage/stored-loads.ts';
import { LinesBySegment } from '../../../local/load/repair.ts';
import { type Dataset, startLoadBench } from '../../loader/steps/load-bench.ts';
import { february, january, listsOf, march, tableOf } from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const bench = startForTests(startLoadBench);
let place: Dataset;

beforeEach(async () => {
  place = await bench.after([january]);
});

const put = (Item: AddressItem) =>
  bench.client.send(new PutItemCommand({ TableName: place.table, Item }));
const remove = (key: string) =>
  bench.client.send(new DeleteItemCommand({ TableName: place.table, Key: keyItem(key) }));
const stored = async (key: string) => (await place.addresses.read([key])).get(key) as StoredAddress;
const noDifference = { added: 0, changed: 0, removed: 0 };

/** One key of each kind of damage that an edit by hand can do. */
async function damage() {
  const [kerkstraat, dorpsstraat] = ['Kerkstraat', 'Dorpsstraat'].map((straat, index) => ({
    M: { straat: { S: straat }, woonplaats: { S: index === 0 ? 'Weesp' : 'Amsterdam' } },
  }));
  await remove('1012RJ#147#');
  await put(
    addressItem({ key: '1381AA#7#', places: [{ straat: 'Anderestraat', woonplaats: 'Weesp' }] }),
  );
  await put({
    ...keyItem('9999ZZ#1#'),
    places: { L: [kerkstraat, dorpsstraat].flatMap((one) => one ?? []) },
  });
  await put({ ...keyItem('1381GH#3#'), straat: { S: 'Kalverstraat' } });
  await put(
    addressItem({ key: '1381AA#8#', places: [{ straat: 'Nieuwestraat', woonplaats: 'Weesp' }] }),
  );
  await put(
    addressItem({
      key: '4205EW#14#A',
      places: [{ straat: 'Omsnijdersweg', woonplaats: 'Gorinchem' }],
    }),
  );
}

describe('a repair', () => {
  it('finds every missing, different and unexpected key anywhere, and corrects it', async () => {
    await damage();
    expect(await place.repair()).toMatchObject({
      outcome: 'repaired',
      peildatum: january.peildatum,
      addresses: 11,
      added: 2,
      changed: 2,
      removed: 2,
      listsChanged: 0,
      examples: {
        removed: [
          { key: '1381AA#8#' },
          { key: '4205EW#14#A', before: ['Omsnijdersweg, Gorinchem'] },
        ],
      },
      pending: false,
    });
    expect(await place.served()).toEqual(tableOf(january));
    expect(await place.repair()).toMatchObject(noDifference);
  });

  it('finds every missing, different and unexpected list of toevoegingen, separately from the addresses', async () => {
    await remove('2513AA#1#');
    await put(addressItem({ ...(await stored('1381AA#9#')), toevoegingen: [null, 'A', 'B'] }));
    await put(addressItem({ key: '1381AA#8#', places: [], toevoegingen: ['Z'] }));
    await put(addressItem({ ...(await stored('1381AA#7#')), toevoegingen: [null, 'X'] }));
    expect(await place.repair()).toMatchObject({ ...noDifference, addresses: 11, listsChanged: 4 });
    expect([await place.lists(), await place.served()]).toEqual([
      listsOf(january),
      tableOf(january),
    ]);
    expect(await place.repair()).toMatchObject({ listsChanged: 0 });
  });

  it.each([
    ['missing', null],
    ['damaged', Buffer.from('junk')],
  ])(
    'names objects behind the snapshot that are %s, which only an extract can restore',
    async (_, bytes) => {
      expect(await place.repair()).toMatchObject({ unusable: [] });
      const { published } = await readManifest(place.storage);
      const id = published?.snapshot.id ?? '';
      const keys = [paths.snapshotReference(id), paths.records(id, 'nummeraanduidingen', '000')];
      for (const key of keys) {
        if (bytes) await place.storage.put(key, bytes);
        else {
          await place.storage.delete([key]);
        }
      }
      expect(await place.repair()).toMatchObject({
        outcome: 'repaired',
        rebuilt: [],
        unusable: keys,
      });
      await place.load({ month: january, again: true });
      expect(await place.repair()).toMatchObject({ unusable: [] });
    },
  );

  it('does not change keys that no lookup can request', async () => {
    const notes = [keyItem('#note'), { ...keyItem('1012RJ#147#\tx'), places: { L: [] } }];
    for (const note of notes) await put(note);
    expect(await place.repair()).toMatchObject(noDifference);
    for (const { address } of notes) await remove(address?.S ?? '');
    expect(await place.served()).toEqual(tableOf(january));
  });

  describe('of a table with a pending load', () => {
    const load = () => place.load({ changesPerFile: 2, month: february });
    const work = () => place.storage.list(paths.loads);
    beforeEach(async () => {
      await put(
        addressItem({
          key: '1012RJ#147#',
          places: [{ straat: 'Kalverstraat', woonplaats: 'Amsterdam' }],
        }),
      );
      for (let times = 0; times < 2; times++) {
        await expect(load()).rejects.toThrow(/1012RJ#147#.*"load repair"/);
      }
    });

    it('leaves nothing to write, so that the next run only verifies and publishes', async () => {
      expect(await place.repair()).toMatchObject({ changed: 1, pending: true });
      expect(await place.addresses.dataset()).toMatchObject({ peildatum: february.peildatum });
      const before = place.units();
      expect(await load()).toMatchObject({
        outcome: 'published',
        peildatum: february.peildatum,
        added: 1,
        changed: 4,
      });
      expect(place.units()).toBe(before);
      expect(await place.served()).toEqual(tableOf(february));
    });

    const parts: [string, (key: string) => boolean][] = [
      ['one file of its changes', (key) => key.includes('/changes/13-000')],
      ['all of its work', () => true],
      ['the list of its changes', (key) => key.endsWith('/changes.json')],
    ];
    it.each(sweep(parts, 1))(
      'is the remedy when %s is missing, and a load says so',
      async (_, isGone) => {
        const gone = (await work()).filter(isGone);
        expect(gone).not.toEqual([]);
        await place.storage.delete(gone);
        const message = expect.stringMatching(/2026-02-08 .*Run "load repair".* then/);
        for (let times = 0; times < 2; times++) {
          await expect(load()).rejects.toMatchObject({ name: 'WorkGoneError', message });
        }

        await damage();
        await place.repair();
        expect(await load()).toMatchObject({
          outcome: 'published',
          addresses: 11,
          added: 1,
          changed: 4,
        });
        expect(await place.served()).toEqual(tableOf(february));
        expect(await load()).toMatchObject({ outcome: 'unchanged' });
        expect(await work()).toEqual([]);
      },
    );
  });

  it('with a first load under the name of none ends with exactly the register, when a storage was lost', async () => {
    const recovery = readFileSync(new URL('../../../docs/recovery.md', import.meta.url), 'utf8');
    const [, key = ''] = /aws dynamodb delete-item .*\n? .*--key '(.+)'/.exec(recovery) ?? [];
    const { storage } = await bench.newDataset();
    const load = () => place.load({ storage, month: february });
    await expect(load()).rejects.toMatchObject({
      name: 'ForeignStorageError',
      message: expect.stringMatching(
        /holds the snapshot of 2026-01-08 .* which this storage does not know/,
      ),
    });
    await bench.client.send(
      new DeleteItemCommand({ TableName: place.table, Key: JSON.parse(key) }),
    );
    expect(await load()).toMatchObject({ outcome: 'published', added: 11 });
    expect(await place.repair({ storage })).toMatchObject({ added: 0, changed: 0, removed: 1 });
    expect(await place.served()).toEqual(tableOf(february));
  });

  it('restores a table that is from a backup or empty to its state before the loss', async () => {
    const { storage } = place;
    const backup = await place.copy({ storage });
    const empty = await bench.newDataset({ storage });
    await place.load({ month: february });
    await place.load({ month: march, waiveSize: true });
    for (const lost of [backup, empty]) {
      await lost.repair();
      expect(await lost.served()).toEqual(tableOf(march));
      expect(await lost.load({ month: march })).toMatchObject({ outcome: 'unchanged' });
    }
  });

  it('stops before it writes when it has lost its lock', async () => {
    await damage();
    const damaged = await place.served();
    const { lock } = place.addresses;
    const scan = async function* () {
      yield* scanAddresses(bench.client, place.table);
      await lock.release('me');
      await lock.acquire('another', 60);
    };
    await expect(place.repair({ owner: 'me', scan })).rejects.toMatchObject({
      name: 'LockedError',
      owner: 'another',
    });
    expect(await place.served()).toEqual(damaged);
    await lock.release('another');
  });

  it('is required for a table with addresses that has lost its dataset item, and corrects both', async () => {
    await remove('#dataset');
    const load = () => place.load({ month: february });
    await expect(load()).rejects.toMatchObject({
      name: 'UnmarkedTableError',
      message: expect.stringMatching(/Run "load repair"/),
    });
    await place.repair();
    expect(await place.addresses.dataset()).toMatchObject({ peildatum: january.peildatum });
    await load();
    expect(await place.served()).toEqual(tableOf(february));
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
