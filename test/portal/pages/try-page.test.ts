import { afterAll, describe, expect, it } from '@jest/globals';
import { availableIncludes } from '../../../core/place-fields.ts';
import { newAccount } from '../../support/address-service.ts';
import { htmlText } from '../../support/html-text.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { startHttpService } from '../../support/http-service.ts';
import { createTestPortal, portalSettings } from '../../support/portal.ts';

const service = await startHttpService();
const { key, id: account } = await newAccount(service, { minute: 100 });
afterAll(() => service.stop());
await service.admin.members.add({ account, person: 'tries@own.nl', role: 'viewer' });

/** A member of the account, signed in to a portal of the API at `apiUrl`. */
const visitorOf = (apiUrl: string, settings: Partial<typeof portalSettings> = {}) =>
  createTestPortal(service, { settings: { ...portalSettings, apiUrl, ...settings } }).signedIn({
    subject: 'sub:tries',
    email: 'tries@own.nl',
  });
const visitor = await visitorOf(service.baseUrl);
const path = `/accounts/${account}/api/try`;

const typed = { key, postcode: '1012RJ', huisnummer: '147', toevoeging: '' };

/** The sentence about a response. */
const sentenceIn = (body: string) =>
  htmlText(
    (/<div class="note [a-z]+">(.*?)<\/div>/s.exec(body)?.[1] ?? '').replaceAll('</p>', ' '),
  );

/** An API that gives one response. */
async function answersWith(status: number, body: string, headers: Record<string, string> = {}) {
  const { url, stop } = await startHttpServer((_, response) => {
    response.writeHead(status, headers).end(body);
  });
  const answer = await (await visitorOf(url)).post(path, typed);
  await stop();
  return { ...answer, url, sentence: sentenceIn(answer.body) };
}

describe('the page that tries a lookup', () => {
  it('begins with a test address, has the tabs of the account and may ask only the portal', async () => {
    const { body, headers } = await visitor.get(path);
    for (const part of ['value="9999SD"', 'value="1"', `<a href="/accounts/${account}/keys">`]) {
      expect(body).toContain(part);
    }
    expect(body).toContain(`<a href="/accounts/${account}/api" aria-current="true">`);
    const directives = headers.get('content-security-policy')?.split('; ') ?? [];
    expect(directives).toContain("connect-src 'self'");
    const policyElsewhere = (await visitor.get(`/accounts/${account}/api`)).headers.get(
      'content-security-policy',
    );
    expect(policyElsewhere?.split('; ')).toEqual(
      directives.filter((one) => !one.startsWith('connect-src')),
    );
  });

  it.each([
    [
      {},
      'The address exists: Nieuwezijds Voorburgwal, Amsterdam.',
      ['HTTP 200', 'RateLimit-Policy: ', 'postcode=1012RJ&amp;huisnummer=147'],
    ],
    [
      { 'include-gemeente': 'on', 'include-toevoegingen': 'on' },
      'The address exists: Nieuwezijds Voorburgwal, Amsterdam.',
      ['include=toevoegingen%2Cgemeente', '&quot;provincie&quot;'],
    ],
    [
      { toevoeging: 'ZZ' },
      'This address does not exist. Toevoegingen at this number: none.',
      ['&quot;not_found&quot;'],
    ],
    [{ huisnummer: '99999' }, 'This address does not exist.', ['&quot;not_found&quot;']],
    [
      { postcode: '9999SD', huisnummer: '3' },
      'This may be several addresses: Teststraat, Testdorp; Teststraat, Teststad.',
      ['&quot;ambiguous&quot;'],
    ],
    [
      { huisnummer: "12'; x" },
      'The input is invalid, so nothing was looked up or counted: huisnummer: ',
      ['HTTP 422', 'huisnummer=12%27%3B+x', 'id="huisnummer-fault"'],
    ],
    [
      { key: 'bagadres_x' },
      'The API does not accept this key: a character is wrong or missing, or the key was revoked.',
      ['HTTP 401', 'id="key-fault"'],
    ],
  ])(
    'says what the response to %j means, and shows it with the request, without the key',
    async (over, sentence, shown) => {
      const { status, body } = await visitor.post(path, { ...typed, ...over });
      expect(status).toBe(200);
      expect(sentenceIn(body)).toContain(sentence);
      for (const part of shown) expect(body).toContain(part);
      expect(body).toContain('X-API-Key: YOUR_KEY');
      expect(body).not.toContain(key);
    },
  );

  it('offers and keeps the choices of include, with objects where the operator has them', async () => {
    const chosen = { ...typed, 'include-gemeente': 'on', 'include-objecten': 'on' };
    const { body } = await visitor.post(path, chosen);
    const checked = (html: string) =>
      [...html.matchAll(/name="include-(\w+)" value="on"( checked)?/g)].map(
        ([, name, isChecked]) => name + (isChecked ?? ''),
      );
    const names = (hasObjects: boolean) =>
      availableIncludes(hasObjects).map((name) => (name === 'gemeente' ? `${name} checked` : name));
    expect(checked(body)).toEqual(names(false));
    expect(body).not.toContain('objecten');
    const other = await visitorOf(service.baseUrl, { objecten: true });
    const { body: withObjects } = await other.post(path, { ...typed, 'include-gemeente': 'on' });
    expect(checked(withObjects)).toEqual(names(true));
  });

  it('counts as a lookup of that key, and names the limit that is reached', async () => {
    const own = await newAccount(service, { minute: 1 });
    const answers = [1, 2].map(() => visitor.post(path, { ...typed, key: own.key }));
    const bodies = (await Promise.all(answers)).map(({ body }) => body);
    const [refused = '', ...others] = bodies.filter((body) => body.includes('HTTP 429'));
    expect(others).toEqual([]);
    expect(sentenceIn(refused)).toMatch(
      /^This limit is reached: per minute\. Nothing was counted\. Try again in \d+ seconds?\.$/,
    );
  });

  it('explains an account and a plan that are not active', async () => {
    const own = await newAccount(service, { minute: 1 });
    await service.admin.accounts.suspend(own.id);
    const { body } = await visitor.post(path, { ...typed, key: own.key });
    expect(sentenceIn(body)).toContain('This account is suspended');
    const type = 'https://adres.example.nl/problems/plan-inactive';
    const { sentence } = await answersWith(403, JSON.stringify({ type }));
    expect(sentence).toContain('The plan of this account is inactive');
  });

  it.each([
    [404, '{}', {}, /^There is no API at http:\S+ \(404\)\. Tell the operator/],
    [429, '{"message":"Too Many Requests"}', {}, /too many requests.* Try again in 1 second\.$/],
    [
      429,
      '{"violated_windows":["key-day"]}',
      { 'Retry-After': '7200' },
      /reached: of the key per day\. Nothing was counted\. Try again from \d+ \w+ \d{4}, \d\d:\d\d CES?T\.$/,
    ],
    [502, '<h1>Bad gateway</h1>', {}, /^The API answered with status 502, below\./],
    [422, '{}', {}, /^The API answered with status 422, below\./],
    [200, '{"hello":1}', {}, /^The API answered with status 200, below\./],
  ])('explains a %d with the body %s', async (status, given, headers, sentence) => {
    const answer = await answersWith(status, given, headers as Record<string, string>);
    expect(answer.status).toBe(200);
    expect(answer.sentence).toMatch(sentence);
    expect(answer.body).not.toContain('<h1>Bad');
  });

  it('shows each fault of the input with the suggested input, and its explanation in the language of the page', async () => {
    const dutch = await createTestPortal(service, {
      settings: { ...portalSettings, apiUrl: service.baseUrl },
    }).signedIn({ subject: 'sub:nl', email: 'tries@own.nl' }, 'nl');
    const { body } = await dutch.post(path, { ...typed, postcode: '0123AB', huisnummer: '12A' });
    expect(sentenceIn(body)).toContain('postcode: postcode can&#39;t begin with 0');
    expect(sentenceIn(body)).toContain('Bedoelt u huisnummer=12 toevoeging=A?');
    for (const code of ['postcode-leading-zero', 'huisnummer-with-toevoeging']) {
      expect(body).toContain(`href="${service.baseUrl}/docs?lang=nl#error-${code}"`);
    }
  });

  it('sends no key in an address, and shows none that was pasted into another field', async () => {
    const { body } = await visitor.post(path, { ...typed, postcode: `x ${key}` });
    expect([body.includes('HTTP 422'), body.includes(key)]).toEqual([true, false]);
  });

  it.each(['', 'é', 'a b'])('asks for a key when %j was typed', async (wrong) => {
    const { status, body } = await visitor.post(path, { ...typed, key: wrong });
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
      const { status, body } = await (await visitorOf(url)).post(path, typed);
      expect([status, body.includes('did not respond'), body.includes(key)]).toEqual([
        503,
        true,
        false,
      ]);
    }
    await stop();
    expect(followed).toEqual([]);
  });

  it('has the key of the demo in that account, and in no other', async () => {
    const demo = { account, key: 'bagadres_demo_key' };
    const own = await visitorOf(service.baseUrl, { demo });
    expect((await own.get(path)).body).toContain('value="bagadres_demo_key"');
    const other = await visitorOf(service.baseUrl, { demo: { ...demo, account: 'other' } });
    expect((await other.get(path)).body).not.toContain('bagadres_demo');
  });
});

describe('the address of the page without an account', () => {
  it('leads a member of one account to it, and lets a member of several choose', async () => {
    expect((await (await visitorOf(service.baseUrl)).get('/try')).location).toBe(path);
    const second = await newAccount(service, { minute: 1 });
    const people = { person: 'two@own.nl', role: 'admin' } as const;
    for (const id of [account, second.id]) {
      await service.admin.members.add({ account: id, ...people });
    }
    const portal = createTestPortal(service);
    const two = await portal.signedIn({ subject: 'sub:two', email: 'two@own.nl' });
    const { body } = await two.get('/try');
    for (const id of [account, second.id]) {
      expect(body).toContain(`<a href="/accounts/${id}/api/try">`);
    }
  });

  it('leads whoever may see no account that calls the API home', async () => {
    await service.admin.members.add({ account, person: 'money@own.nl', role: 'finance' });
    const portal = createTestPortal(service);
    for (const email of ['money@own.nl', 'nobody@own.nl']) {
      const person = await portal.signedIn({ subject: `sub:${email}`, email });
      expect((await person.get('/try')).location).toBe('/');
    }
  });
});
