import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ZipFile } from 'yazl';
import { findMembers, memberAccess } from '../../../loader/bag/extract-members.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { fileAccess, subRange } from '../../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../../loader/zip/zip.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { type LoadBench, startLoadBench } from '../../loader/steps/load-bench.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';
import { weespObjecten, weespTruth } from '../../support/weesp-truth.ts';

const samples = resolve('../shared/bag-samples');
const weesp = join(samples, 'weesp-0457/BAGGEM0457L-15102021.zip');
const draft = join(samples, 'schiermonnikoog-0088-draft-schema/BAGGEM0088L-15112019.zip');
const missing = existsSync(weesp) ? '' : ` (skipped: ${samples} is missing)`;
const given = missing ? describe.skip : describe;

let bench: LoadBench;
let s3: TestS3;

beforeAll(async () => {
  [bench, s3] = await Promise.all([startLoadBench(), startS3()]);
});
afterAll(async () => {
  await bench.stop();
  await s3.stop();
});

/** The same inner zips, directly in an outer one and with its names: the layout of the whole country. */
async function nationalLayout(): Promise<string> {
  const source = await fileAccess(weesp);
  const zip = new ZipFile();
  const { members } = await findMembers(source, 'weesp');
  for (const member of members.toReversed()) {
    const inner = await memberAccess(source, member, 'weesp');
    zip.addBuffer(await inner.read(0, inner.size), member.name.replace(/^\d{4}/, '9999'), { compress: true });
  }
  const delivery = (await listEntries(source, 'weesp')).find(({ name }) => name.startsWith('Leveringsdocument'));
  if (delivery) zip.addBuffer(await readEntry(source, delivery, 'delivery'), delivery.name);
  zip.end();
  const file = join(bench.newFolder(), 'lvbag-extract-nl.zip');
  await writeFile(file, await buffer(zip.outputStream));
  await source.close();
  return file;
}

/**
 * The toevoegingen of each postcode and huisnummer that has others than none, by the key without one, by plain text
 * search.
 */
async function trueLists(): Promise<Map<string, (string | null)[]>> {
  const { current } = await weespTruth();
  const groups = Map.groupBy(current.values(), ({ postcode, huisnummer }) => `${postcode}#${huisnummer}#`);
  const lists = [...groups].map(([key, addresses]): [string, (string | null)[]] => {
    const names = new Set(addresses.map(({ toevoeging }) => toevoeging.toUpperCase()));
    return [key, [...names].sort().map((name) => (name === '' ? null : name))];
  });
  return new Map(lists.filter(([, list]) => list.some((one) => one !== null)));
}

async function snapshotOf(storage: Storage): Promise<Record<string, string>> {
  const segments: Record<string, string> = {};
  for (const key of await storage.list('snapshots/')) {
    const bytes = (await storage.get(key)) ?? Buffer.alloc(0);
    segments[key.split('/').slice(2).join('/')] = createHash('sha256').update(bytes).digest('hex');
  }
  return segments;
}

given(`the whole of Weesp${missing}`, () => {
  inSweep('gives the same snapshot, byte for byte, from either layout, in a folder and in S3', async () => {
    const national = await nationalLayout();
    const runs: [string, Storage, number][] = [
      [weesp, folderStorage(bench.newFolder()), 1e9],
      [weesp, s3Storage(s3.client, s3.bucket, 'municipality/'), 1],
      [national, s3Storage(s3.client, s3.bucket, 'national/'), 1e9],
      [national, folderStorage(bench.newFolder()), 1],
    ];
    const snapshots = [];
    const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
    for (const [source, storage, sliceBytes] of sweep(runs, 2)) {
      // A plan makes the snapshot too; the writes would be the same four times.
      const report = await runLoad({ planOnly: true, source, storage, addresses, sliceBytes });
      expect(report).toMatchObject({
        peildatum: '2021-10-15',
        voorkomens: 16_113,
        nummeraanduidingen: 11_927,
        addresses: 11_920,
        added: 11_920,
        problems: 0,
        withoutPostcode: 107,
      });
      snapshots.push(await snapshotOf(storage));
    }
    expect(Object.keys(snapshots[0] ?? {})).toEqual(['13', 'nummeraanduidingen/000', 'reference']);
    for (const snapshot of snapshots) expect(snapshot).toEqual(snapshots[0]);
  });

  (isFullSweep ? it : it.skip)('gives the same snapshot with threads, all of which is in the table', async () => {
    const table = await bench.newTable();
    const addresses = dynamoDbAddressTable(bench.client, table);
    const options = { source: weesp, storage: bench.newFolder(), addresses, sliceBytes: 1, workers: 2 };
    expect(await runLoad(options)).toMatchObject({
      voorkomens: 16_113,
      nummeraanduidingen: 11_927,
      addresses: 11_920,
    });
    const found = await bench.addressesIn(table);
    expect(found.size).toBe(11_920);
    expect(found.get('1381AA#9#A')).toEqual([
      { straat: 'Buitenveer', woonplaats: 'Weesp', gemeente: '0457', nummeraanduidingen: ['0457200000199640'] },
    ]);
    expect(await bench.listsIn(table)).toEqual(await trueLists());
  });

  (isFullSweep ? it : it.skip)('gives every address the objects that name it, in one slice or in many', async () => {
    const table = await bench.newTable();
    const addresses = dynamoDbAddressTable(bench.client, table);
    const options = { source: weesp, storage: bench.newFolder(), addresses, workers: 0, objecten: true };
    const report = await runLoad({ ...options, sliceBytes: 1 });
    expect(report).toMatchObject({ addresses: 11_920, problems: 0, objecten: { live: 11_923 } });
    const [truth, byNum] = await Promise.all([weespTruth(), weespObjecten()]);
    const expected = new Map(
      [...truth.current].map(([key, { ids }]) => {
        const texts = new Map(
          ids
            .flatMap((id) => byNum.get(id) ?? [])
            .sort((a, b) => Number(a.includes(' true ')) - Number(b.includes(' true ')))
            .map((text) => [text.slice(0, 16), text]),
        );
        return [key, [...texts.values()].sort()] as const;
      }),
    );
    const found = await bench.addressesIn(table);
    const texts = new Map(
      [...found].map(([key, places]) => [
        key,
        places.flatMap(({ objecten = [] }) =>
          objecten.map(({ identificatie, hoofdadres, status, oppervlakte = '', gebruiksdoelen = [] }) =>
            [identificatie, hoofdadres, status, oppervlakte, ...gebruiksdoelen].join(' '),
          ),
        ),
      ]),
    );
    expect(texts).toEqual(expected);
    expect((await runLoad({ ...options, again: true })).objecten).toEqual({
      live: 11_923,
      changed: 0,
      lost: 0,
      moved: 0,
    });
  });

  it('is refused with the reason if a thread finds it damaged', async () => {
    const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
    const load = runLoad({ source: await damaged(), storage: bench.newFolder(), addresses, sliceBytes: 1, workers: 1 });
    await expect(load).rejects.toMatchObject({ name: 'ExtractError', code: 'corrupt_zip' });
    expect(await addresses.dataset()).toBeNull();
  });
});

/** A Weesp of which one XML file has a wrong byte, in a zip whose own checksum is right. */
async function damaged(): Promise<string> {
  const source = await fileAccess(weesp);
  const zip = new ZipFile();
  const { members } = await findMembers(source, 'weesp');
  for (const member of members) {
    const inner = await memberAccess(source, member, 'weesp');
    const bytes = Buffer.from(await subRange(inner, 0, inner.size).read(0, inner.size));
    if (member.kind === 'NUM') bytes.writeUInt8(bytes.readUInt8(100_000) ^ 0xff, 100_000);
    zip.addBuffer(bytes, member.name, { compress: false });
  }
  const delivery = (await listEntries(source, 'weesp')).find(({ name }) => name.startsWith('Leveringsdocument'));
  if (delivery) zip.addBuffer(await readEntry(source, delivery, 'delivery'), delivery.name);
  zip.end();
  const file = join(bench.newFolder(), 'damaged.zip');
  await writeFile(file, await buffer(zip.outputStream));
  await source.close();
  return file;
}

given(`an extract in the draft schema${missing}`, () => {
  it('is refused because of its name, and nothing is written', async () => {
    const addresses = dynamoDbAddressTable(bench.client, await bench.newTable());
    const load = runLoad({ source: draft, storage: bench.newFolder(), addresses });
    await expect(load).rejects.toThrow(/v20180601/);
    expect(await addresses.dataset()).toBeNull();
  });
});
