import { startForTests } from '../support/start-for-tests.ts';
import '../support/with-objects.ts';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../support/address-service.ts';
import { startBrokenService } from '../support/broken-service.ts';
import { startHttpService } from '../support/http-service.ts';

const cwd = fileURLToPath(new URL('../../docs/examples/', import.meta.url));

const service = startForTests(startHttpService);
const broken = startForTests(startBrokenService);
let key: string;

beforeAll(async () => {
  ({ key } = await newAccount(service, { day: 100 }));
});

async function page(...address: string[]): Promise<string> {
  return await pageWith({}, ...address);
}

async function pageWith(
  own: { BAG_ADRES_URL?: string; BAG_ADRES_KEY?: string },
  ...address: string[]
): Promise<string> {
  const env = { ...process.env, BAG_ADRES_URL: service.baseUrl, BAG_ADRES_KEY: `${key}\n`, ...own };
  return (await promisify(execFile)(process.execPath, ['map.ts', ...address], { cwd, env })).stdout;
}

describe('the example map.ts', () => {
  it('writes a page with a link to a map at the location of each object of the address', async () => {
    const text = await page('9999SD', '2', 'a');
    expect(text).toContain('<h1>Teststraat 2a, Testdorp</h1>');
    expect(text).toContain(
      '<li>verblijfsobject 9999010000000021: winkelfunctie, woonfunctie, 120 m², Verblijfsobject in gebruik. ' +
        '<a href="https://www.openstreetmap.org/?mlat=52.1551723&amp;mlon=5.3875104#map=19/52.1551723/5.3875104">',
    );
    expect((await page('9999SD', '3')).match(/<h1>|<a /g)).toEqual(['<h1>', '<a ', '<h1>']);
  });

  it('says so for an address that does not exist, and repeats what the service says about its input', async () => {
    expect(await page('9999SD', '4')).toContain('Dit adres bestaat niet.');
    await expect(page('0123', '1')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('postcode'),
    });
  });

  it("prints no part of a key that it can't send, and a fixed text for a response that is none", async () => {
    const refused = pageWith({ BAG_ADRES_KEY: `${key}\n${key}` }, '9999SD', '1');
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stderr: 'BAG_ADRES_KEY is not an API key.\n',
    });
    await Promise.all(
      broken.urls.map(async (url) => {
        await expect(pageWith({ BAG_ADRES_URL: url }, '9999SD', '1')).rejects.toMatchObject({
          code: 1,
          stderr: 'no valid response: check BAG_ADRES_URL and the connection\n',
        });
      }),
    );
  });
});
