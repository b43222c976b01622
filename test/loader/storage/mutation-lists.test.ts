import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { datesOfName, listAllMutations, listMutations } from '../../../loader/storage/mutation-lists.ts';

let server: Server;
let url: string;
let folder: string;
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

beforeAll(async () => {
  server = createServer((request, response) => {
    const [status, body] = answers[request.url ?? ''] ?? [404, ''];
    response.writeHead(status, { 'content-length': Buffer.byteLength(body) }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  folder = await mkdtemp(join(tmpdir(), 'bag-adres-mutations-'));
});

afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

describe('a list of mutations', () => {
  it('returns the deliveries by date, with the URL and size of each', async () => {
    expect(await listAllMutations([`${url}/bestanden.json`])).toEqual({
      notes: [],
      listed: [
        {
          name: 'BAGNLDM-23052022-24052022.zip',
          location: `${url}/a.zip`,
          vanaf: '2022-05-23',
          tot: '2022-05-24',
          gemeenten: [],
          size: 1,
        },
        {
          name: 'BAGNLDM-24052022-25052022.zip',
          location: 'https://elsewhere.example/b.zip',
          vanaf: '2022-05-24',
          tot: '2022-05-25',
          gemeenten: [],
          size: 2,
        },
      ],
    });
  });

  it('may be a folder, a file or a single zip', async () => {
    const zip = join(folder, 'BAGNLDM-23052022-24052022.zip');
    await writeFile(zip, '');
    await writeFile(join(folder, 'notes.txt'), '');
    const [vanaf, tot] = ['2022-05-23', '2022-05-24'];
    const name = 'BAGNLDM-23052022-24052022.zip';
    const expected = { notes: [], listed: [{ name, location: zip, vanaf, tot, gemeenten: [], size: null }] };
    expect(await listMutations(folder)).toEqual(expected);
    expect(await listMutations(zip)).toEqual(expected);
    await writeFile(join(folder, 'list.json'), '[{"naam": "BAGNLDM-23052022-24052022.zip"}]');
    expect(await listMutations(join(folder, 'list.json'))).toEqual(expected);
  });

  it('may be a zip at a signed URL, which has a query after its name', async () => {
    const signed = `${url}/a/BAGNLDM-23052022-24052022.zip?X-Amz-Signature=0123&X-Amz-Expires=60`;
    expect(await listMutations(signed)).toMatchObject({
      listed: [{ name: 'BAGNLDM-23052022-24052022.zip', location: signed }],
    });
  });

  it('uses what it can of members that are incomplete, with sizes as text, and says what it did not use', async () => {
    expect(await listMutations(`${url}/odd.json`)).toMatchObject({
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
    const { listed, notes } = await listMutations(`${url}/unsafe.json`);
    expect(listed.map(({ location }) => location)).toEqual([`${url}/b.zip`]);
    const why = 'as its URL, and only https:// and http:// is followed from there';
    expect(notes).toEqual([
      `not used, as ${url}/unsafe.json gives file:///etc/passwd ${why}: BAGNLDM-23052022-24052022.zip`,
      `not used, as ${url}/unsafe.json gives s3://other/a.zip ${why}: BAGNLDM-24052022-25052022.zip`,
    ]);
  });

  it('has the deliveries of every location, and says which one could not be read', async () => {
    const zip = join(folder, 'BAGGEM0344M-08112021-08122021.zip');
    await writeFile(zip, '');
    const found = await listAllMutations([`${url}/missing.json`, `${url}/bestanden.json`, zip]);
    expect(found.listed.map(({ name, gemeenten }) => [name, ...gemeenten])).toEqual([
      ['BAGGEM0344M-08112021-08122021.zip', '0344'],
      ['BAGNLDM-23052022-24052022.zip'],
      ['BAGNLDM-24052022-25052022.zip'],
    ]);
    expect(found.notes).toEqual([expect.stringContaining('missing.json does not exist (404)')]);
    await expect(listAllMutations([`${url}/missing.json`, `${url}/page.json`])).rejects.toThrow('does not exist (404)');
  });

  it.each([
    ['/page.json', 'returned a web page instead of a list of mutations'],
    ['/object.json', 'is not a list of mutations'],
    ['/cut.json', 'returned no JSON instead of a list of mutations'],
    ['/missing.json', 'does not exist (404)'],
    ['/other.zip', 'is not named like a delivery of mutations'],
  ])('is refused when it is not one: %s', async (path, message) => {
    await expect(listMutations(`${url}${path}`)).rejects.toThrow(message);
    await expect(listMutations(`${url}${path}`)).rejects.toHaveProperty('name', 'SourceError');
  });

  it('is refused with its path if it does not exist', async () => {
    await expect(listMutations(join(folder, 'nowhere'))).rejects.toThrow(`${folder}/nowhere. Check the path.`);
  });
});

describe('the name of a delivery', () => {
  it.each(['BAGNLDM-23052022-23052022.zip', 'BAGNLDM-24052022-23052022.zip', 'BAGNLDM-31042022-32042022.zip'])(
    'must span a date and a later one: %s',
    async (name) => {
      expect(datesOfName(name)).toBeNull();
      await expect(listMutations(join(folder, name))).rejects.toThrow('its first and its last date');
    },
  );

  it('may cross the end of a month, a leap day and the end of a year', () => {
    expect(datesOfName('BAGNLDM-28022024-29022024.zip')).toMatchObject({ vanaf: '2024-02-28', tot: '2024-02-29' });
    expect(datesOfName('BAGNLDM-29022023-01032023.zip')).toBeNull();
    expect(datesOfName('BAGNLDM-31122024-01012025.zip')).toMatchObject({ vanaf: '2024-12-31', tot: '2025-01-01' });
  });
});
