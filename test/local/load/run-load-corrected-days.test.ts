import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import { listEntries, readEntry } from '../../../loader/zip/zip.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { start } from '../../loader/steps/mutation-register.ts';
import { startHttpServer } from '../../support/http-server.ts';
import {
  deliveryName,
  mutationsBetween,
  writeMutationDelivery,
} from '../../support/mutation-delivery.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { writeZip } from '../../support/write-extract.ts';

const begin = '2010-01-01';
const jan9 = '2026-01-09';
const name = deliveryName(start, jan9);

/** One address on a street of this name. */
function named(naam: string, from = begin): Voorkomens {
  const openbareRuimte = '0457300000000001';
  const num = {
    identificatie: '0457200000000001',
    huisnummer: 1,
    postcode: '1381AA',
    openbareRuimte,
    begin,
  };
  return {
    WPL: [{ identificatie: '3631', naam: 'Weesp', begin }],
    OPR: [{ identificatie: openbareRuimte, naam, woonplaats: '3631', begin: from }],
    NUM: [num],
  };
}

/** The delivery of a day on which the street gets this name. */
const renamed = (naam: string) =>
  writeMutationDelivery(start, jan9, mutationsBetween(named('Oud'), named(naam)));

/** Another delivery of that day, as large as the first one. */
async function asLarge(size: number): Promise<[naam: string, zip: Buffer]> {
  for (let letter = 0; letter < 26 ** 2; letter++) {
    const naam = `Goe${String.fromCharCode(97 + (letter % 26), 97 + Math.floor(letter / 26))}`;
    const zip = await renamed(naam);
    if (zip.length === size) return [naam, zip];
  }
  throw new Error('none is as large');
}

/** The same files in another zip. */
async function zippedAgain(zip: Buffer): Promise<Buffer> {
  const source = bufferAccess(zip);
  const entries = (await listEntries(source, 'zip')).map(async (entry) => {
    const bytes = await readEntry(source, entry, 'zip');
    const isZip = entry.name.endsWith('.zip');
    return { name: entry.name, bytes: isZip ? await zippedAgain(bytes) : bytes, compress: false };
  });
  return writeZip((await Promise.all(entries)).reverse());
}

/** How the server of the deliveries tells what it has. */
const validators = {
  'a server with ETags': (bytes: Buffer) => ({
    etag: `"${bytes.toString('base64url').slice(-200, -30)}"`,
  }),
  'a server with dates': (_: Buffer, changes: number) => ({
    'last-modified': new Date(Date.UTC(2026, 0, 9, 0, 0, changes)).toUTCString(),
  }),
  'a server with weak ETags': () => ({ etag: 'W/"always"' }),
  'a server that tells nothing': () => ({}),
};
type Place = 'a folder' | keyof typeof validators;

const bench = startForTests(startLoadBench);
let validator: (bytes: Buffer, changes: number) => Record<string, string>;
const files = new Map<string, { bytes: Buffer; changes: number }>();
let reads = 0;
const server = startForTests(() =>
  startHttpServer((request, response) => {
    const { bytes, changes } = files.get(request.url ?? '') ?? {
      bytes: Buffer.from('[]'),
      changes: 0,
    };
    const headers = validator(bytes, changes);
    const { 'if-none-match': tag, 'if-modified-since': date } = request.headers;
    const isSame =
      (tag ?? date) !== undefined && tag === headers.etag && date === headers['last-modified'];
    if (isSame) return response.writeHead(304).end();
    if (request.headers.range === undefined && request.url?.endsWith('.zip')) reads++;
    return response.writeHead(200, { ...headers, 'content-length': bytes.length }).end(bytes);
  }),
);

afterEach(() => {
  jest.restoreAllMocks();
});

/**
 * The dataset of the first date, the places of its deliveries, and what a check of them answers.
 */
async function checked(place: Place, { mirror = false } = {}) {
  const dataset = await bench.newDataset({ waiveSize: true });
  await dataset.load({ source: await bench.extract(start, named('Oud')) });
  const folder = bench.newFolder();
  if (place !== 'a folder') validator = validators[place];
  const roots = ['first', ...(mirror ? ['mirror'] : [])];
  const mutations = roots.map((root) =>
    place === 'a folder' ? join(folder, root) : `${server.url}${folder}/${root}/bestanden.json`,
  );
  let changes = 0;
  const put = async (root: string, bytes: Buffer) => {
    await mkdir(join(folder, root), { recursive: true });
    await writeFile(join(folder, root, name), bytes);
    const list = Buffer.from(JSON.stringify([{ naam: name, url: name }]));
    files.set(`${folder}/${root}/bestanden.json`, { bytes: list, changes: 0 });
    files.set(`${folder}/${root}/${name}`, { bytes, changes: ++changes });
  };
  const check = () => dataset.load({ mutations });
  const street = async () => (await dataset.content())[0]?.[1][0]?.straat;
  return { put, check, street, dataset, mutations };
}

const aDayLater = (days: number) =>
  jest.spyOn(Date, 'now').mockReturnValue(Date.now() + days * 21 * 3_600_000);

describe('a day that is replaced by another one of the same size', () => {
  const places = ['a folder', ...Object.keys(validators)] as Place[];
  const cases = places.flatMap((place) => [false, true].map((mirror) => [place, mirror] as const));
  it.each(sweep(cases, 3))(
    'is applied instead, found in %s, with a stale mirror beside it: %s',
    async (place, mirror) => {
      const { put, check, street } = await checked(place, { mirror });
      const wrong = await renamed('Fout1');
      const [right, corrected] = await asLarge(wrong.length);
      await put('mirror', wrong);
      await put('first', wrong);
      await check();
      expect(await street()).toBe('Fout1');
      await check();
      const before = reads;
      expect([(await check()).outcome, reads - before]).toEqual(['unchanged', 0]);
      await put('first', corrected);
      aDayLater(1);
      const report = await check();
      expect([report.outcome, await street()]).toEqual(['published', right]);
      const differs = `${name} differs from place to place: the later copy at `;
      expect(report.notes.join()).toEqual(mirror ? expect.stringContaining(differs) : '');
      const again = await check();
      expect([again.outcome, again.reason?.includes(differs), await street()]).toEqual([
        'unchanged',
        mirror,
        right,
      ]);
      await put('mirror', corrected);
      aDayLater(2);
      expect(await check()).toMatchObject({
        outcome: 'unchanged',
        reason: `no mutations follow ${jan9} yet`,
      });
    },
  );
});

describe('two deliveries that differ for one day', () => {
  it.each(['first', 'mirror'])(
    'are both named, and that with the later document is used: of %s',
    async (later) => {
      const { put, check, street } = await checked('a folder', { mirror: true });
      for (const root of ['first', 'mirror']) {
        const zip = await renamed(`Straat ${root}`);
        // The date in the directory of the zip, of its first entry: the Leveringsdocument.
        const directory = zip.indexOf(Buffer.from('PK\x01\x02'));
        zip.writeUInt16LE(
          zip.readUInt16LE(directory + 14) + Number(root === later),
          directory + 14,
        );
        await put(root, zip);
      }
      const { notes } = await check();
      expect(notes).toEqual([
        expect.stringMatching(
          new RegExp(`differs from place to place: the later copy at .*${later}/.* is used`),
        ),
      ]);
      expect(await street()).toBe(`Straat ${later}`);
      expect((await check()).reason).toContain('differs from place to place');
      expect(await street()).toBe(`Straat ${later}`);
    },
  );
});

describe('a day that was zipped again', () => {
  it('stays rejected until it is corrected, and then applied', async () => {
    const { put, street, dataset, mutations } = await checked('a folder');
    const zip = await renamed('Nieuw');
    await put('first', zip);
    const thresholds = { ...localGuardDefaults, minimumAddresses: 1_000_000 };
    const refusal = () => dataset.tried({ waiveSize: false, thresholds, mutations });
    const refused = await refusal();
    expect(refused.outcome).toBe('refused');
    await put('first', await zippedAgain(zip));
    expect((await refusal()).load).toBe(refused.load);
    await dataset.load({ reject: refused.load ?? '' });
    for (const bytes of [zip, await zippedAgain(zip)]) {
      await put('first', bytes);
      expect(await refusal()).toMatchObject({
        outcome: 'unchanged',
        reason: expect.stringContaining('was rejected'),
      });
    }
    await expect(dataset.load({ approve: refused.load ?? '' })).rejects.toThrow(
      'has no work of load',
    );
    expect(await street()).toBe('Oud');
    const corrected = await renamed('Goed');
    await put('first', corrected);
    expect(await dataset.load({ mutations })).toMatchObject({ outcome: 'published' });
    expect(await street()).toBe('Goed');
    await put('first', await zippedAgain(corrected));
    expect(await dataset.load({ mutations })).toMatchObject({
      reason: `no mutations follow ${jan9} yet`,
    });
  });
});
