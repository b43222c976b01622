import { afterAll, describe, expect, it } from '@jest/globals';
import { escaped, lookupRequest, programSources } from '../../../packages/ui/samples.ts';
import { chargeAt } from '../../support/charge-at.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { portalSettings } from '../../support/portal.ts';
import { fieldIn, startPortalPages } from '../../support/portal-pages.ts';
import { sweep } from '../../support/sweep.ts';

const { service, portal, admin, operator, newAccount } = await startPortalPages();
afterAll(() => service.stop());

/** Sends a change of plan and limits, and says yes to what it would do. */
const change = (id: string, form: Record<string, string>) =>
  operator.post(`/accounts/${id}/manage`, { ...form, confirmed: 'yes' });

describe('an account', () => {
  it('shows its limits, remaining quota and usage', async () => {
    const id = await newAccount();
    const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
    await service.instance.lookUp(key);
    const { body } = await admin.get(`/accounts/${id}`);
    expect(body).toContain('1 of 1,000 used');
    expect(body).toContain('999 left; begins again on <time');
    expect(body).not.toContain('% used');
    expect(
      (
        await portal
          .signedIn({ subject: 'sub:a', email: 'admin@own.nl' }, 'nl')
          .then((p) => p.get(`/accounts/${id}`))
      ).body,
    ).toContain('1 van 1.000 gebruikt');
  });

  const levels: [number, string, string | undefined][] = [
    [7, 'small', undefined],
    [8, 'small', '80% used'],
    [9, 'small', '90% used'],
    [10, 'small', 'Limit reached'],
  ];
  it.each(sweep(levels, 2))(
    'says at %d of 10 lookups how close the limit is',
    async (count, _, words) => {
      const id = await newAccount();
      const { key } = await service.admin.keys.create({ account: id, label: 'webshop' });
      for (let i = 0; i < count; i++) await service.instance.lookUp(key);
      const { body } = await admin.get(`/accounts/${id}`);
      // Of a window that has just begun there is nothing to say.
      if (!body.includes(`${count} of 10 used`)) return;
      expect(body.includes(words ?? 'No words')).toBe(words !== undefined);
      expect(/class="tag (warn|bad)"/.test(body)).toBe(words !== undefined);
    },
  );

  it("gets another plan and own limits from an operator, who can't overwrite another person's change", async () => {
    const id = await newAccount();
    const form = (html: string) => ({
      seen: fieldIn(html, 'seen'),
      plan: 'large',
      'limit-day': '7',
      'limit-month': 'unlimited',
    });
    const page = await operator.get(`/accounts/${id}/manage`);
    await service.admin.accounts.set({ id, limits: { day: 3 } });
    const late = await operator.post(`/accounts/${id}/manage`, form(page.body));
    expect([late.status, (await service.admin.accounts.show(id)).plan]).toEqual([409, 'small']);
    for (const shown of [
      'Someone else has changed this',
      'Now: 3',
      'value="7"',
      'Show the current values',
    ]) {
      expect(late.body).toContain(shown);
    }
    expect(fieldIn(late.body, 'seen')).toContain('"day":3');
    const fresh = await operator.get(`/accounts/${id}/manage`);
    expect((await change(id, form(fresh.body))).location).toBe(`/accounts/${id}?done=terms`);
    expect(await service.admin.accounts.show(id)).toMatchObject({
      plan: 'large',
      ownLimits: { day: 7, month: null },
    });
    const again = await operator.get(`/accounts/${id}/manage`);
    await change(id, { seen: fieldIn(again.body, 'seen'), plan: 'large' });
    expect((await service.admin.accounts.show(id)).ownLimits).toEqual({});
  });

  it('says what each limit of the plan is, what a change makes of what is used, and then what it made', async () => {
    const id = await newAccount();
    await chargeAt(service, id, Date.now() / 1000, 3);
    const { body } = await operator.get(`/accounts/${id}/manage`);
    for (const shown of ['Plan: 1,000; used: 3', 'Plan: not limited']) {
      expect(body).toContain(shown);
    }
    const form = { seen: fieldIn(body, 'seen'), plan: 'small', 'limit-day': '2000' };
    const question = await operator.post(`/accounts/${id}/manage`, form);
    expect(question.body).toContain('<dt>Per day</dt><dd>3 of 1,000 becomes 3 of 2,000</dd>');
    expect((await service.admin.accounts.show(id)).ownLimits).toEqual({});
    const { location } = await change(id, form);
    expect((await operator.get(location ?? '')).body).toContain(
      'The change is saved. Per day: 1,000 becomes 2,000<',
    );
    const low = await operator.get(`/accounts/${id}/manage`);
    const refusing = { seen: fieldIn(low.body, 'seen'), plan: 'large', 'limit-day': '3' };
    const warned = (await operator.post(`/accounts/${id}/manage`, refusing)).body;
    for (const shown of [
      'has reached a new limit',
      'small becomes large',
      '3 of 2,000 becomes 3 of 3',
      'button danger',
    ]) {
      expect(warned).toContain(shown);
    }
  });

  it('has its name, id, state and plan on each page, and what is at stake where it is suspended', async () => {
    const id = await newAccount();
    await service.admin.accounts.set({ id, name: 'Acme <b>', limits: { day: 5 } });
    await chargeAt(service, id, Date.now() / 1000, 4, 'webshop');
    for (const path of ['', '/keys', '/usage', '/members', '/changes', '/manage', '/suspend']) {
      const { body } = await operator.get(`/accounts/${id}${path}`);
      for (const shown of [
        '<p class="name">Acme &lt;b&gt;</p>',
        `>${id}</code>`,
        '<span>Plan small</span>',
      ]) {
        expect([path, body.includes(shown)]).toEqual([path, true]);
      }
    }
    const { body } = await operator.get(`/accounts/${id}/suspend`);
    for (const fact of [
      '<dd>1: webshop</dd>',
      '<dt>Lookups today</dt><dd>4</dd>',
      '<span>Plan small</span>',
    ]) {
      expect(body).toContain(fact);
    }
  });

  it.each(['-1', '1.5', 'many', '1e3', '1.00', '1.000,000', '1000.000'])(
    'refuses a limit of %s',
    async (limit) => {
      const id = await newAccount();
      const { body } = await operator.get(`/accounts/${id}/manage`);
      const answer = await operator.post(`/accounts/${id}/manage`, {
        seen: fieldIn(body, 'seen'),
        plan: 'small',
        'limit-day': limit,
      });
      expect(answer.status).toBe(422);
      expect(answer.body).toContain('A limit is a whole number');
      expect(answer.body).toMatch(
        new RegExp(`name="limit-day" type="text" value="${limit}"[^>]*aria-invalid`),
      );
    },
  );

  it.each([
    ['1.000', 1000],
    ['1,000,000', 1_000_000],
    ['12 500', 12_500],
    ['1.234.567', 1_234_567],
  ])('takes a limit with thousands as they are written: %s', async (limit, day) => {
    const id = await newAccount();
    const { body } = await operator.get(`/accounts/${id}/manage`);
    const form = { seen: fieldIn(body, 'seen'), plan: 'small', 'limit-day': limit };
    expect((await change(id, form)).status).toBe(303);
    expect((await service.admin.accounts.show(id)).ownLimits).toEqual({ day });
  });

  it('has members whom an administrator adds and removes, except themselves', async () => {
    const id = await newAccount();
    const person = 'New+One@own.nl';
    expect((await admin.post(`/accounts/${id}/members`, { person, role: 'viewer' })).status).toBe(
      303,
    );
    const added = await portal.signedIn({ subject: 'sub:new', email: 'new+one@own.nl' });
    expect((await added.get(`/accounts/${id}`)).status).toBe(200);
    expect((await added.get('/')).location).toBe(`/accounts/${id}`);
    const one = await admin.get(
      `/accounts/${id}/members/member?person=${encodeURIComponent('new+one@own.nl')}`,
    );
    expect(fieldIn(one.body, 'person')).toBe('new+one@own.nl');
    expect(one.body).toContain('<dd>viewer: read access</dd>');
    await admin.post(`/accounts/${id}/members/remove`, { person: 'new+one@own.nl' });
    expect((await added.get(`/accounts/${id}`)).status).toBe(404);
    expect(
      (await admin.post(`/accounts/${id}/members/remove`, { person: 'Admin@own.nl' })).status,
    ).toBe(403);
    expect(
      (await admin.post(`/accounts/${id}/members`, { person: 'admin@own.nl', role: 'viewer' }))
        .status,
    ).toBe(403);
    expect((await admin.post(`/accounts/${id}/members`, { person: 'nobody' })).body).toContain(
      'complete e-mail address',
    );
  });

  it('has members whose role an administrator changes on their page, but not their own', async () => {
    const id = await newAccount();
    await service.admin.members.add({ account: id, person: 'jo@own.nl', role: 'viewer' });
    const { body } = await admin.get(`/accounts/${id}/members`);
    expect(body).toContain(`<title>Members - ${id} - Example`);
    const at = `/accounts/${id}/members/member?person=`;
    expect([...body.matchAll(/href="([^"]+)" aria-label="Change: /g)].map(([, to]) => to)).toEqual([
      `${at}jo%40own.nl`,
    ]);
    expect((await admin.get(`${at}admin%40own.nl`)).status).toBe(403);
    const page = (await admin.get(`${at}jo%40own.nl`)).body;
    expect(page).toMatch(/<option value="viewer" selected>/);
    const form = { person: fieldIn(page, 'person'), role: 'finance' };
    expect((await admin.post(`/accounts/${id}/members`, form)).location).toBe(
      `/accounts/${id}/members?done=member`,
    );
    // Nothing is guessed from a role that does not exist.
    expect((await admin.post(`/accounts/${id}/members`, { ...form, role: 'owner' })).status).toBe(
      422,
    );
    expect(await service.admin.members.roleIn(id, ['jo@own.nl'])).toBe('finance');
  });

  it('shows finance its usage and statements, and nothing else', async () => {
    const id = await newAccount();
    const { keyId } = await service.admin.keys.create({ account: id, label: 'webshop' });
    await service.admin.members.add({ account: id, person: 'fin@own.nl', role: 'finance' });
    const finance = await portal.signedIn({ subject: 'sub:fin', email: 'fin@own.nl' });
    const home = `/accounts/${id}/usage`;
    expect((await finance.get('/')).location).toBe(home);
    const tabs = [...(await finance.get(home)).body.matchAll(/<li><a href="([^"]+)"/g)].map(
      ([, href]) => href,
    );
    expect(tabs).toEqual([home, `/accounts/${id}/statements`]);
    for (const path of ['', '/keys', `/keys/${keyId}`, '/members', '/changes', '/api']) {
      expect([path, (await finance.get(`/accounts/${id}${path}`)).status]).toEqual([path, 403]);
    }
    expect((await finance.post('/keys', { key: keyId })).status).toBe(422);
  });

  it.each(['finance', 'viewer', 'admin'] as const)(
    'is left by a member with the role %s, by each identity',
    async (role) => {
      const id = await newAccount();
      const people = ['sub:leaver', 'leaver@own.nl'];
      for (const person of people) await service.admin.members.add({ account: id, person, role });
      const leaver = await portal.signedIn({ subject: 'sub:leaver', email: 'leaver@own.nl' });
      expect((await leaver.get('/sessions')).body).toContain(`href="/accounts/${id}/leave"`);
      expect((await leaver.get(`/accounts/${id}/leave`)).body).toContain(`Leave account ${id}?`);
      expect((await leaver.post(`/accounts/${id}/leave`)).location).toBe('/sessions?done=left');
      expect((await service.admin.members.list(id)).map(({ person }) => person)).toEqual([
        'admin@own.nl',
      ]);
      expect((await admin.post(`/accounts/${id}/leave`)).body).toContain('the last administrator');
    },
  );

  it.each([
    ['an account', 'nothing', 'There is no account nothing that you may see'],
    ['a key', 'ID/keys/AAAAAAAA', 'has no key AAAAAAAA'],
    ['a member', 'ID/members/member?person=no@one.nl', 'no@one.nl is not a member of account'],
    ['a plan', '../operator/plans/nothing', 'There is no plan nothing'],
  ])('says that %s does not exist', async (_, path, sentence) => {
    const id = await newAccount();
    const url = new URL(`/accounts/${path.replace('ID', id)}`, 'https://x');
    const answer = await operator.get(url.pathname + url.search);
    expect([answer.status, answer.body.includes(`<h1>`), answer.body.includes(sentence)]).toEqual([
      404,
      true,
      true,
    ]);
  });

  it('keeps its last administrator, and says so', async () => {
    const id = await newAccount();
    const answer = await operator.post(`/accounts/${id}/members/remove`, {
      person: 'admin@own.nl',
    });
    expect([answer.status, answer.body.includes('the last administrator')]).toEqual([422, true]);
    expect(await service.admin.members.list(id)).toHaveLength(1);
  });
});

describe('the history of an account', () => {
  inSweep('has pages, each with the changes after those of the page before', async () => {
    const id = await newAccount();
    for (let i = 0; i < 60; i++) await service.admin.accounts.set({ id, name: `Name ${i}` });
    const first = (await admin.get(`/accounts/${id}/changes`)).body;
    expect(first).toContain('Name 59');
    const [, next = ''] = /href="([^"]+\?after=[^"]+)"/.exec(first) ?? [];
    const second = await admin.get(next.replaceAll('&amp;', '&'));
    expect(second.body).toContain('member added');
    expect([first, second.body].map((html) => html.includes('→ Name 5<'))).toEqual([false, true]);
    expect(second.body).toContain(`href="/accounts/${id}/changes"`);
    expect((await admin.get(`/accounts/${id}/changes?after=nonsense`)).status).toBe(422);
  });

  it('names keys, and tells a customer no login of the operator', async () => {
    const id = await newAccount();
    const shell = portal.adminAs('root@build-7');
    await portal.adminAs('arn:aws:sts::1:assumed-role/Operator/ann').accounts.suspend(id);
    await shell.accounts.set({ id, plan: 'large', limits: { day: 2500 } });
    const { keyId } = await portal
      .adminAs('admin@own.nl')
      .keys.create({ account: id, label: 'webshop' });
    await portal.adminAs('olaf@operator.nl (operator)').keys.rotate({ account: id, keyId });
    const own = await admin.get(`/accounts/${id}/changes`);
    for (const shown of [
      'your supplier',
      'admin@own.nl',
      'webshop',
      'webshop 2',
      'replaces',
      'Plan large',
      '2,500 per day',
    ]) {
      expect(own.body).toContain(shown);
    }
    for (const hidden of ['root@build-7', 'arn:aws', 'olaf@', 'keyId', 'unknown']) {
      expect(own.body).not.toContain(hidden);
    }
    expect((await operator.get(`/accounts/${id}/changes`)).body).toContain('root@build-7');
  });
});

describe('sessions', () => {
  it('are shown to their owner, who ends one or all of them, and no one else does', async () => {
    const owner = { subject: 'sub:two', email: 'two@own.nl' };
    const here = await portal.signedIn(owner);
    const there = await portal.signedIn(owner);
    const stranger = await portal.signedIn({ subject: 'sub:stranger' });
    const left = async () =>
      (
        await Promise.all([here, there, stranger].map(({ id }) => service.admin.sessions.find(id)))
      ).map(Boolean);
    const { body } = await here.get('/sessions');
    expect(body.match(/Chrome, Linux/g)).toHaveLength(2);
    expect(body.match(/\(this one\)/g)).toHaveLength(1);
    expect(body).not.toContain(there.id);
    const [, one = ''] = /name="one" value="([0-9a-f]+)"/.exec(body) ?? [];
    expect((await stranger.post('/sessions', { one })).location).toBe(
      '/sessions?done=sessionEnded',
    );
    expect(await left()).toEqual([true, true, true]);
    expect((await here.post('/sessions', { one })).location).toBe('/sessions?done=sessionEnded');
    expect(await left()).toEqual([true, false, true]);
    const again = await portal.signedIn(owner);
    await here.post('/sessions');
    for (const ended of [here, again]) {
      expect((await ended.get('/sessions')).body).toContain('Welcome');
    }
    expect(await left()).toEqual([false, false, true]);
  });

  it('of a person or an account are found and ended by an operator, and the end is on record', async () => {
    const id = await newAccount();
    const person = await portal.signedIn({ subject: 'sub:ended', email: 'ended@own.nl' });
    await service.admin.members.add({ account: id, person: 'ended@own.nl', role: 'viewer' });
    for (const who of ['ended@own.nl', 'sub:ended', id]) {
      expect((await operator.get(`/operator/sessions?who=${who}`)).body).toContain('ended@own.nl');
    }
    expect((await operator.get('/operator/sessions?who=nobody')).status).toBe(422);
    const question = await operator.get('/operator/sessions/end?who=ended@own.nl');
    expect(fieldIn(question.body, 'who')).toBe('ended@own.nl');
    expect((await operator.post('/operator/sessions')).status).toBe(422);
    expect((await operator.post('/operator/sessions', { who: 'ended@own.nl' })).location).toContain(
      'done=sessionsEnded',
    );
    expect((await person.get(`/accounts/${id}`)).body).toContain('Welcome');
    expect((await operator.get('/operator/sessions')).body).toContain('sessions ended');
    expect((await person.get('/operator/sessions')).body).not.toContain('sessions ended');
  });
});

describe('the pages for developers and their people', () => {
  it('have the samples of the reference with the address of the service, and a call that works when it is pasted', async () => {
    const id = await newAccount();
    const { body } = await admin.get(`/accounts/${id}/api`);
    const url = `${portalSettings.apiUrl}/v1/address?postcode=9999SD&huisnummer=1`;
    const samples = programSources(lookupRequest(url));
    expect(samples.length).toBe(7);
    for (const { label, source } of samples) {
      expect(body).toContain(`>${label}</label>`);
      expect(body).toContain(`<code>${escaped(source)}</code>`);
    }
    expect(body).toContain('href="/help"');
    const [, answer = ''] =
      /<code>({"status".*?)<\/code>/.exec(body.replaceAll('&quot;', '"')) ?? [];
    const { key } = await service.admin.keys.create({ account: id, label: 'sample' });
    const given = await service.instance.lookUp(key, 'postcode=9999SD&huisnummer=1');
    expect(given.body).toBe(answer);
  });

  it('explain the portal in the language of the reader', async () => {
    expect((await admin.get('/help')).body).toContain(
      'The last administrator can not leave or be removed',
    );
    const nl = await portal.signedIn({ subject: 'sub:a' }, 'nl');
    const { body } = await nl.get('/help');
    expect(body).toContain('De laatste beheerder kan het account niet verlaten');
    for (const name of ['Gebruik', 'Maandoverzichten']) expect(body).toContain(`pagina ${name}`);
  });
});
