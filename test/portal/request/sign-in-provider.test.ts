import { afterAll, afterEach, describe, expect, it } from '@jest/globals';
import { freshSecret } from '../../../portal/request/cookies.ts';
import { defaultRates } from '../../../portal/request/rates.ts';
import { en } from '../../../portal/text/en.ts';
import { startAddressService } from '../../support/address-service.ts';
import { cookieBrowser } from '../../support/cookie-browser.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { createTestPortal, portalSettings } from '../../support/portal.ts';
import { fieldIn } from '../../support/portal-pages.ts';
import { type StubAnswers, startStubProvider } from '../../support/stub-provider.ts';

let secret = 'the first session secret of these tests';
let now = Date.now();

const [service, provider] = await Promise.all([startAddressService(), startStubProvider()]);
await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
await service.admin.accounts.create({ id: 'acme', plan: 'small' });
afterAll(async () => {
  await provider.stop();
  await service.stop();
});

function newPortal(signIn: Partial<typeof portalSettings.signIn> = {}) {
  const settings = {
    ...portalSettings,
    signIn: { ...portalSettings.signIn, issuer: provider.issuer, ...signIn },
    sessionSecret: freshSecret(
      async () => secret,
      () => now,
    ),
  };
  return createTestPortal(service, { settings, now: () => now, rates: defaultRates });
}

/** A browser at the portal, which signs in as the provider answers. */
function newBrowser({ app }: ReturnType<typeof newPortal>, sourceIp = '203.0.113.1') {
  const { baseUrl } = portalSettings;
  const browser = cookieBrowser((url, init) =>
    app.request(url, init, { requestContext: { http: { sourceIp } } }),
  );
  const get = (path: string) => browser.get(baseUrl + path);

  async function signIn(answers: StubAnswers, path = '/sign-in', init: RequestInit = {}) {
    provider.set(answers);
    const begun = await get(path);
    const back = await fetch(begun.location ?? '', { redirect: 'manual' });
    return browser.get(back.headers.get('location') ?? '', init);
  }

  /** Sends a form of a page, as a browser does. */
  const post = (path: string, form: Record<string, string>, page = path) =>
    browser.get(baseUrl + path, {
      method: 'POST',
      headers: {
        origin: baseUrl,
        referer: baseUrl + page,
        'content-type': 'application/x-www-form-urlencoded',
      },
      body: new URLSearchParams(form).toString(),
    });

  return { get, post, signIn, jar: browser.jarOf(baseUrl) };
}

const session = '__Host-portal-session';
const operator: StubAnswers = { idToken: { sub: 'o', groups: ['operators'] } };
const member: StubAnswers = { idToken: { sub: 'm', email: 'jo@acme.nl', email_verified: true } };

describe('an ID token', () => {
  it.each([0, 500, -50])(
    'issued %d seconds ago signs in whom it names, on any clock within a minute',
    async (age) => {
      const browser = newBrowser(newPortal());
      const iat = Math.floor(Date.now() / 1000) - age;
      const signedIn = await browser.signIn({ idToken: { ...operator.idToken, iat } });
      expect(signedIn).toMatchObject({ status: 303, location: '/' });
      expect((await browser.get('/operator/accounts')).body).toContain('acme');
    },
  );

  it.each<[string, Partial<StubAnswers>, Record<string, unknown>]>([
    ['signed with a key that the provider does not publish', { foreignKey: true }, {}],
    ['that is not signed', { algorithm: 'none' }, {}],
    ['for another client', {}, { aud: 'other' }],
    ['issued to another client', {}, { azp: 'other' }],
    [
      'issued to another client, among its audiences',
      {},
      { aud: ['portal', 'other'], azp: 'other' },
    ],
    ['of another issuer', {}, { iss: 'https://evil.example' }],
    ['of another attempt', {}, { nonce: 'x' }],
    ['that has expired', {}, { exp: 1 }],
    ['issued more than ten minutes ago', {}, { age: 603 }],
    ['issued more than a minute in the future', {}, { age: -70 }],
  ])('%s signs nobody in, and leaves a trace', async (_, answers, { age = 0, ...claims }) => {
    const portal = newPortal();
    const browser = newBrowser(portal);
    const iat = Math.floor(Date.now() / 1000) - Number(age);
    const answer = await browser.signIn({
      idToken: { ...operator.idToken, iat, ...claims },
      ...answers,
    });
    expect([answer.status, browser.jar.has(session)]).toEqual([400, false]);
    expect(answer.body).toContain('Sign in again');
    const [entry] = (await service.admin.sessions.audit({ limit: 1 })).entries;
    expect(entry).toMatchObject({ action: 'session refuse', detail: { identity: '-' } });
    expect(portal.logged).toHaveLength(1);
  });

  it('whose subject can not be used leads to a page that says so', async () => {
    const browser = newBrowser(newPortal());
    const answer = await browser.signIn({ idToken: { sub: 'a b' } });
    expect([answer.status, browser.jar.has(session)]).toEqual([400, false]);
    expect(answer.body).toContain('they can choose another claim');
  });

  it.each([
    ['is not verified', { email: 'jo@acme.nl' }, 'unverified'],
    ['has a form that is not safe', { email: ' jo@acme.nl', email_verified: true }, 'form'],
    ['is there', { email: 'jo@nowhere.nl', email_verified: true }, undefined],
  ] as const)(
    'whose e-mail address %s leads to a page with the identity to be added by',
    async (_, email, fault) => {
      const browser = newBrowser(newPortal());
      await browser.signIn({ idToken: { sub: 'u', ...email } });
      const { body } = await browser.get('/');
      const shown = Object.entries(en.emailFaults).filter(([, text]) => body.includes(text));
      expect(body).toContain(fault ? 'sub:u' : 'jo@nowhere.nl');
      expect(shown.map(([name]) => name)).toEqual(fault ? [fault] : []);
    },
  );
});

describe('a sign-in that the provider does not let through', () => {
  const ended = {
    error: 'invalid_client',
    error_description: 'AADSTS7000222: the secret of jo@acme.nl expired',
  };

  it.each<[string, StubAnswers['token'], number, string | undefined]>([
    ['as the client secret has ended', { status: 401, body: ended }, 503, 'invalid_client'],
    [
      'as the client secret has ended, with a challenge',
      { status: 401, body: ended, challenge: 'Basic realm="x"' },
      503,
      'invalid_client',
    ],
    [
      'as the client may no longer do this',
      { status: 400, body: { error: 'unauthorized_client' } },
      503,
      'unauthorized_client',
    ],
    [
      'with a code of its own',
      { status: 400, body: { error: 'Secret of jo@acme.nl' } },
      503,
      'other',
    ],
    ['as it hangs up', 'hang up', 503, 'unreachable'],
    ['as it answers with a page of its own', { status: 502, body: '<html>' }, 503, 'unreachable'],
    [
      'as the code was used before',
      { status: 400, body: { error: 'invalid_grant' } },
      400,
      undefined,
    ],
  ])('%s, is the fault of the visitor only if it is', async (_, token, status, reason) => {
    const portal = newPortal();
    const answer = await newBrowser(portal).signIn({ ...member, ...(token && { token }) });
    expect(answer.status).toBe(status);
    expect(portal.logged.map(({ provider }) => provider)).toEqual([reason]);
  });

  it('is let through as soon as the client secret was replaced', async () => {
    let clientSecret = 'the old one';
    const portal = newPortal({ clientSecret: async () => clientSecret });
    expect(
      (await newBrowser(portal).signIn({ ...member, clientSecret: 'the new one' })).status,
    ).toBe(503);
    clientSecret = 'the new one';
    expect((await newBrowser(portal).signIn({ ...member, clientSecret })).status).toBe(303);
  });

  it('does not begin where the provider can not be reached, and is logged as that', async () => {
    const portal = newPortal({ issuer: 'http://127.0.0.1:1' });
    expect((await newBrowser(portal).get('/sign-in')).status).toBe(503);
    expect(portal.logged.map(({ provider }) => provider)).toEqual(['unreachable']);
  });
});

describe('a visitor', () => {
  inSweep('at any rate has no other one refused, signing in or signed in', async () => {
    const portal = newPortal();
    const one = newBrowser(portal, '203.0.113.7');
    const other = newBrowser(portal, '203.0.113.8');
    await other.signIn(operator);
    const flood: number[] = [];
    for (let i = 0; i < 50; i++) {
      const { status } = await one.signIn({
        ...member,
        token: { status: 400, body: { error: 'invalid_grant' } },
      });
      flood.push((await one.get('/sign-in')).status, (await one.get('/')).status, status);
    }
    expect(flood.filter((status) => status === 429)).toHaveLength(30);
    expect((await other.get('/operator/accounts')).body).toContain('acme');
    expect((await newBrowser(portal, '203.0.113.9').signIn(operator)).status).toBe(303);
  });

  it('is limited by the address that API Gateway names, whatever X-Forwarded-For says', async () => {
    const portal = newPortal();
    const browser = newBrowser(portal);
    const token = { status: 400, body: { error: 'invalid_grant' } };
    const statuses: number[] = [];
    for (let i = 0; i < 21; i++) {
      const headers = { 'x-forwarded-for': `198.51.100.${i}` };
      statuses.push((await browser.signIn({ ...member, token }, '/sign-in', { headers })).status);
    }
    expect(statuses).toEqual([...Array(20).fill(400), 429]);
  });
});

describe('a session', () => {
  it('is replaced by another sign-in in the same browser', async () => {
    const browser = newBrowser(newPortal());
    await browser.signIn(operator);
    const first = browser.jar.get(session) ?? '';
    await browser.signIn(member);
    expect(browser.jar.get(session)).not.toBe(first);
    const copy = newBrowser(newPortal());
    copy.jar.set(session, first);
    expect((await copy.get('/operator/accounts')).body).toContain('Welcome');
  });

  it('is an id, which is worth nothing without the proof of the session secret', async () => {
    const browser = newBrowser(newPortal());
    await browser.signIn(operator);
    const [id = '', proof = ''] = (browser.jar.get(session) ?? '').split('.');
    expect((await service.admin.sessions.find(id))?.person).toBe('sub:o');
    for (const forged of [
      id,
      `${id}.`,
      `${id}.${'A'.repeat(43)}`,
      `${id}x.${proof}`,
      `.${proof}`,
      proof,
    ]) {
      browser.jar.set(session, forged);
      expect((await browser.get('/operator/accounts')).body).toContain('Welcome');
    }
  });

  it('of everybody ends in a warm instance at most 30 seconds after the session secret was replaced', async () => {
    const browser = newBrowser(newPortal());
    await browser.signIn(operator);
    secret = 'the second session secret of these tests';
    now += 31_000;
    expect((await browser.get('/operator/accounts')).body).toContain('Welcome');
    await browser.signIn(operator);
    expect((await browser.get('/operator/accounts')).body).toContain('acme');
  });

  it('of an operator by a claim is confirmed by the provider after 5 minutes, and goes on where it was', async () => {
    const browser = newBrowser(newPortal());
    now = Date.now();
    await browser.signIn(operator);
    const cookie = browser.jar.get(session);
    now += 301_000;
    const asked = (await browser.get('/operator/accounts?q=ac')).location ?? '';
    expect(asked).toBe('/sign-in?back=%2Foperator%2Faccounts%3Fq%3Dac');
    // The table has the time of this machine.
    expect(await browser.signIn(operator, asked)).toMatchObject({
      status: 303,
      location: '/operator/accounts?q=ac',
    });
    expect(browser.jar.get(session)).toBe(cookie);
    now = Date.now();
    expect((await browser.get('/operator/plans')).body).toContain('small');
  });

  it('of an operator who lost the claim is one no more after that', async () => {
    const browser = newBrowser(newPortal());
    now = Date.now();
    await browser.signIn(operator);
    now += 301_000;
    await browser.signIn(
      { idToken: { sub: 'o', groups: [] } },
      '/sign-in?back=%2Foperator%2Fplans',
    );
    expect((await browser.get('/operator/plans')).status).toBe(404);
    now = Date.now();
    expect((await browser.get('/operator/plans')).status).toBe(404);
  });

  it('of an operator by a claim takes no form when that was confirmed over 15 minutes ago', async () => {
    const portal = newPortal();
    const person = await portal.signedIn({ subject: 'sub:late', operator: true });
    now = Date.now() + 901_000;
    const answer = await person.post('/operator/plans', { code: 'late', 'limit-day': '5' });
    expect([answer.status, answer.body.includes('Nothing was saved')]).toEqual([403, true]);
    expect((await service.admin.plans.list({ prefix: 'late' })).plans).toEqual([]);
    now = Date.now();
  });
});

describe('a form whose session has ended', () => {
  const page = '/accounts/acme/keys?all=yes';
  const action = '/accounts/acme/keys';
  const typed = { label: 'the webshop', expires: '2099-01-31' };

  /** Somebody who has opened a page with a form. */
  async function withForm(portal = newPortal()) {
    await service.admin.members.add({ account: 'acme', person: 'jo@acme.nl', role: 'admin' });
    const browser = newBrowser(portal);
    await browser.signIn(member);
    const form = {
      ...typed,
      token: fieldIn((await browser.get(page)).body, 'token'),
      once: 'x'.repeat(20),
    };
    const end = () => service.admin.sessions.endAll({ person: 'sub:m' });
    return { browser, form, end };
  }
  const isShown = (body: string) =>
    Object.values(typed).map((value) => body.includes(`value="${value}"`));
  afterEach(async () => expect(await service.admin.keys.list('acme')).toEqual([]));

  it('comes back after signing in, on its page and once, with what was typed', async () => {
    const { browser, form, end } = await withForm();
    await end();
    const answer = await browser.post(action, form, page);
    expect([answer.status, answer.body.includes('Nothing was saved')]).toEqual([403, true]);
    const [, signIn = ''] = /href="(\/sign-in[^"]+)"/.exec(answer.body) ?? [];
    expect(await browser.signIn(member, signIn)).toMatchObject({ status: 303, location: page });
    const shown = (await browser.get(page)).body;
    expect([isShown(shown), shown.includes(en.kept)]).toEqual([[true, true], true]);
    expect(isShown((await browser.get(page)).body)).toEqual([false, false]);
  });

  it('comes back at once where the same person has signed in again in another tab', async () => {
    const { browser, form } = await withForm();
    await browser.signIn(member);
    expect(await browser.post(action, form, page)).toMatchObject({ status: 303, location: page });
    expect(isShown((await browser.get(page)).body)).toEqual([true, true]);
  });

  it('comes back on the page that it was sent to where the browser names no page, or none of the portal', async () => {
    const { browser, form } = await withForm();
    await browser.signIn(member);
    for (const named of ['/nothing', '/accounts/acme/keys.csv']) {
      expect((await browser.post(action, form, named)).location).toBe(action);
    }
    expect((await browser.post('/accounts/acme/nothing', form)).status).toBe(404);
  });

  it('comes back to nobody else', async () => {
    const { browser, form, end } = await withForm();
    await end();
    await browser.post(action, form, page);
    await service.admin.members.add({ account: 'acme', person: 'an@acme.nl', role: 'admin' });
    await browser.signIn({ idToken: { sub: 'n', email: 'an@acme.nl', email_verified: true } });
    for (const time of ['first', 'second']) {
      const { body } = await browser.get(page);
      expect([time, isShown(body), body.includes(en.kept)]).toEqual([time, [false, false], false]);
    }
    expect((await browser.post(action, form, page)).status).toBe(400);
    await browser.signIn(member);
    expect(isShown((await browser.get(page)).body)).toEqual([false, false]);
  });

  it('brings back no key, and nothing for which a cookie has no room', async () => {
    const { browser, form } = await withForm();
    const key = 'bagadres_acme_AbCdEfGh0123456789';
    for (const label of [key, 'x'.repeat(4_000)]) {
      await browser.signIn(member);
      expect((await browser.post(action, { ...form, label, key }, page)).location).toBe(page);
      const { body } = await browser.get(page);
      expect([body.includes(key), body.includes('xxxx')]).toEqual([false, false]);
    }
  });

  it('of another site is refused, and keeps nothing', async () => {
    const { browser, form, end } = await withForm();
    await end();
    const before = [...browser.jar];
    const answer = await browser.post(action, { ...form, token: 'x' }, page);
    expect([answer.status, [...browser.jar]]).toEqual([403, before]);
  });
});

describe('a deep link', () => {
  it('leads there after signing in', async () => {
    const browser = newBrowser(newPortal());
    const { body } = await browser.get('/operator/accounts?q=ac');
    const [, signIn = ''] = /href="(\/sign-in[^"]*)"/.exec(body) ?? [];
    expect((await browser.signIn(operator, signIn)).location).toBe('/operator/accounts?q=ac');
  });
});

describe('a recipe of docs/portal.md', () => {
  type SignIn = Partial<typeof portalSettings.signIn>;
  const olaf = { email: 'olaf@operator.nl', email_verified: true };

  it.each<
    [string, SignIn, claims: StubAnswers['idToken'], email: string | undefined, isOperator: boolean]
  >([
    [
      'Cognito',
      { operatorClaim: { name: 'cognito:groups', value: 'operators' } },
      {
        sub: 'f3a4c8e2-70a1-7050-0f4a-0b8ee8a8f1aa',
        'cognito:groups': ['operators'],
        token_use: 'id',
        ...olaf,
      },
      olaf.email,
      true,
    ],
    [
      'Entra ID',
      { subjectClaim: 'oid', operatorClaim: { name: 'roles', value: 'operator' } },
      {
        sub: 'AAAAAAAAAAAAAAAAAAAAAIkzqFVr',
        oid: '00000000-0000',
        email: 'jo@acme.nl',
        roles: ['operator'],
      },
      undefined,
      true,
    ],
    [
      'Keycloak',
      { operatorClaim: { name: 'groups', value: '/operators' } },
      {
        sub: '5c1b0b1e-9f0a-4f0a-8c1e-0d9a4f3c2b1a',
        azp: 'portal',
        acr: '1',
        groups: ['/operators'],
        ...olaf,
      },
      olaf.email,
      true,
    ],
    [
      'Google',
      {},
      {
        sub: '110169484474386276334',
        azp: 'portal',
        hd: 'acme.nl',
        email: 'jo@acme.nl',
        email_verified: true,
      },
      'jo@acme.nl',
      false,
    ],
  ])(
    'signs people in as %s documents its ID token',
    async (_, signIn, idToken, email, isOperator) => {
      const browser = newBrowser(newPortal(signIn));
      const { operatorClaim } = { ...portalSettings.signIn, ...signIn };
      await browser.signIn({ idToken });
      const [id = ''] = (browser.jar.get(session) ?? '').split('.');
      const found = await service.admin.sessions.find(id);
      const subject = idToken[signIn.subjectClaim ?? 'sub'];
      expect(found?.people).toEqual([`sub:${subject}`, ...(email ? [email] : [])]);
      expect(found?.claims.operator).toBe(
        isOperator ? `${operatorClaim?.name}=${operatorClaim?.value}` : undefined,
      );
      expect((await browser.get('/operator/plans')).status).toBe(isOperator ? 200 : 404);
    },
  );

  it('lets an administrator invite a person of Entra ID by the object id, before the first sign-in', async () => {
    await service.admin.members.add({
      account: 'acme',
      person: 'sub:00000000-0000-0000-aaaa',
      role: 'viewer',
    });
    const browser = newBrowser(newPortal({ subjectClaim: 'oid' }));
    await browser.signIn({
      idToken: { sub: 'pairwise', oid: '00000000-0000-0000-aaaa', email: 'x@acme.nl' },
    });
    expect((await browser.get('/')).location).toBe('/accounts/acme');
  });
});

describe('signing out', () => {
  it('leads to the page of the provider, also with the parameter that Cognito has for the way back', async () => {
    const metadata = { end_session_endpoint: `${provider.issuer}/logout` };
    const portal = newPortal();
    provider.set({ ...member, metadata });
    const person = await portal.signedIn({ subject: 'sub:m' });
    const { body } = await person.post('/sign-out');
    const url = new URL(
      (/href="([^"]*logout[^"]*)"/.exec(body)?.[1] ?? '').replaceAll('&amp;', '&'),
    );
    expect(Object.fromEntries(url.searchParams)).toEqual({
      client_id: 'portal',
      logout_uri: 'https://portal.example.nl/',
      post_logout_redirect_uri: 'https://portal.example.nl/',
    });
  });
});

describe('a secret that is read again', () => {
  it('is read every 30 seconds, once for all who need it, and kept for a minute while it can not be', async () => {
    let time = 0;
    let reads = 0;
    let failing = false;
    const read = freshSecret(
      async () => {
        if (failing) throw new Error('unreachable');
        return `value ${++reads}`;
      },
      () => time,
    );
    expect(await Promise.all([read(), read()])).toEqual(['value 1', 'value 1']);
    time = 29_999;
    expect(await read()).toBe('value 1');
    time = 30_000;
    expect(await read()).toBe('value 2');
    failing = true;
    time = 89_999;
    expect(await read()).toBe('value 2');
    time = 90_000;
    await expect(read()).rejects.toThrow('unreachable');
    failing = false;
    expect(await read()).toBe('value 3');
  });
});
