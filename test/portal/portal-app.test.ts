import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from '@jest/globals';
import { Hono } from 'hono';
import { createRefusalCount } from '../../core/accounts/usage-record.ts';
import { requestTarget } from '../../local/gateway/gateway-request.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { csvTable } from '../../packages/ui/csv.ts';
import { type GatewayEvent, pageRoutes, portalHandler } from '../../portal/portal-app.ts';
import { defaultRates } from '../../portal/request/rates.ts';
import { testTables } from '../support/address-service.ts';
import { gatewayEvent } from '../support/gateway-event.ts';
import { createTestPortal, portalSettings } from '../support/portal.ts';
import { startPortalPages } from '../support/portal-pages.ts';

const { service, portal, admin, operator, newAccount } = await startPortalPages();
afterAll(() => service.stop());

describe('a form', () => {
  it.each([
    ['of another site', {}, { origin: 'https://evil.example' }],
    ['without an origin', {}, { origin: '' }],
    ['of another type', {}, { 'content-type': 'text/plain' }],
    ['that is too large', { label: 'x'.repeat(20_000) }, {}],
  ])('%s changes nothing', async (_, fields, headers) => {
    const id = await newAccount();
    const form = { label: 'x', once: 'x'.repeat(20), ...fields } as Record<string, string>;
    const answer = await admin.post(
      `/accounts/${id}/keys`,
      form,
      headers as Record<string, string>,
    );
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('Open the page again');
    expect(await service.admin.keys.list(id)).toEqual([]);
  });

  it('from another site does not sign the visitor out', async () => {
    const person = await portal.signedIn({ subject: 'sub:s', operator: true });
    expect((await person.post('/sign-out', {}, { origin: 'https://evil.example' })).status).toBe(
      400,
    );
    expect((await person.get('/operator/plans')).body).toContain('large');
    expect((await person.post('/sign-out')).status).toBe(200);
    expect((await person.get('/operator/plans')).body).not.toContain('large');
  });
});

describe('usage', () => {
  it('equals what was charged, on the page and in the files', async () => {
    const id = 'long-ago';
    const now = () => Date.now() - 400 * 86_400_000;
    const past = createAdmin({ client: service.client, table: testTables.accounts, now });
    await past.accounts.create({ id, plan: 'small' });
    await past.members.add({ account: id, person: 'admin@own.nl', role: 'admin' });
    const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
    for (let i = 0; i < 3; i++) await service.instance.lookUp(key);
    const today = new Date().toISOString().slice(0, 10);
    const page = await admin.get(`/accounts/${id}/usage`);
    expect(page.body).toContain('<dt>Total shown</dt><dd>3</dd>');
    expect(page.body.match(/class="reach"/g)).toHaveLength(30);
    expect(page.body).toMatch(/<title>\d+ \w+ 20\d\d \(so far\): 3</);
    expect(page.body).not.toContain('<li class="limit">');
    const days = await admin.get(`/accounts/${id}/usage.csv?by=day`);
    expect(days.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    const columns = 'account,plan,date,limit,lookups,refused_quota,refused_input,refused_inactive';
    expect(days.body.split('\r\n')[0]).toBe(columns);
    expect(days.body).toContain(`${id},small,${today},1000,3,0,0,0\r\n`);
    const months = await admin.get(`/accounts/${id}/usage.csv?by=month`);
    expect(months.body).toMatch(new RegExp(`${id},small,${today.slice(0, 7)},,3,0,0,0\r\n$`));
    expect(months.body.trim().split('\r\n')).toHaveLength(13);
    const begin = new Date(Date.now() - 300 * 86_400_000).toISOString().slice(0, 10);
    const range = await admin.get(`/accounts/${id}/usage?from=${begin}&to=${today}`);
    expect(range.status).toBe(200);
    expect(range.body).toContain(`usage.csv?by=week&amp;from=${begin}&amp;to=${today}`);
    for (const wrong of [
      'from=x',
      `from=${today}&to=${begin}`,
      'from=2026-13-01',
      'to=2099-01-01',
    ]) {
      const answer = await admin.get(`/accounts/${id}/usage?${wrong}`);
      expect([wrong, answer.status, answer.body.includes('Enter two days')]).toEqual([
        wrong,
        422,
        true,
      ]);
    }
    const early = await admin.get(`/accounts/${id}/usage?from=2024-01-01`);
    expect([early.status, early.body]).toEqual([
      422,
      expect.stringContaining('There is nothing before'),
    ]);
    const fresh = await admin.get(`/accounts/${await newAccount()}/usage`);
    expect(fresh.body).toContain('No address was looked up');
    for (const absent of ['<rect', '<table', 'Last month until']) {
      expect(fresh.body).not.toContain(absent);
    }
    expect((await operator.get('/operator/usage.csv')).body).toContain(
      `${id},small,${today},1000,3,0,0,0\r\n`,
    );
  });
});

describe('the history of an account', () => {
  it('names who made a change by the e-mail address, or without one by the subject', async () => {
    const id = await newAccount();
    const byAddress = await portal.signedIn({
      subject: 'sub:x',
      email: 'olaf@operator.nl',
      operator: true,
    });
    const bySubject = await portal.signedIn({ subject: 'sub:y', operator: true });
    const actorOf = async (person: typeof byAddress) => {
      await person.post(`/accounts/${id}/members`, { person: 'new@member.nl', role: 'viewer' });
      return (await service.admin.accounts.audit(id, { limit: 1 })).entries[0]?.actor;
    };
    expect([await actorOf(byAddress), await actorOf(bySubject)]).toEqual([
      'olaf@operator.nl (operator)',
      'sub:y (operator)',
    ]);
  });
});

describe('an operator', () => {
  it.each([
    ['the list', { subject: 'sub:l', email: 'lijst@operator.nl' }],
    ['the claim', { subject: 'sub:c', operator: true }],
  ])(
    'by %s loses that role in an open session when the configuration changes',
    async (_, identity) => {
      const person = await portal.signedIn(identity);
      expect((await person.get('/operator/accounts')).status).toBe(200);
      const { operatorClaim: _claim, ...signIn } = portalSettings.signIn;
      const configured = { ...portalSettings, signIn: { ...signIn, operators: [] } };
      const redeployed = createTestPortal(service, { settings: configured });
      const { status } = await redeployed.app.request('/operator/accounts', {
        headers: { cookie: person.cookie },
      });
      expect(status).toBe(404);
    },
  );
});

describe('an internal error', () => {
  it('shows a page that says what to do, and is logged', async () => {
    const none = async () => [];
    const register = () => Promise.reject(new Error('the bucket is gone'));
    const loadsAs = async () => ({ register, waiting: none, running: none, audit: none }) as never;
    const broken = createTestPortal(service, { loadsAs });
    const person = await broken.signedIn({ subject: 'sub:o', operator: true });
    const answer = await person.get('/accounts/nothing/usage.csv');
    expect(answer.status).toBe(404);
    const failed = await person.get('/operator/register');
    expect(failed.status).toBe(500);
    expect(failed.body).toContain('check before you repeat it');
    expect(failed.body).not.toContain('bucket');
    expect(broken.logged).toHaveLength(1);
  });
});

describe('a page', () => {
  it('is answered in time when the database hangs, and says what to do', async () => {
    const never = () => new Promise<never>(() => undefined);
    const adminAs = (actor: string) => {
      const real = portal.adminAs(actor);
      return { ...real, accounts: { ...real.accounts, list: never, create: never } };
    };
    const hanging = createTestPortal(service, {
      adminAs,
      deadlineMilliseconds: { page: 50, form: 60 },
    });
    const person = await hanging.signedIn({ subject: 'sub:o', email: 'lijst@operator.nl' });
    for (const answer of [
      await person.get('/operator/accounts'),
      await person.post('/operator/accounts', { id: 'x' }),
    ]) {
      expect([answer.status, answer.body.includes('check before you repeat it')]).toEqual([
        503,
        true,
      ]);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
      expect(answer.headers.get('cache-control')).toBe('no-store');
    }
    expect(hanging.logged).toHaveLength(2);
  });

  it('has a rate for each session, and none for visitors who are not signed in', async () => {
    let now = Date.now();
    const rates = { ...defaultRates, session: { perSecond: 2, burst: 4 } };
    const limited = createTestPortal(service, { rates, now: () => now });
    const one = await limited.signedIn({ subject: 'sub:one' });
    const other = await limited.signedIn({ subject: 'sub:other' });
    const statuses = async (count: number, get: () => Promise<{ status: number }>) => {
      const all = [];
      for (let i = 0; i < count; i++) all.push((await get()).status);
      return all;
    };
    const anonymous = async () => limited.app.request('/operator/accounts');
    expect(await statuses(6, () => one.get('/sessions'))).toEqual([200, 200, 200, 200, 429, 429]);
    expect((await one.get('/sessions')).headers.get('retry-after')).toBe('1');
    expect(await statuses(1, () => other.get('/sessions'))).toEqual([200]);
    expect(await statuses(200, anonymous)).toEqual(Array(200).fill(200));
    const [, style = ''] =
      /href="([^"]*portal.css)"/.exec((await other.get('/sessions')).body) ?? [];
    expect(await statuses(9, async () => limited.app.request(style))).toEqual(Array(9).fill(200));
    now += 1000;
    expect(await statuses(3, () => one.get('/sessions'))).toEqual([200, 200, 429]);
    expect((await one.post('/sessions', {}, { origin: 'https://evil.example' })).status).toBe(429);
  });
});

describe('an address', () => {
  const answer = portalHandler(portal.app);

  /** What the operator is answered at an address that API Gateway has decoded. */
  async function statusAt(address: string): Promise<number> {
    const event = gatewayEvent('/', { headers: { cookie: operator.cookie } });
    const rawPath = requestTarget(address)?.path ?? '';
    return (await answer({ ...event, rawPath } as unknown as GatewayEvent)).statusCode;
  }

  const added = '%23 %3F %00 %0A %09 %5C %25 %20 %EF%BF%BD %23y/usage %3Fy/keys %5Cusage /.. /%2e';
  it.each(added.split(' '))(
    'of an account with %s behind its id is that of no account',
    async (more) => {
      const id = await newAccount();
      expect(await statusAt(`/accounts/${id}`)).toBe(200);
      expect(await statusAt(`/accounts/${id}${more}`)).toBe(404);
      expect(await statusAt(`/accounts/${id}${more}/usage`)).toBe(404);
    },
  );

  it.each([
    '/accounts/none/../../operator/accounts',
    '/operator/accounts%23',
    '/operator/plans/small%23',
    '/operator/plans/small%3Fx',
  ])('that would be another one in a URL is that of no page: %s', async (address) => {
    expect(await statusAt(address)).toBe(404);
  });
});

describe('a page for a browser that reads gzip', () => {
  it('is compressed by API Gateway, with the same contents, and so are assets', async () => {
    const handler = portalHandler(portal.app);
    const read = async (path: string, headers: Record<string, string> = {}) => {
      const { cookie } = operator;
      const event = gatewayEvent(path, {
        headers: { ...headers, cookie },
      }) as unknown as GatewayEvent;
      return (await handler(event)) as {
        body: string;
        isBase64Encoded: boolean;
        headers: Record<string, string>;
      };
    };
    const page = await read('/operator/plans');
    for (const path of [
      '/operator/plans',
      /href="(\/assets\/[^"]+css)"/.exec(page.body)?.[1] ?? '',
    ]) {
      const plain = await read(path);
      const small = await read(path, { 'accept-encoding': 'br, gzip' });
      expect([
        plain.isBase64Encoded,
        small.isBase64Encoded,
        small.headers['content-encoding'],
      ]).toEqual([false, true, 'gzip']);
      const bytes = Buffer.from(small.body, 'base64');
      expect(gunzipSync(bytes).toString()).toBe(plain.body);
      expect(bytes.length).toBeLessThan(plain.body.length / 2);
      expect(small.headers['content-security-policy']).toBe(
        plain.headers['content-security-policy'],
      );
    }
  });
});

describe('refusals', () => {
  it('are shown with the usage by day and month and in the files, marked as not exact', async () => {
    const id = await newAccount();
    expect((await admin.get(`/accounts/${id}/usage`)).body).not.toContain('Refused');
    const refusals = createRefusalCount(service.client, testTables.accounts);
    const now = Date.now() / 1000;
    for (let i = 0; i < 3; i++) {
      refusals.note(id, 'quota-exceeded', now, i === 0 ? ['minute', 'day'] : ['day']);
    }
    refusals.flush(now);
    // The write is under way; nobody waits for it.
    while ((await service.admin.accounts.usage(id)).refusals.length === 0);
    for (const by of ['day', 'month']) {
      const { body } = await admin.get(`/accounts/${id}/usage?by=${by}`);
      for (const shown of [
        'Refused: limit reached',
        'data-label="Refused: limit reached"><div>3</div></td>',
        'A limit was reached (429)<br>',
        'Per minute: at least 1, Per day: at least 3<',
        '>at least 3</div>',
        '<li class="quota">Refused: limit reached</li>',
        'Refused: limit reached: at least 3</title>',
        'lower bound',
      ]) {
        expect(body).toContain(shown);
      }
      expect((await admin.get(`/accounts/${id}/usage.csv?by=${by}`)).body).toMatch(/,0,3,0,0\r\n$/);
    }
  });
});

describe('every page', () => {
  it('is not cached, loads nothing from other hosts, and needs no script', async () => {
    const id = await newAccount();
    for (const { path } of pageRoutes.filter(
      ({ method, path }) => method === 'GET' && !path.endsWith('.csv'),
    )) {
      const { body, headers } = await operator.get(
        path.replace(':account', id).replace(':key', 'AAAAAAAA'),
      );
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; style-src 'self'; script-src 'self'",
      );
      expect(headers.get('strict-transport-security')).toContain('max-age=63072000');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(body).not.toMatch(/<script>|<style|\sstyle=|\son\w+=|javascript:/);
      const loaded = [...body.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g)].map(([, url]) => url);
      expect(loaded.filter((url) => !url?.startsWith('/') && !url?.startsWith('data:'))).toEqual(
        [],
      );
      expect(body).toMatch(
        /^$|<meta name="description" content="[^"]{10,}">\n<link rel="icon" href="data:image\/svg/,
      );
    }
  });

  it('loads its style sheet and its script, which browsers may cache', async () => {
    const { body } = await operator.get('/operator/plans');
    const files = [...body.matchAll(/(?:src|href)="(\/assets\/[0-9a-f]{12}\/[^"]+)"/g)].map(
      ([, url]) => url ?? '',
    );
    expect(files).toHaveLength(2);
    for (const file of files) {
      const answer = await portal.app.request(file);
      expect([answer.status, answer.headers.get('cache-control')]).toEqual([
        200,
        'public, max-age=31536000, immutable',
      ]);
    }
  });

  it('sets cookies for this host only, and changes the language without redirecting to another site', async () => {
    const answer = await portal.app.request('/language?to=en&back=//evil.example');
    expect(answer.headers.get('location')).toBe('/');
    expect(answer.headers.get('set-cookie')).toMatch(
      /^__Host-portal-language=en; .*Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    );
  });
});

describe('the other language', () => {
  it.each(['en', 'EN', 'en-GB', 'En-us'])(
    'is chosen by the tag %s, in letters of either case',
    async (tag) => {
      const { headers } = await portal.app.request(`/language?to=${tag}`);
      expect(headers.get('set-cookie')).toContain('portal-language=en;');
    },
  );

  it('shows the same page, with what was searched there', async () => {
    const { body } = await operator.get('/operator/accounts?q=caf%C3%A9+%26+co');
    const [, link = ''] = /href="(\/language[^"]+)" lang="nl"/.exec(body) ?? [];
    const answer = await portal.app.request(link.replaceAll('&amp;', '&'));
    expect(answer.headers.get('location')).toBe('/operator/accounts?q=caf%C3%A9+%26+co');
  });

  it.each([
    ['//evil.example', '/'],
    ['https://evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/x?a=1\r\nSet-Cookie: b=2', '/x?a=1%0D%0ASet-Cookie%3A+b%3D2'],
    [`/x?q=${'a'.repeat(1_000)}`, '/x'],
  ])('asked for with %j goes to %s', async (back, to) => {
    const answer = await portal.app.request(`/language?to=nl&back=${encodeURIComponent(back)}`);
    expect(answer.headers.get('location')).toBe(to);
  });
});

describe('a portal with one language', () => {
  it('is in that language, and links to no other', async () => {
    const settings = { ...portalSettings, languages: ['nl'] as const };
    const person = await createTestPortal(service, { settings }).signedIn({
      subject: 'sub:a',
      email: 'admin@own.nl',
    });
    const { body } = await person.get('/help');
    expect(body).toContain('<html lang="nl">');
    expect(body).not.toContain('href="/language');
  });
});

describe('the links of the operator', () => {
  it('are at the bottom of each page, and only those that are configured', async () => {
    const links = {
      contactEmail: 'hulp@example.nl',
      accessibility: 'https://example.nl/a11y',
      privacy: undefined,
    };
    const linked = createTestPortal(service, { settings: { ...portalSettings, links } });
    const body = await (
      await linked.app.request('/', { headers: { 'accept-language': 'en' } })
    ).text();
    expect(body).toContain('<a href="mailto:hulp@example.nl" rel="noopener">hulp@example.nl</a>');
    expect(body).toContain('<a href="https://example.nl/a11y" rel="noopener">Accessibility</a>');
    expect(body).not.toContain('Privacy');
  });
});

describe('settings without TLS', () => {
  it('are refused, except on localhost', () => {
    const withUrl = (baseUrl: string) =>
      createTestPortal(service, { settings: { ...portalSettings, baseUrl } });
    expect(() => withUrl('http://portal.example.nl')).toThrow('need TLS');
    expect(() => withUrl('http://127.0.0.1:3001')).not.toThrow();
  });
});

/** The bytes of a file as API Gateway sends them. */
async function downloaded(query: Record<string, string>): Promise<Buffer> {
  const columns = [
    { name: 'label', heading: 'Naam' },
    { name: 'lookups', heading: 'Zoekopdrachten' },
  ];
  const rows = [
    ['a,b;c "d"', 3],
    ['=1+1', null],
    ['café', 0],
  ];
  const { file, type } = csvTable({ query }, { name: 'x.csv', columns, rows });
  const app = new Hono().get('/x', (c) => c.body(file, 200, { 'Content-Type': type }));
  const { body, isBase64Encoded } = await portalHandler(app)(
    gatewayEvent('/x') as unknown as GatewayEvent,
  );
  return Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
}

describe('a CSV file', () => {
  it('has commas and stable names for programs, and starts no formula', async () => {
    const file = await downloaded({});
    expect(file.toString()).toBe(`label,lookups\r\n"a,b;c ""d""",3\r\n'=1+1,\r\ncafé,0\r\n`);
  });

  it('has semicolons, headings and the mark of UTF-8 for people, also through the gateway', async () => {
    const file = await downloaded({ for: 'people' });
    expect(file.subarray(0, 3).toString('hex')).toBe('efbbbf');
    expect(file.subarray(3).toString()).toBe(
      `Naam;Zoekopdrachten\r\n"a,b;c ""d""";3\r\n'=1+1;\r\ncafé;0\r\n`,
    );
  });
});
