import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { chainFrom, datesOfName, listMutations } from '../../../loader/storage/mutation-deliveries.ts';

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
  '/file.json': [200, JSON.stringify([{ naam: 'BAGNLDM-23052022-24052022.zip', url: 'file:///etc/passwd' }])],
  '/bucket.json': [200, JSON.stringify([{ naam: 'BAGNLDM-23052022-24052022.zip', url: 's3://other/a.zip' }])],
  '/page.json': [200, '<!DOCTYPE html><title>Sign in</title>'],
  '/object.json': [200, '{"bestanden": []}'],
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
    expect(await listMutations(`${url}/bestanden.json`)).toEqual([
      {
        name: 'BAGNLDM-23052022-24052022.zip',
        location: `${url}/a.zip`,
        vanaf: '2022-05-23',
        tot: '2022-05-24',
        size: 1,
      },
      {
        name: 'BAGNLDM-24052022-25052022.zip',
        location: 'https://elsewhere.example/b.zip',
        vanaf: '2022-05-24',
        tot: '2022-05-25',
        size: 2,
      },
    ]);
  });

  it('may be a folder, a file or a single zip', async () => {
    const zip = join(folder, 'BAGNLDM-23052022-24052022.zip');
    await writeFile(zip, '');
    await writeFile(join(folder, 'notes.txt'), '');
    const expected = [
      { name: 'BAGNLDM-23052022-24052022.zip', location: zip, vanaf: '2022-05-23', tot: '2022-05-24', size: null },
    ];
    expect(await listMutations(folder)).toEqual(expected);
    expect(await listMutations(zip)).toEqual(expected);
    await writeFile(join(folder, 'list.json'), '[{"naam": "BAGNLDM-23052022-24052022.zip"}]');
    expect(await listMutations(join(folder, 'list.json'))).toEqual(expected);
  });

  it.each([
    ['/page.json', 'returned a web page instead of a list of mutations'],
    ['/object.json', 'is not a list of mutations'],
    ['/cut.json', 'returned no JSON instead of a list of mutations'],
    ['/file.json', 'names file:///etc/passwd as the URL of BAGNLDM-23052022-24052022.zip'],
    ['/bucket.json', 'only https:// and http:// is followed from there'],
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
    expect(datesOfName('BAGNLDM-28022024-29022024.zip')).toEqual({ vanaf: '2024-02-28', tot: '2024-02-29' });
    expect(datesOfName('BAGNLDM-29022023-01032023.zip')).toBeNull();
    expect(datesOfName('BAGNLDM-31122024-01012025.zip')).toEqual({ vanaf: '2024-12-31', tot: '2025-01-01' });
  });
});

describe('the chain of deliveries', () => {
  const listed = (...days: [number, number][]) =>
    days.map(([from, to]) => {
      const name = `BAGNLDM-${from}052022-${to}052022.zip`;
      return { name, location: name, size: null, ...(datesOfName(name) ?? { vanaf: '', tot: '' }) };
    });
  const names = ({ next }: ReturnType<typeof chainFrom>) =>
    next.map(({ vanaf, tot }) => [vanaf.slice(8), tot.slice(8)]);

  it('starts at the date and covers missed days', () => {
    const chain = chainFrom(listed([10, 11], [11, 12], [12, 15]), '2022-05-11');
    expect(names(chain)).toEqual([
      ['11', '12'],
      ['12', '15'],
    ]);
    expect(chain.broken).toBeNull();
  });

  it('ends when no delivery is newer', () => {
    expect(chainFrom(listed([10, 11]), '2022-05-11')).toEqual({ next: [], broken: null });
    expect(chainFrom([], '2022-05-11')).toEqual({ next: [], broken: null });
  });

  it('reports a gap after the deliveries before it', () => {
    const chain = chainFrom(listed([10, 11], [12, 13]), '2022-05-10');
    expect(names(chain)).toEqual([['10', '11']]);
    expect(chain.broken).toContain('No mutations follow 2022-05-11: the next delivery, BAGNLDM-12052022-13052022.zip');
  });

  it('reports a delivery that spans the date', () => {
    expect(chainFrom(listed([10, 13]), '2022-05-11').broken).toContain(
      'spans that date, from 2022-05-10 to 2022-05-13',
    );
  });

  it('is complete for a list of thousands in any order, with unrelated names', async () => {
    const day = (days: number) => new Date(Date.UTC(2010, 0, 1 + days)).toISOString().slice(0, 10);
    const digits = (date: string) => `${date.slice(8)}${date.slice(5, 7)}${date.slice(0, 4)}`;
    const days = Array.from({ length: 5_000 }, (_, i) => `BAGNLDM-${digits(day(i))}-${digits(day(i + 1))}.zip`);
    const back = days.map((name) => name.replace(/-(\d+)-(\d+)/, '-$2-$1'));
    const again = days.map((name) => name.replace(/-(\d+)-(\d+)/, '-$1-$1'));
    const list = join(folder, 'long.json');
    await writeFile(list, JSON.stringify([...days, ...back, ...again].reverse().map((naam) => ({ naam }))));
    const { next, broken } = chainFrom(await listMutations(list), day(0));
    expect([next.length, next.at(-1)?.tot, broken]).toEqual([5_000, day(5_000), null]);
  });

  it('takes the shortest of deliveries that overlap', () => {
    expect(
      names(
        chainFrom(
          listed([10, 11], [10, 20], [11, 12]).sort((a, b) => a.tot.localeCompare(b.tot)),
          '2022-05-10',
        ),
      ),
    ).toEqual([
      ['10', '11'],
      ['11', '12'],
    ]);
  });
});
