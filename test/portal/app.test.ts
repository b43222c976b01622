import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createKeyUse } from '../../core/accounts/key-record.ts';
import { createRefusalCount } from '../../core/accounts/usage-record.ts';
import { pageRoutes } from '../../portal/app.ts';
import { startAddressService, testTables } from '../support/address-service.ts';
import { createTestPortal, portalSettings } from '../support/portal.ts';

let service: Awaited<ReturnType<typeof startAddressService>>;
let portal: ReturnType<typeof createTestPortal>;
let admin: Awaited<ReturnType<typeof portal.signedIn>>;
let operator: typeof admin;
let accounts = 0;

beforeAll(async () => {
  service = await startAddressService();
  portal = createTestPortal(service);
  await service.admin.plans.put({ code: 'small', limits: { minute: 10, day: 1000 } });
  await service.admin.plans.put({ code: 'large', limits: { day: 5000, month: null } });
  admin = await portal.signedIn({ subject: 'sub:a', email: 'admin@own.nl', name: 'Ann <i>Admin</i>' });
  operator = await portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true });
});
afterAll(() => service.stop());

async function newAccount(): Promise<string> {
  const id = `pages-${++accounts}`;
  await service.admin.accounts.create({ id, plan: 'small' });
  await service.admin.members.add({ account: id, person: 'admin@own.nl', role: 'admin' });
  return id;
}

const keyIn = (html: string) => /bagadres_[\w.-]+/.exec(html)?.[0] ?? '';
const field = (html: string, name: string) =>
  new RegExp(`name="${name}"(?: type="text")? value="([^"]*)"`).exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '';

describe('a key', () => {
  it('works at once, and is shown only on the response to its creation', async () => {
    const id = await newAccount();
    const form = await admin.get(`/accounts/${id}/keys`);
    const made = await admin.post(`/accounts/${id}/keys`, { label: 'webshop', once: field(form.body, 'once') });
    const key = keyIn(made.body);
    expect(made.status).toBe(200);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.body).toContain(`curl -H &#39;X-API-Key: ${key}&#39; &#39;${portalSettings.apiUrl}/v1/address`);
    expect((await service.instance.lookUp(key)).status).toBe(200);
    const [{ keyId } = { keyId: '' }] = await service.admin.keys.list(id);
    for (const path of ['', '/keys', `/keys/${keyId}/rotate`, `/keys/${keyId}/revoke`, '/changes', '/members', '/api'])
      expect(keyIn((await admin.get(`/accounts/${id}${path}`)).body)).toBe('');
    expect((await admin.get(`/accounts/${id}/keys`)).body).toContain('webshop');
  });

  it('is created once from a form that is submitted twice, also concurrently', async () => {
    const id = await newAccount();
    const once = field((await admin.get(`/accounts/${id}/keys`)).body, 'once');
    const sent = [1, 2, 3].map(() => admin.post(`/accounts/${id}/keys`, { label: 'webshop', once }));
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await service.admin.keys.list(id)).toHaveLength(1);
    expect(answers.find(({ status }) => status === 409)?.body).toContain('revoke it and create another one');
  });

  it('is replaced in one step: the new one works at once, the old one for the chosen time', async () => {
    const id = await newAccount();
    const old = await service.admin.keys.create({ account: id, label: 'webshop' });
    const path = `/accounts/${id}/keys/${old.keyId}/rotate`;
    const question = await admin.get(path);
    expect(field(question.body, 'label')).toBe('webshop 2');
    expect(question.body).toContain(old.keyId);
    const form = { label: 'webshop 2', once: field(question.body, 'once'), grace: '1' };
    const answers = await Promise.all([admin.post(path, form), admin.post(path, form)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const made = answers.find(({ status }) => status === 200)?.body ?? '';
    expect(made).toContain(`Replace webshop (${old.keyId}) everywhere. It works until`);
    expect((await service.instance.lookUp(old.key)).status).toBe(200);
    expect((await service.instance.lookUp(keyIn(made))).status).toBe(200);
    const keys = await service.admin.keys.list(id);
    const [first, second] = [
      keys.find(({ label }) => label === 'webshop'),
      keys.find(({ label }) => label === 'webshop 2'),
    ];
    const hours = (Date.parse(first?.expires ?? '') - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(0.99);
    expect(hours).toBeLessThanOrEqual(1);
    const { body } = await admin.get(`/accounts/${id}/keys`);
    expect(body).toContain(`replaced by <code>${second?.keyId}</code>`);
    expect(body).not.toContain(`${old.keyId}/rotate`);
  });

  it('that is in use is revoked only by whoever types its id', async () => {
    const id = await newAccount();
    const { key, keyId } = await service.admin.keys.create({ account: id, label: 'webshop' });
    const use = createKeyUse(service.client, testTables.accounts);
    const caller = { account: id, keyId } as Parameters<typeof use.note>[0];
    await use.note(caller, Date.now() / 1000, AbortSignal.timeout(5000));
    const path = `/accounts/${id}/keys/${keyId}/revoke`;
    const question = await admin.get(path);
    for (const shown of [keyId, 'webshop', 'Last used', 'Created by', 'This key is in use'])
      expect(question.body).toContain(shown);
    for (const confirm of ['', 'AAAAAAAA', keyId.toLowerCase() === keyId ? 'x' : keyId.toLowerCase()]) {
      const answer = await admin.post(path, { confirm });
      expect([answer.status, answer.body.includes('not the id of this key')]).toEqual([422, true]);
    }
    expect((await service.instance.lookUp(key)).status).toBe(200);
    expect((await admin.post(path, { confirm: keyId })).status).toBe(303);
    expect((await service.instance.lookUp(key)).status).toBe(401);
  });

  it('is one of a list that is searched, sorted and paged, without the revoked ones unless asked for', async () => {
    const id = await newAccount();
    const made = [];
    for (let i = 10; i < 40; i++) {
      const { keyId } = await service.admin.keys.create({ account: id, label: `label ${i}` });
      made.push(keyId);
      if (i < 32) await service.admin.keys.revoke({ account: id, keyId });
    }
    const rowsOf = async (query: string) =>
      [...(await admin.get(`/accounts/${id}/keys${query}`)).body.matchAll(/data-label="Label"><div>([^<]*)</g)].map(
        ([, label]) => label,
      );
    expect(await rowsOf('')).toHaveLength(8);
    expect(await rowsOf('?all=yes')).toHaveLength(20);
    expect(await rowsOf('?all=yes&page=2')).toHaveLength(10);
    expect(await rowsOf('?all=yes&page=99')).toHaveLength(10);
    expect((await rowsOf('?all=yes&sort=label'))[0]).toBe('label 10');
    expect((await rowsOf('?all=yes&sort=label&order=down'))[0]).toBe('label 39');
    expect(await rowsOf('?all=yes&q=LABEL+11')).toEqual(['label 11']);
    expect(await rowsOf(`?all=yes&q=${made[5]}`)).toEqual(['label 15']);
    expect(await rowsOf('?q=nothing')).toEqual([]);
  }, 30_000);

  it('has links to what can still be done with it: both while it works, and none once it is revoked', async () => {
    const id = await newAccount();
    const [one, other] = [
      await service.admin.keys.create({ account: id, label: 'one' }),
      await service.admin.keys.create({ account: id, label: 'other' }),
    ];
    await service.admin.keys.revoke({ account: id, keyId: other.keyId });
    const { body } = await admin.get(`/accounts/${id}/keys`);
    for (const what of ['rotate', 'revoke']) {
      expect(body).toContain(`/accounts/${id}/keys/${one.keyId}/${what}`);
      expect(body).not.toContain(`/accounts/${id}/keys/${other.keyId}/${what}`);
    }
  });

  it('is revoked once by two people at the same time, and both see that', async () => {
    const id = await newAccount();
    const { keyId } = await service.admin.keys.create({ account: id, label: 'webshop' });
    const path = `/accounts/${id}/keys/${keyId}/revoke`;
    const answers = await Promise.all([admin.post(path), operator.post(path)]);
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect((await admin.get(path)).body).toContain('already revoked');
  });

  it.each([
    ['a label that is too long', { label: 'x'.repeat(65) }, 'A label has 1 to 64 characters'],
    ['no label', {}, 'A label has 1 to 64 characters'],
    ['a day that has passed', { label: 'x', expires: '2020-01-01' }, 'Choose a day after today'],
    ['something other than a day', { label: 'x', expires: 'tomorrow' }, 'Choose a day after today'],
  ])(
    'is refused with %s, and the form says what to do and keeps what was typed',
    async (_, form: { label?: string; expires?: string }, sentence) => {
      const id = await newAccount();
      const answer = await admin.post(`/accounts/${id}/keys`, { once: 'x'.repeat(20), ...form } as Record<
        string,
        string
      >);
      expect(answer.status).toBe(422);
      expect(answer.body).toContain(sentence);
      expect(answer.body).toContain('aria-invalid="true"');
      // What was typed is still there.
      for (const typed of [form.label, form.expires].filter((value) => value !== undefined))
        expect(answer.body).toContain(`value="${typed}"`);
      expect(await service.admin.keys.list(id)).toEqual([]);
    },
  );

  it('has a label that every page shows as plain text', async () => {
    const id = await newAccount();
    const label = '"><script>alert(1)</script>';
    const { keyId } = await service.admin.keys.create({ account: id, label });
    for (const path of ['', `/${keyId}/rotate`, `/${keyId}/revoke`]) {
      const { body } = await admin.get(`/accounts/${id}/keys${path}`);
      expect(body).toContain('&lt;script&gt;alert(1)');
      expect(body).not.toContain('<script>');
      expect(body).not.toContain('<i>Admin</i>');
      expect(body).not.toContain('Example <b>');
    }
  });
});

describe('a form', () => {
  it.each([
    ['of another site', {}, { origin: 'https://evil.example' }],
    ['without an origin', {}, { origin: '' }],
    ['without its token', { token: '' }, {}],
    ['with the token of another session', { token: 'x'.repeat(43) }, {}],
    ['of another type', {}, { 'content-type': 'text/plain' }],
    ['that is too large', { label: 'x'.repeat(20_000) }, {}],
  ])('%s changes nothing', async (_, fields, headers) => {
    const id = await newAccount();
    const form = { label: 'x', once: 'x'.repeat(20), ...fields } as Record<string, string>;
    const answer = await admin.post(`/accounts/${id}/keys`, form, headers as Record<string, string>);
    expect(answer.status).toBe(400);
    expect(answer.body).toContain('Open the page again');
    expect(await service.admin.keys.list(id)).toEqual([]);
  });

  it('from another site does not sign the visitor out', async () => {
    const person = await portal.signedIn({ subject: 'sub:s', operator: true });
    expect((await person.post('/sign-out', {}, { origin: 'https://evil.example' })).status).toBe(400);
    expect((await person.get('/operator/plans')).body).toContain('large');
    expect((await person.post('/sign-out')).status).toBe(200);
    expect((await person.get('/operator/plans')).body).not.toContain('large');
  });
});

describe('an account', () => {
  it('shows its limits, remaining quota and usage', async () => {
    const id = await newAccount();
    const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
    await service.instance.lookUp(key);
    const { body } = await admin.get(`/accounts/${id}`);
    expect(body).toContain('1 of 1,000 used');
    expect(body).toContain('>999<');
    expect(body).not.toContain('% used');
    expect(
      (await portal.signedIn({ subject: 'sub:a', email: 'admin@own.nl' }, 'nl').then((p) => p.get(`/accounts/${id}`)))
        .body,
    ).toContain('1 van 1.000 gebruikt');
  });

  it.each([
    [7, 'small', undefined],
    [8, 'small', '80% used'],
    [9, 'small', '90% used'],
    [10, 'small', 'Limit reached'],
  ])('says at %d of 10 lookups how close the limit is', async (count, _, words) => {
    const id = await newAccount();
    const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
    for (let i = 0; i < count; i++) await service.instance.lookUp(key);
    const { body } = await admin.get(`/accounts/${id}`);
    // Of a window that has just begun there is nothing to say.
    if (!body.includes(`${count} of 10 used`)) return;
    expect(body.includes(words ?? 'No words')).toBe(words !== undefined);
    expect(/class="tag (warn|bad)"/.test(body)).toBe(words !== undefined);
  });

  it("gets another plan and own limits from an operator, who can't overwrite another person's change", async () => {
    const id = await newAccount();
    const form = (html: string) => ({
      seen: field(html, 'seen'),
      plan: 'large',
      'limit-day': '7',
      'limit-month': 'unlimited',
    });
    const page = await operator.get(`/accounts/${id}/manage`);
    await service.admin.accounts.set({ id, limits: { day: 3 } });
    const late = await operator.post(`/accounts/${id}/manage`, form(page.body));
    expect([late.status, (await service.admin.accounts.show(id)).plan]).toEqual([409, 'small']);
    expect(late.body).toContain('Someone else has changed this');
    const fresh = await operator.get(`/accounts/${id}/manage`);
    expect((await operator.post(`/accounts/${id}/manage`, form(fresh.body))).status).toBe(303);
    expect(await service.admin.accounts.show(id)).toMatchObject({ plan: 'large', ownLimits: { day: 7, month: null } });
    const again = await operator.get(`/accounts/${id}/manage`);
    await operator.post(`/accounts/${id}/manage`, { seen: field(again.body, 'seen'), plan: 'large' });
    expect((await service.admin.accounts.show(id)).ownLimits).toEqual({});
  });

  it.each(['-1', '1.5', 'many', '1e3', '1.00', '1.000,000', '1000.000'])('refuses a limit of %s', async (limit) => {
    const id = await newAccount();
    const { body } = await operator.get(`/accounts/${id}/manage`);
    const answer = await operator.post(`/accounts/${id}/manage`, {
      seen: field(body, 'seen'),
      plan: 'small',
      'limit-day': limit,
    });
    expect(answer.status).toBe(422);
    expect(answer.body).toContain('A limit is a whole number');
    expect(answer.body).toMatch(new RegExp(`name="limit-day" value="${limit}"[^>]*aria-invalid`));
  });

  it.each([
    ['1.000', 1000],
    ['1,000,000', 1_000_000],
    ['12 500', 12_500],
    ['1.234.567', 1_234_567],
  ])('takes a limit with thousands as they are written: %s', async (limit, day) => {
    const id = await newAccount();
    const { body } = await operator.get(`/accounts/${id}/manage`);
    const form = { seen: field(body, 'seen'), plan: 'small', 'limit-day': limit };
    expect((await operator.post(`/accounts/${id}/manage`, form)).status).toBe(303);
    expect((await service.admin.accounts.show(id)).ownLimits).toEqual({ day });
  });

  it('is created once, and is found by a part of its id', async () => {
    const form = { id: 'zebra', plan: 'small' };
    expect((await operator.post('/operator/accounts', form)).location).toBe('/accounts/zebra?done=account');
    expect((await operator.post('/operator/accounts', form)).body).toContain('Choose another id');
    const found = await operator.get('/operator/accounts?q=zeb');
    expect(found.body).toContain('href="/accounts/zebra"');
    expect(found.body).not.toContain('pages-1');
    expect((await operator.get('/operator/accounts?q=%23')).body).toContain('No account contains this');
  });

  it('has members whom an administrator adds and removes, except themselves', async () => {
    const id = await newAccount();
    const person = 'New+One@own.nl';
    expect((await admin.post(`/accounts/${id}/members`, { person, role: 'viewer' })).status).toBe(303);
    const added = await portal.signedIn({ subject: 'sub:new', email: 'new+one@own.nl' });
    expect((await added.get(`/accounts/${id}`)).status).toBe(200);
    expect((await added.get('/')).location).toBe(`/accounts/${id}`);
    const question = await admin.get(`/accounts/${id}/members/remove?person=${encodeURIComponent('new+one@own.nl')}`);
    expect(field(question.body, 'person')).toBe('new+one@own.nl');
    await admin.post(`/accounts/${id}/members/remove`, { person: 'new+one@own.nl' });
    expect((await added.get(`/accounts/${id}`)).status).toBe(404);
    expect((await admin.post(`/accounts/${id}/members/remove`, { person: 'Admin@own.nl' })).status).toBe(403);
    expect((await admin.post(`/accounts/${id}/members`, { person: 'admin@own.nl', role: 'viewer' })).status).toBe(403);
    expect((await admin.post(`/accounts/${id}/members`, { person: 'nobody' })).body).toContain(
      'complete e-mail address',
    );
  });

  it('keeps its last administrator, and says so', async () => {
    const id = await newAccount();
    const answer = await operator.post(`/accounts/${id}/members/remove`, { person: 'admin@own.nl' });
    expect([answer.status, answer.body.includes('the last administrator')]).toEqual([422, true]);
    expect(await service.admin.members.list(id)).toHaveLength(1);
  });
});

describe('the history of an account', () => {
  it('names keys, and tells a customer no login of the operator', async () => {
    const id = await newAccount();
    const shell = portal.adminAs('root@build-7');
    await portal.adminAs('arn:aws:sts::1:assumed-role/Operator/ann').accounts.suspend(id);
    await shell.accounts.set({ id, plan: 'large', limits: { day: 2500 } });
    const { keyId } = await portal.adminAs('admin@own.nl').keys.create({ account: id, label: 'webshop' });
    await portal.adminAs('olaf@operator.nl (operator)').keys.rotate({ account: id, keyId });
    const own = await admin.get(`/accounts/${id}/changes`);
    for (const shown of [
      'your supplier',
      'admin@own.nl',
      'webshop',
      'webshop 2',
      'replaces',
      'Plan large',
      'Per day: 2,500',
    ])
      expect(own.body).toContain(shown);
    for (const hidden of ['root@build-7', 'arn:aws', 'olaf@', 'keyId', 'unknown'])
      expect(own.body).not.toContain(hidden);
    expect((await operator.get(`/accounts/${id}/changes`)).body).toContain('root@build-7');
  });
});

describe('sessions', () => {
  it('are shown to their owner, who can end all of them', async () => {
    const [here, there] = [
      await portal.signedIn({ subject: 'sub:two', email: 'two@own.nl' }),
      await portal.signedIn({ subject: 'sub:two', email: 'two@own.nl' }),
    ];
    const { body } = await here.get('/sessions');
    expect(body.match(/Chrome, Linux/g)).toHaveLength(2);
    expect(body.match(/\(this one\)/g)).toHaveLength(1);
    expect(body).not.toContain(there.id);
    await here.post('/sessions');
    for (const one of [here, there]) expect((await one.get('/sessions')).body).toContain('Welcome');
  });

  it('of a person or an account are found and ended by an operator, and the end is on record', async () => {
    const id = await newAccount();
    const person = await portal.signedIn({ subject: 'sub:ended', email: 'ended@own.nl' });
    await service.admin.members.add({ account: id, person: 'ended@own.nl', role: 'viewer' });
    for (const who of ['ended@own.nl', 'sub:ended', id])
      expect((await operator.get(`/operator/sessions?who=${who}`)).body).toContain('ended@own.nl');
    expect((await operator.get('/operator/sessions?who=nobody')).status).toBe(422);
    const question = await operator.get('/operator/sessions/end?who=ended@own.nl');
    expect(field(question.body, 'who')).toBe('ended@own.nl');
    expect((await operator.post('/operator/sessions')).status).toBe(422);
    expect((await operator.post('/operator/sessions', { who: 'ended@own.nl' })).location).toContain(
      'done=sessionsEnded',
    );
    expect((await person.get(`/accounts/${id}`)).body).toContain('Welcome');
    expect((await operator.get('/operator/sessions')).body).toContain('sessions ended');
    expect((await person.get('/operator/sessions')).body).not.toContain('sessions ended');
  });
});

describe('usage', () => {
  it('equals what was charged, on the page and in the files', async () => {
    const id = await newAccount();
    const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
    for (let i = 0; i < 3; i++) await service.instance.lookUp(key);
    const today = new Date().toISOString().slice(0, 10);
    const page = await admin.get(`/accounts/${id}/usage`);
    expect(page.body).toContain('Total: <strong>3</strong>');
    expect(page.body.match(/<rect/g)).toHaveLength(30);
    expect(page.body).toMatch(/aria-label="\d+ \w+ 20\d\d: 3"/);
    expect(page.body).toContain('Limit per day: 1,000');
    const days = await admin.get(`/accounts/${id}/usage.csv?by=day`);
    expect(days.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(days.body.split('\r\n').slice(0, 1)).toEqual(['date,lookups']);
    expect(days.body).toContain(`${today},3\r\n`);
    const months = await admin.get(`/accounts/${id}/usage.csv?by=month`);
    expect(months.body).toMatch(new RegExp(`${today.slice(0, 7)},3\r\n$`));
    expect(months.body.trim().split('\r\n')).toHaveLength(13);
    const range = await admin.get(`/accounts/${id}/usage?from=2026-01-01&to=${today}`);
    expect(range.status).toBe(200);
    expect(range.body).toContain(`usage.csv?by=day&amp;from=2026-01-01&amp;to=${today}`);
    for (const wrong of ['from=x', `from=${today}&to=2026-01-01`, 'from=2026-13-01', 'from=2016-01-01']) {
      const answer = await admin.get(`/accounts/${id}/usage?${wrong}`);
      expect([wrong, answer.status, answer.body.includes('Enter two days')]).toEqual([wrong, 422, true]);
    }
    expect((await operator.get('/operator/usage.csv')).body).toContain(`${id},${today},3\r\n`);
  });
});

describe('an operator', () => {
  it.each([
    ['the list', { subject: 'sub:l', email: 'lijst@operator.nl' }],
    ['the claim', { subject: 'sub:c', operator: true }],
  ])('by %s loses that role in an open session when the configuration changes', async (_, identity) => {
    const person = await portal.signedIn(identity);
    expect((await person.get('/operator/accounts')).status).toBe(200);
    const { operatorClaim: _claim, ...signIn } = portalSettings.signIn;
    const configured = { ...portalSettings, signIn: { ...signIn, operators: [] } };
    const redeployed = createTestPortal(service, { settings: configured });
    const { status } = await redeployed.app.request('/operator/accounts', { headers: { cookie: person.cookie } });
    expect(status).toBe(404);
  });
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
    const hanging = createTestPortal(service, { adminAs, deadlineMilliseconds: { page: 50, form: 60 } });
    const person = await hanging.signedIn({ subject: 'sub:o', email: 'lijst@operator.nl' });
    for (const answer of [
      await person.get('/operator/accounts'),
      await person.post('/operator/accounts', { id: 'x' }),
    ]) {
      expect([answer.status, answer.body.includes('check before you repeat it')]).toEqual([503, true]);
      expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
    }
    expect(hanging.logged).toHaveLength(2);
  });

  it('has a rate for visitors who are not signed in, one for sign-ins, and one for each session', async () => {
    let now = Date.now();
    const rates = {
      anonymous: { perSecond: 1, burst: 3 },
      signIn: { perSecond: 1, burst: 1 },
      session: { perSecond: 2, burst: 4 },
    };
    const limited = createTestPortal(service, { rates, now: () => now });
    const [one, other] = [
      await limited.signedIn({ subject: 'sub:one' }),
      await limited.signedIn({ subject: 'sub:other' }),
    ];
    const statuses = async (count: number, get: () => Promise<{ status: number }>) => {
      const all = [];
      for (let i = 0; i < count; i++) all.push((await get()).status);
      return all;
    };
    const anonymous = () => limited.app.request('/operator/accounts');
    expect(await statuses(5, async () => anonymous())).toEqual([200, 200, 200, 429, 429]);
    expect((await anonymous()).headers.get('retry-after')).toBe('1');
    expect(await statuses(6, () => one.get('/sessions'))).toEqual([200, 200, 200, 200, 429, 429]);
    expect(await statuses(1, () => other.get('/sessions'))).toEqual([200]);
    expect((await limited.app.request('/sign-in')).status).toBe(503);
    expect((await limited.app.request('/sign-in')).status).toBe(429);
    const [, style = ''] = /href="([^"]*portal.css)"/.exec((await other.get('/sessions')).body) ?? [];
    expect(await statuses(9, async () => limited.app.request(style))).toEqual(Array(9).fill(200));
    now += 1000;
    expect(await statuses(3, () => one.get('/sessions'))).toEqual([200, 200, 429]);
    expect((await one.post('/sessions', {}, { origin: 'https://evil.example' })).status).toBe(429);
  });
});

describe('refusals', () => {
  it('are shown with the usage by day and month, marked as not exact, and are not in the CSV files', async () => {
    const id = await newAccount();
    expect((await admin.get(`/accounts/${id}/usage`)).body).not.toContain('Refused');
    const refusals = createRefusalCount(service.client, testTables.accounts);
    const now = Date.now() / 1000;
    for (let i = 0; i < 3; i++) refusals.note(id, 'quota-exceeded', now);
    refusals.flush(now);
    // The write is under way; nobody waits for it.
    while ((await service.admin.accounts.usage(id)).refusals.length === 0);
    for (const by of ['day', 'month']) {
      const { body } = await admin.get(`/accounts/${id}/usage?by=${by}`);
      for (const shown of [
        'Refused: over a limit',
        'data-label="Refused: over a limit"><div>3</div></td>',
        'not exact',
      ])
        expect(body).toContain(shown);
      expect((await admin.get(`/accounts/${id}/usage.csv?by=${by}`)).body).not.toContain(',3');
    }
  });
});

describe('every page', () => {
  it('is not cached, loads nothing from other hosts, and needs no script', async () => {
    const id = await newAccount();
    for (const { path } of pageRoutes.filter(({ method, path }) => method === 'GET' && !path.endsWith('.csv'))) {
      const { body, headers } = await operator.get(path.replace(':account', id).replace(':key', 'AAAAAAAA'));
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('content-security-policy')).toContain(
        "default-src 'none'; style-src 'self'; script-src 'self'",
      );
      expect(headers.get('strict-transport-security')).toContain('max-age=63072000');
      expect(headers.get('x-frame-options')).toBe('DENY');
      expect(body).not.toMatch(/<script>|<style|\sstyle=|\son\w+=|javascript:/);
      const loaded = [...body.matchAll(/(?:src|<link[^>]*href)="([^"]*)"/g)].map(([, url]) => url);
      expect(loaded.filter((url) => !url?.startsWith('/') && !url?.startsWith('data:'))).toEqual([]);
    }
  });

  it('loads its style sheet and its script, which browsers may cache', async () => {
    const { body } = await operator.get('/operator/plans');
    const files = [...body.matchAll(/(?:src|href)="(\/assets\/[0-9a-f]{12}\/[^"]+)"/g)].map(([, url]) => url ?? '');
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

describe('the links of the operator', () => {
  it('are at the bottom of each page, and only those that are configured', async () => {
    const links = { contactEmail: 'hulp@example.nl', accessibility: 'https://example.nl/a11y', privacy: undefined };
    const linked = createTestPortal(service, { settings: { ...portalSettings, links } });
    const body = await (await linked.app.request('/', { headers: { 'accept-language': 'en' } })).text();
    expect(body).toContain('<a href="mailto:hulp@example.nl" rel="noopener">hulp@example.nl</a>');
    expect(body).toContain('<a href="https://example.nl/a11y" rel="noopener">Accessibility</a>');
    expect(body).not.toContain('Privacy');
  });
});

describe('settings without TLS', () => {
  it('are refused, except on localhost', () => {
    const withUrl = (baseUrl: string) => createTestPortal(service, { settings: { ...portalSettings, baseUrl } });
    expect(() => withUrl('http://portal.example.nl')).toThrow('need TLS');
    expect(() => withUrl('http://127.0.0.1:3001')).not.toThrow();
  });
});
