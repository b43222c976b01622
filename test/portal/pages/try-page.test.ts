import { afterAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../../support/address-service.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startHttpService } from '../../support/http-service.ts';
import { createTestPortal, portalSettings } from '../../support/portal.ts';

const service = await startHttpService();
const { key } = await newAccount(service, { minute: 100 });
afterAll(() => service.stop());

/** Somebody signed in to a portal of the API at `apiUrl`. */
const visitorOf = (apiUrl: string) =>
  createTestPortal(service, { settings: { ...portalSettings, apiUrl } }).signedIn({
    subject: 'sub:tries',
  });
const visitor = await visitorOf(service.baseUrl);

const typed = { key, postcode: '1012RJ', huisnummer: '147', toevoeging: '', include: '' };

describe('the page that tries a lookup', () => {
  it('begins with a test address', async () => {
    const { body } = await visitor.get('/try');
    expect([body.includes('value="9999SD"'), body.includes('value="1"')]).toEqual([true, true]);
  });

  it.each([
    [
      {},
      [
        'HTTP 200',
        'RateLimit-Policy: ',
        'Nieuwezijds Voorburgwal',
        'postcode=1012RJ&amp;huisnummer=147',
      ],
    ],
    [{ include: 'gemeente' }, ['HTTP 200', '&quot;provincie&quot;']],
    [{ huisnummer: "12'; x" }, ['HTTP 422', 'huisnummer=12%27%3B+x']],
    [{ key: 'bagadres_x' }, ['HTTP 401', 'Unauthorized']],
  ])(
    'shows the response of the API to %j, and the request without the key',
    async (over, shown) => {
      const { status, body } = await visitor.post('/try', { ...typed, ...over });
      expect(status).toBe(200);
      for (const part of shown) expect(body).toContain(part);
      expect(body).toContain('X-API-Key: YOUR_KEY');
      expect(body).not.toContain(key);
    },
  );

  it('counts as a lookup of that key', async () => {
    const own = await newAccount(service, { minute: 1 });
    const answers = [1, 2].map(() => visitor.post('/try', { ...typed, key: own.key }));
    const found = (await Promise.all(answers)).map(({ body }) => /HTTP (\d+)/.exec(body)?.[1]);
    expect(found.toSorted()).toEqual(['200', '429']);
  });

  it('sends no key in an address, and shows none that was pasted into another field', async () => {
    const { body } = await visitor.post('/try', { ...typed, postcode: `x ${key}` });
    expect([body.includes('HTTP 422'), body.includes(key)]).toEqual([true, false]);
  });

  it.each(['', 'é', 'a b'])('asks for a key when %j was typed', async (wrong) => {
    const { status, body } = await visitor.post('/try', { ...typed, key: wrong });
    expect([status, body.includes('id="key-fault"')]).toEqual([422, true]);
    expect(body).toContain('value="1012RJ"');
  });

  it('says so when nothing answers, and follows no redirect with the key', async () => {
    const followed: (string | undefined)[] = [];
    const { url: redirecting, stop } = await startHttpServer((request, response) => {
      if (request.url === '/elsewhere') followed.push(request.url);
      response.writeHead(307, { location: '/elsewhere' }).end();
    });
    for (const url of [redirecting, 'http://127.0.0.1:1']) {
      const { status, body } = await (await visitorOf(url)).post('/try', typed);
      expect([status, body.includes('did not respond'), body.includes(key)]).toEqual([
        503,
        true,
        false,
      ]);
    }
    await stop();
    expect(followed).toEqual([]);
  });
});
