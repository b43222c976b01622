import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import { ZipFile } from 'yazl';
import { findMembers, type Member, memberAccess } from '../../../loader/bag/extract-members.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { fileAccess } from '../../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../../loader/zip/zip.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startS3 } from '../../support/s3.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { weespObjecten, weespTruth } from '../../support/weesp-truth.ts';

const samples = resolve('../shared/bag-samples');
const weesp = join(samples, 'weesp-0457/BAGGEM0457L-15102021.zip');
const missing = existsSync(weesp) ? '' : ` (skipped: ${samples} is missing)`;
const given = missing ? describe.skip : describe;

const bench = startForTests(startLoadBench);
const s3 = startForTests(startS3);

/**
 * The inner zips of Weesp, changed by `change`, in an outer one with the layout and the names of
 * the whole country.
 */
async function repacked(
  compress: boolean,
  change: (bytes: Buffer, member: Member) => void,
): Promise<string> {
  const source = await fileAccess(weesp);
  const zip = new ZipFile();
  const { members } = await findMembers(source, 'weesp');
  for (const member of members.toReversed()) {
    const inner = await memberAccess(source, member, 'weesp');
    const bytes = Buffer.from(await inner.read(0, inner.size));
    change(bytes, member);
    zip.addBuffer(bytes, member.name.replace(/^\d{4}/, '9999'), { compress });
  }
  const delivery = (await listEntries(source, 'weesp')).find(({ name }) =>
    name.startsWith('Leveringsdocument'),
  );
  if (delivery) zip.addBuffer(await readEntry(source, delivery, 'delivery'), delivery.name);
  zip.end();
  const file = join(bench.newFolder(), 'lvbag-extract-nl.zip');
  await writeFile(file, await buffer(zip.outputStream));
  await source.close();
  return file;
}

async function snapshotOf(storage: Storage): Promise<Record<string, string>> {
  const hashed = async (key: string) => {
    const bytes = (await storage.get(key)) ?? Buffer.alloc(0);
    return [
      key.split('/').slice(2).join('/'),
      createHash('sha256').update(bytes).digest('hex'),
    ] as const;
  };
  return Object.fromEntries(await Promise.all((await storage.list('snapshots/')).map(hashed)));
}

given(`the whole of Weesp${missing}`, () => {
  inSweep(
    'gives the same snapshot, byte for byte, from either layout, in a folder and in S3, with threads',
    async () => {
      const national = await repacked(true, () => undefined);
      const inS3 = (prefix: string) => s3Storage(s3.client, s3.bucket, prefix);
      const runs: [string, Storage | string, sliceBytes: number, workers: number][] = [
        [weesp, bench.newFolder(), 1e9, 0],
        [weesp, inS3('municipality/'), 1, 0],
        [national, inS3('national/'), 1e9, 0],
        [national, bench.newFolder(), 1, 2],
      ];
      const snapshots = [];
      const dataset = await bench.newDataset();
      for (const [source, storage, sliceBytes, workers] of runs) {
        // A plan makes the snapshot too; the writes would be the same four times.
        const report = await dataset.load({ planOnly: true, source, storage, sliceBytes, workers });
        expect(report).toMatchObject({
          peildatum: '2021-10-15',
          voorkomens: 16_113,
          nummeraanduidingen: 11_927,
          addresses: 11_920,
          added: 11_920,
          problems: 0,
          withoutPostcode: 107,
        });
        snapshots.push(
          await snapshotOf(typeof storage === 'string' ? folderStorage(storage) : storage),
        );
      }
      expect(Object.keys(snapshots[0] ?? {})).toEqual([
        '13',
        'nummeraanduidingen/000',
        'reference',
      ]);
      for (const snapshot of snapshots) expect(snapshot).toEqual(snapshots[0]);
    },
  );

  (isFullSweep ? it : it.skip)(
    'gives every address the objects that name it, in one slice or in many',
    async () => {
      const dataset = await bench.newDataset({ source: weesp, objecten: true });
      const report = await dataset.load({ sliceBytes: 1 });
      expect(report).toMatchObject({ addresses: 11_920, problems: 0, objecten: { live: 11_923 } });
      const [truth, byNum] = await Promise.all([weespTruth(), weespObjecten()]);
      const expected = new Map(
        [...truth.current].map(([key, { ids }]) => [
          key,
          ids.flatMap((id) => byNum.get(id) ?? []).sort(),
        ]),
      );
      const found = await dataset.served();
      const texts = new Map(
        [...found].map(([key, places]) => [
          key,
          places.flatMap(({ objecten = [] }) =>
            objecten.map(
              ({ identificatie, hoofdadres, status, oppervlakte = '', gebruiksdoelen = [] }) =>
                [identificatie, hoofdadres, status, oppervlakte, ...gebruiksdoelen].join(' '),
            ),
          ),
        ]),
      );
      expect(texts).toEqual(expected);
      const none = { changed: 0, lost: 0, moved: 0 };
      expect((await dataset.load({ again: true })).objecten).toEqual({ live: 11_923, ...none });
    },
  );

  inSweep('is refused with the reason if a thread finds it damaged', async () => {
    // In a zip whose own checksum is right.
    const source = await repacked(false, (bytes, { kind }) => {
      if (kind === 'NUM') bytes.writeUInt8(bytes.readUInt8(100_000) ^ 0xff, 100_000);
    });
    const dataset = await bench.newDataset();
    const load = dataset.load({ source, storage: bench.newFolder(), sliceBytes: 1, workers: 1 });
    await expect(load).rejects.toMatchObject({ name: 'ExtractError', code: 'corrupt_zip' });
    expect(await dataset.addresses.dataset()).toBeNull();
  });
});
