import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  datesOfName,
  gapAfter,
  listAllMutations,
  listMutations,
  pathFrom,
} from '../../../loader/mutations/mutation-lists.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const folder = folderForNow('bag-adres-mutations-');
const answers: Record<string, [status: number, body: string]> = {
  '/bestanden.json': [
    200,
    JSON.stringify([
      { naam: 'BAGNLDM-24052022-25052022.zip', url: 'https://elsewhere.example/b.zip', grootte: 2 },
      { naam: 'BAGNLDM-23052022-24052022.zip', url: 'a.zip', grootte: 1 },
      { naam: 'lvbag-extract-nl.zip', url: 'c.zip' },
    ]),
  ],
  '/unsafe.json': [
    200,
    JSON.stringify([
      { naam: 'BAGNLDM-23052022-24052022.zip', url: 'file:///etc/passwd' },
      { naam: 'BAGNLDM-24052022-25052022.zip', url: 's3://other/a.zip' },
      { naam: 'BAGNLDM-25052022-26052022.zip', url: 'b.zip' },
    ]),
  ],
  '/page.json': [200, '<!DOCTYPE html><title>Sign in</title>'],
  '/object.json': [200, '{"bestanden": []}'],
  '/odd.json': [
    200,
    JSON.stringify([
      { naam: 'BAGNLDM-23052022-24052022.zip', grootte: '12' },
      null,
      { naam: 'BAGNLDM-24052022-25052022.zip', url: null, grootte: 'unknown' },
      { naam: 'BAGNLDM-24052022-25052022 (1).zip' },
      { url: 'a.zip' },
    ]),
  ],
  '/cut.json': [200, '[{"naam": "BAG'],
};

const server = startForTests(() =>
  startHttpServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, ''];
    response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
  }),
);

describe('a list of mutations', () => {
  it('returns the deliveries by date, with the URL and size of each', async () => {
    expect(await listAllMutations([`${server.url}/bestanden.json`])).toEqual({
      notes: [],
      listed: [
        {
          name: 'BAGNLDM-23052022-24052022.zip',
          location: `${server.url}/a.zip`,
          size: 1,
          vanaf: '2022-05-23',
          tot: '2022-05-24',
          gemeenten: [],
        },
        {
          name: 'BAGNLDM-24052022-25052022.zip',
          location: 'https://elsewhere.example/b.zip',
          size: 2,
          vanaf: '2022-05-24',
          tot: '2022-05-25',
          gemeenten: [],
        },
      ],
    });
  });

  it('may be a folder, a file or a single zip', async () => {
    const zip = join(folder, 'BAGNLDM-23052022-24052022.zip');
    await writeFile(zip, '');
    await writeFile(join(folder, 'notes.txt'), '');
    const vanaf = '2022-05-23';
    const tot = '2022-05-24';
    const name = 'BAGNLDM-23052022-24052022.zip';
    const expected = {
      notes: [],
      listed: [{ name, location: zip, vanaf, tot, gemeenten: [], size: null }],
    };
    expect(await listMutations(folder)).toEqual(expected);
    expect(await listMutations(zip)).toEqual(expected);
    await writeFile(join(folder, 'list.json'), '[{"naam": "BAGNLDM-23052022-24052022.zip"}]');
    expect(await listMutations(join(folder, 'list.json'))).toEqual(expected);
  });

  it('may be a zip at a signed URL, which has a query after its name', async () => {
    const signed = `${server.url}/a/BAGNLDM-23052022-24052022.zip?X-Amz-Signature=0123&X-Amz-Expires=60`;
    expect(await listMutations(signed)).toMatchObject({
      listed: [{ name: 'BAGNLDM-23052022-24052022.zip', location: signed }],
    });
  });

  it('uses what it can of members that are incomplete, with sizes as text, and says what it did not use', async () => {
    expect(await listMutations(`${server.url}/odd.json`)).toMatchObject({
      listed: [
        { name: 'BAGNLDM-23052022-24052022.zip', size: 12 },
        { name: 'BAGNLDM-24052022-25052022.zip', size: null },
      ],
      notes: [
        expect.stringContaining('BAGNLDM-24052022-25052022 (1).zip'),
        expect.stringContaining('2 of the 5 members'),
      ],
    });
  });

  it('leads to no file or bucket, says so, and is used for the rest', async () => {
    const { listed, notes } = await listMutations(`${server.url}/unsafe.json`);
    expect(listed.map(({ location }) => location)).toEqual([`${server.url}/b.zip`]);
    const why = 'as its URL, and only https:// and http:// is followed from there';
    expect(notes).toEqual([
      `not used, as ${server.url}/unsafe.json gives file:///etc/passwd ${why}: BAGNLDM-23052022-24052022.zip`,
      `not used, as ${server.url}/unsafe.json gives s3://other/a.zip ${why}: BAGNLDM-24052022-25052022.zip`,
    ]);
  });

  it('has the deliveries of every location, and says which one could not be read', async () => {
    const zip = join(folder, 'BAGGEM0344M-08112021-08122021.zip');
    await writeFile(zip, '');
    const found = await listAllMutations([
      `${server.url}/missing.json`,
      `${server.url}/bestanden.json`,
      zip,
    ]);
    expect(found.listed.map(({ name, gemeenten }) => [name, ...gemeenten])).toEqual([
      ['BAGGEM0344M-08112021-08122021.zip', '0344'],
      ['BAGNLDM-23052022-24052022.zip'],
      ['BAGNLDM-24052022-25052022.zip'],
    ]);
    expect(found.notes).toEqual([expect.stringContaining('missing.json does not exist (404)')]);
    await expect(
      listAllMutations([`${server.url}/missing.json`, `${server.url}/page.json`]),
    ).rejects.toThrow('does not exist (404)');
  });

  it.each([
    ['/page.json', 'returned a web page instead of a list of mutations'],
    ['/object.json', 'is not a list of mutations'],
    ['/cut.json', 'returned no JSON instead of a list of mutations'],
    ['/missing.json', 'does not exist (404)'],
    ['/other.zip', 'is not named like a delivery of mutations'],
  ])('is refused when it is not one: %s', async (path, message) => {
    await expect(listMutations(`${server.url}${path}`)).rejects.toThrow(message);
    await expect(listMutations(`${server.url}${path}`)).rejects.toHaveProperty(
      'name',
      'SourceError',
    );
  });

  it('is refused with its path if it does not exist', async () => {
    await expect(listMutations(join(folder, 'nowhere'))).rejects.toThrow(
      `${folder}/nowhere. Check the path.`,
    );
  });
});

describe('the name of a delivery', () => {
  it.each([
    'BAGNLDM-23052022-23052022.zip',
    'BAGNLDM-24052022-23052022.zip',
    'BAGNLDM-31042022-32042022.zip',
  ])('must span a date and a later one: %s', async (name) => {
    expect(datesOfName(name)).toBeNull();
    await expect(listMutations(join(folder, name))).rejects.toThrow('its first and its last date');
  });

  it('may cross the end of a month, a leap day and the end of a year', () => {
    expect(datesOfName('BAGNLDM-28022024-29022024.zip')).toMatchObject({
      vanaf: '2024-02-28',
      tot: '2024-02-29',
    });
    expect(datesOfName('BAGNLDM-29022023-01032023.zip')).toBeNull();
    expect(datesOfName('BAGNLDM-31122024-01012025.zip')).toMatchObject({
      vanaf: '2024-12-31',
      tot: '2025-01-01',
    });
  });
});

const date = (day: number) => new Date(Date.UTC(2010, 0, day)).toISOString().slice(0, 10);
const delivery = ([from, to]: [number, number]) => ({
  name: `${from}-${to}.zip`,
  vanaf: date(from),
  tot: date(to),
});
/** Deliveries from a day to a day: `10-11 11-13`. */
const deliveries = (days: string) =>
  days.split(' ').map((one) => delivery(one.split('-').map(Number) as [number, number]));

describe('the path of deliveries', () => {
  it.each([
    ['starts at the date and covers missed days', '10-11 11-12 12-15', ['11-12.zip', '12-15.zip']],
    ['ends when no delivery is newer', '10-11', []],
    ['takes the way to the latest date', '11-12 11-13 13-14', ['11-13.zip', '13-14.zip']],
    [
      'takes days rather than a month to the same date',
      '11-13 11-12 12-13',
      ['11-12.zip', '12-13.zip'],
    ],
    ['takes a month where the days have a gap', '11-12 13-14 11-14', ['11-14.zip']],
    ['takes the first of equal ones', '11-12 11-12', ['11-12.zip']],
  ])('%s', (_, days, expected) => {
    expect(pathFrom(deliveries(days), date(11)).map(({ name }) => name)).toEqual(expected);
  });

  it('leads to the latest date that any way reaches, without a gap, for deliveries in any order', () => {
    const days = fc.array(
      fc
        .tuple(fc.nat(12), fc.integer({ min: 1, max: 4 }))
        .map(([a, b]): [number, number] => [a, a + b]),
    );
    fc.assert(
      fc.property(days, (all) => {
        const found = pathFrom(all.map(delivery), date(0));
        let at = date(0);
        for (const { vanaf, tot } of found) {
          expect(vanaf).toBe(at);
          at = tot;
        }
        const reached = new Set([0]);
        for (let day = 0; day <= 16; day++) {
          for (const [from, to] of all) if (reached.has(from)) reached.add(to);
        }
        expect(at).toBe(date(Math.max(...reached)));
      }),
    );
  });

  it('is complete for thousands of deliveries', () => {
    const days = Array.from({ length: 5_000 }, (_, i): [number, number] => [i, i + 1]).reverse();
    expect(pathFrom(days.map(delivery), date(0))).toHaveLength(5_000);
  });
});

describe('a gap between deliveries', () => {
  it('names the next delivery, or the one that spans the date', () => {
    expect(gapAfter(deliveries('10-11 12-13'), date(11))).toContain(
      'No mutations follow 2010-01-11: the next delivery, 12-13.zip, starts at 2010-01-12.',
    );
    expect(gapAfter(deliveries('10-13'), date(11))).toContain(
      '10-13.zip spans that date, from 2010-01-10 to 2010-01-13',
    );
    expect(gapAfter(deliveries('10-11'), date(11))).toBeNull();
  });
});
