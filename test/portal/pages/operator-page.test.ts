import { afterAll, describe, expect, it } from '@jest/globals';
import { chargeAt } from '../../support/charge-at.ts';
import { createTestPortal } from '../../support/portal.ts';
import { startPortalPages } from '../../support/portal-pages.ts';

const { service, portal, operator } = await startPortalPages();
for (let i = 0; i < 52; i++) {
  await service.admin.accounts.create({ id: `many-${i}`, plan: 'small', name: 'One of many' });
}
for (const id of ['f-large', 'f-near', 'f-suspended']) {
  await service.admin.accounts.create({
    id,
    plan: id === 'f-large' ? 'large' : 'small',
    name: 'Filtered',
  });
}
await service.admin.accounts.suspend('f-suspended');
await service.admin.accounts.set({ id: 'f-near', limits: { day: 10 } });
await chargeAt(service, 'f-near', Date.now() / 1000, 8);
afterAll(() => service.stop());

/** Of the second form of the page. */
const seenIn = (html: string) =>
  ([...html.matchAll(/name="seen" value="([^"]*)"/g)].at(-1)?.[1] ?? '').replaceAll('&quot;', '"');
const idsIn = (html: string) =>
  [...html.matchAll(/<a href="\/accounts\/([^"]+)">/g)].map(([, id]) => id);

describe('the list of accounts', () => {
  it('finds an account, made once, by what it was made with, and by a member, in any case', async () => {
    const details = { name: 'Bakkerij Jansen', contact: 'Jo, 020 123 45 67', note: 'pays by year' };
    const form = { id: 'jansen', plan: 'small', ...details };
    expect((await operator.post('/operator/accounts', form)).location).toBe(
      '/accounts/jansen?done=account',
    );
    expect((await operator.post('/operator/accounts', form)).body).toContain('Choose another id');
    await service.admin.members.add({
      account: 'jansen',
      person: 'ann@elsewhere.example',
      role: 'admin',
    });
    for (const search of ['jans', 'BAKKERIJ', '123 45', 'by year', 'ANN@elsewhere', '  jansen ']) {
      const { body } = await operator.get(
        `/operator/accounts?${new URLSearchParams({ q: search })}`,
      );
      expect([search, idsIn(body)]).toEqual([search, ['jansen']]);
    }
    for (const [query, filters] of [
      ['q=nobody', '&quot;nobody&quot;'],
      ['q=%23&plan=small&state=suspended', '&quot;#&quot;; Plan: small; State: suspended'],
      ['only=new&q=nobody', '&quot;nobody&quot;; New in the last 30 days'],
    ]) {
      expect((await operator.get(`/operator/accounts?${query}`)).body).toContain(
        `No account matches: ${filters}.`,
      );
    }
  });

  it('pages what it found, and keeps the search on each page', async () => {
    const first = await operator.get('/operator/accounts?q=of+MANY');
    expect(idsIn(first.body)).toHaveLength(50);
    const [, next = ''] = /href="([^"]+after=[^"]+)"/.exec(first.body) ?? [];
    const second = await operator.get(next.replaceAll('&amp;', '&'));
    expect(idsIn(second.body)).toHaveLength(2);
    expect(second.body).toContain('href="/operator/accounts?q=of+MANY"');
  });

  it('leads to no page without accounts, whatever others come after the last one that it shows', async () => {
    for (const id of ['many-8', 'many-9']) await service.admin.accounts.suspend(id);
    const others = Array.from({ length: 60 }, (_, i) => ({
      id: `others-${i}`,
      plan: 'large',
      name: 'One of others',
    }));
    await Promise.all(others.map((account) => service.admin.accounts.create(account)));
    const { body } = await operator.get('/operator/accounts?q=one+of&plan=small&state=active');
    expect([idsIn(body).length, body.includes('after=')]).toEqual([50, false]);
  });

  it.each([
    ['plan=large', ['f-large']],
    ['state=suspended', ['f-suspended']],
    ['only=near', ['f-near']],
    ['plan=small&state=suspended&only=new', ['f-suspended']],
    ['only=near&state=suspended', []],
  ])('shows the accounts of a filter: %s', async (query, ids) => {
    const { body } = await operator.get(`/operator/accounts?q=filtered&${query}`);
    expect(idsIn(body)).toEqual(ids);
    for (const [name, value = ''] of query.split('&').map((part) => part.split('='))) {
      expect(body.slice(body.indexOf(`<select id="${name}"`))).toMatch(
        new RegExp(
          `^[^>]*>(<option value="[^"]*">[^<]*</option>)*<option value="${value}" selected>`,
        ),
      );
    }
  });

  it('shows no account as new that is older, says how many there are, and leads to making one', async () => {
    const later = createTestPortal(service, { now: () => Date.now() + 31 * 86_400_000 });
    const person = await later.signedIn({
      subject: 'sub:o',
      email: 'olaf@operator.nl',
      operator: true,
    });
    expect(idsIn((await person.get('/operator/accounts?only=new&q=filtered')).body)).toEqual([]);
    const { body } = await operator.get('/operator/accounts');
    const total = Object.values(await service.admin.plans.counts()).reduce(
      (sum, count) => sum + count,
      0,
    );
    expect(body).toContain(`<dt>Accounts</dt><dd>${total}</dd>`);
    expect(body.indexOf('href="/operator/accounts/new"')).toBeLessThan(body.indexOf('<table'));
    expect((await operator.get('/operator/accounts/new')).body).toContain(
      '<label for="id">Account id</label>',
    );
  });

  it('has under each heading what it says, with the window that is used most', async () => {
    const { body } = await operator.get('/operator/accounts?q=f-near');
    const cells = [...body.matchAll(/<td[^>]* data-label="([^"]*)"><div>(.*?)<\/div><\/td>/gs)];
    const texts = cells.map(([, label, cell = '']) => [label, cell.replaceAll(/<[^>]*>/g, '')]);
    expect(texts).toEqual([
      ['Account', expect.stringContaining('Filtered')],
      ['State', 'active'],
      ['Plan', 'small'],
      ['Used', 'Per day80% used'],
      ['Active keys', '1'],
      ['Created', expect.stringMatching(/^\d+ \w+ \d{4}$/)],
    ]);
  });

  it('says what is wrong with a search that is too long', async () => {
    const { status, body } = await operator.get(`/operator/accounts?q=${'x'.repeat(201)}`);
    expect([status, body.includes('Search for 1 to 200 characters')]).toEqual([422, true]);
  });

  it.each([
    ['name', 'n'.repeat(101)],
    ['contact', 'c'.repeat(201)],
    ['note', 'x'.repeat(201)],
  ])(
    'makes no account with a %s that is too long, and says so beside the field',
    async (field, text) => {
      const answer = await operator.post('/operator/accounts', {
        id: 'never',
        plan: 'small',
        [field]: text,
      });
      expect(answer.status).toBe(422);
      expect(answer.body).toContain(`<p class="fault" id="${field}-fault">`);
      expect((await operator.get('/accounts/never')).body).toContain('There is no account never');
    },
  );
});

describe('the details of an account', () => {
  it('are changed by an operator, and an empty field removes one', async () => {
    await service.admin.accounts.create({
      id: 'changed',
      plan: 'small',
      name: 'Before',
      note: 'old',
    });
    const page = await operator.get('/accounts/changed/manage');
    const form = { seen: seenIn(page.body), name: 'After', contact: 'a@b.example', note: '' };
    expect((await operator.post('/accounts/changed/details', form)).location).toBe(
      '/accounts/changed?done=saved',
    );
    expect(await service.admin.accounts.show('changed')).toMatchObject({
      name: 'After',
      contact: 'a@b.example',
      note: null,
    });
    const late = await operator.post('/accounts/changed/details', { ...form, name: 'Late' });
    expect([late.status, (await service.admin.accounts.show('changed')).name]).toEqual([
      409,
      'After',
    ]);
    const { body } = await operator.get('/accounts/changed/changes');
    expect(body).toContain(
      'Name of the customer: Before → After, Contact: - → a@b.example, Note: old → -',
    );
  });

  it('are shown to a customer by the name alone, and can be changed by no customer', async () => {
    const details = { name: 'Shown', contact: 'secret@contact.example', note: 'a secret note' };
    await service.admin.accounts.create({ id: 'shown', plan: 'small', ...details });
    await service.admin.members.add({ account: 'shown', person: 'sub:c', role: 'admin' });
    const customer = await portal.signedIn({ subject: 'sub:c' });
    for (const path of ['', '/changes']) {
      const { body } = await customer.get(`/accounts/shown${path}`);
      expect(body).toContain('Shown');
      expect(body).not.toContain('secret');
    }
    expect((await operator.get('/accounts/shown')).body).toContain('a secret note');
    expect(
      (await customer.post('/accounts/shown/details', { seen: '{}', name: 'Mine' })).status,
    ).toBe(403);
  });
});
