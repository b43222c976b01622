import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, describe, expect, it } from '@jest/globals';
import { maxKeysPerDay } from '../../../packages/admin/accounts/keys.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { portalSettings } from '../../support/portal.ts';
import { fieldIn, keyIn, startPortalPages } from '../../support/portal-pages.ts';
import { isFullSweep } from '../../support/sweep.ts';

const { service, portal, admin, operator, newAccount } = await startPortalPages();
afterAll(() => service.stop());

describe('a key', () => {
  it('works at once, and is shown only on the response to its creation', async () => {
    const id = await newAccount();
    const form = await admin.get(`/accounts/${id}/keys`);
    const made = await admin.post(`/accounts/${id}/keys`, {
      label: 'webshop',
      once: fieldIn(form.body, 'once'),
    });
    const key = keyIn(made.body);
    expect(made.status).toBe(200);
    expect(made.headers.get('cache-control')).toBe('no-store');
    expect(made.body).toContain(`curl -H 'X-API-Key: ${key}' '${portalSettings.apiUrl}/v1/address`);
    expect((await service.instance.lookUp(key)).status).toBe(200);
    const [{ keyId } = { keyId: '' }] = await service.admin.keys.list(id);
    for (const [name, value] of [
      ['Label', 'webshop'],
      ['Key id', `<code>${keyId}</code>`],
      ['Expires', 'never'],
    ]) {
      expect(made.body).toContain(`<dt>${name}</dt><dd>${value}</dd>`);
    }
    for (const path of [
      '',
      '/keys',
      `/keys/${keyId}/rotate`,
      `/keys/${keyId}/revoke`,
      '/changes',
      '/members',
      '/api',
    ]) {
      expect(keyIn((await admin.get(`/accounts/${id}${path}`)).body)).toBe('');
    }
    expect((await admin.get(`/accounts/${id}/keys`)).body).toContain('webshop');
  });

  it('is created once from a form that is submitted twice, also concurrently', async () => {
    const id = await newAccount();
    const once = fieldIn((await admin.get(`/accounts/${id}/keys`)).body, 'once');
    const sent = [1, 2, 3].map(() =>
      admin.post(`/accounts/${id}/keys`, { label: 'webshop', once }),
    );
    const answers = await Promise.all(sent);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expect(await service.admin.keys.list(id)).toHaveLength(1);
    expect(answers.find(({ status }) => status === 409)?.body).toContain(
      'revoke it and create another one',
    );
  });

  it('is replaced in one step: the new one works at once, the old one for the chosen time', async () => {
    const id = await newAccount();
    const old = await service.admin.keys.create({ account: id, label: 'webshop' });
    const path = `/accounts/${id}/keys/${old.keyId}/rotate`;
    const question = await admin.get(path);
    expect(fieldIn(question.body, 'label')).toBe('webshop 2');
    expect(question.body).toContain(old.keyId);
    const form = { label: 'webshop 2', once: fieldIn(question.body, 'once'), grace: '60' };
    const answers = await Promise.all([admin.post(path, form), admin.post(path, form)]);
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const made = answers.find(({ status }) => status === 200)?.body ?? '';
    expect(made).toContain(`Replace webshop (${old.keyId}) everywhere. It works until`);
    expect((await service.instance.lookUp(old.key)).status).toBe(200);
    expect((await service.instance.lookUp(keyIn(made))).status).toBe(200);
    const keys = await service.admin.keys.list(id);
    const first = keys.find(({ label }) => label === 'webshop');
    const second = keys.find(({ label }) => label === 'webshop 2');
    const hours = (Date.parse(first?.expires ?? '') - Date.now()) / 3_600_000;
    expect(hours).toBeGreaterThan(0.99);
    expect(hours).toBeLessThanOrEqual(1);
    const { body } = await admin.get(`/accounts/${id}/keys`);
    expect(body).toContain(`replaced by <code>${second?.keyId}</code>`);
    expect(body).not.toContain(`${old.keyId}/rotate`);
  });

  it('is replaced once from two tabs: the second is told so, and in a stale tab that it has ended', async () => {
    const id = await newAccount();
    const old = await service.admin.keys.create({ account: id, label: 'webshop' });
    const path = `/accounts/${id}/keys/${old.keyId}/rotate`;
    const tabs = await Promise.all([1, 2].map(async () => (await admin.get(path)).body));
    const forms = tabs.map((body) => {
      return { label: 'webshop 2', once: fieldIn(body, 'once'), grace: '60' };
    });
    const answers = await Promise.all(forms.map((form) => admin.post(path, form)));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409]);
    const refused = answers.find(({ status }) => status === 409)?.body ?? '';
    expect([refused.includes('This key was already replaced'), keyIn(refused)]).toEqual([true, '']);
    expect(await service.admin.keys.list(id)).toHaveLength(2);

    await service.admin.keys.revoke({ account: id, keyId: old.keyId });
    const stale = await admin.post(path, { ...forms[0], once: 'another-token-of-a-form' });
    expect([stale.status, stale.body.includes('This key no longer works')]).toEqual([409, true]);
    expect(await service.admin.keys.list(id)).toHaveLength(2);
  });

  it('gets a limit for a day when it is created, shown with what is used, and changed later', async () => {
    const id = await newAccount();
    const page = `/accounts/${id}/keys`;
    const { body } = await admin.get(page);
    expect(body).not.toContain('data-label="Limit a day"');
    const form = { label: 'tests', once: fieldIn(body, 'once') };
    const wrong = await admin.post(page, { ...form, limit: '1,5' });
    expect([wrong.status, fieldIn(wrong.body, 'limit')]).toEqual([422, '1,5']);
    expect(wrong.body).toContain('A limit is a whole number');
    const tooLarge = await admin.post(page, { ...form, limit: '9'.repeat(13) });
    expect([tooLarge.status, tooLarge.body.includes('href="#limit"')]).toEqual([422, true]);
    const made = await admin.post(page, { ...form, limit: '2' });
    expect(made.body).toContain('<dt>Limit a day</dt><dd>2</dd>');
    const key = keyIn(made.body);
    const statuses = async (times: number) => {
      const found: number[] = [];
      for (let i = 0; i < times; i++) found.push((await service.instance.lookUp(key)).status);
      return found;
    };
    expect(await statuses(3)).toEqual([200, 200, 429]);
    expect((await admin.get(page)).body).toMatch(/data-label="Limit a day"><div>2 of 2 used/);

    const [{ keyId } = { keyId: '' }] = await service.admin.keys.list(id);
    const own = `${page}/${keyId}`;
    const shown = (await admin.get(own)).body;
    expect(fieldIn(shown, 'limit')).toBe('2');
    const seen = fieldIn(shown, 'seen').replaceAll('&quot;', '"');
    const saved = await admin.post(`${own}/limit`, { limit: '3', seen });
    expect(saved.headers.get('location')).toContain(`${own}?done=saved`);
    expect((await admin.get(`${own}?done=saved`)).body).toContain('The change is saved.');
    expect(await statuses(2)).toEqual([200, 429]);
    // The form of before would overwrite it.
    const stale = await admin.post(`${own}/limit`, { limit: '100', seen });
    expect([stale.status, fieldIn(stale.body, 'limit')]).toEqual([409, '100']);
    expect((await service.admin.keys.list(id))[0]).toMatchObject({ limitPerDay: 3, usedToday: 3 });

    const atOnce = ['4', '5'].map((limit) =>
      admin.post(`${own}/limit`, { limit, seen: '{"limitPerDay":3}' }),
    );
    const answered = (await Promise.all(atOnce)).map(({ status }) => status);
    expect(answered.toSorted()).toEqual([303, 409]);
    const [{ limitPerDay } = { limitPerDay: 0 }] = await service.admin.keys.list(id);
    await admin.post(`${own}/limit`, { limit: '', seen: JSON.stringify({ limitPerDay }) });
    expect(await statuses(1)).toEqual([200]);
    expect((await admin.get(own)).body).toContain('<dt>Limit a day</dt><dd>unlimited</dd>');
    expect((await admin.get(`/accounts/${id}/changes`)).body).toContain('limit of a key changed');
    await service.admin.keys.revoke({ account: id, keyId });
    const late = await admin.post(`${own}/limit`, { limit: '5', seen: '{"limitPerDay":null}' });
    expect([late.status, late.body.includes('This key no longer works')]).toEqual([409, true]);
  });

  it('is replaced at once: the old one is refused from the next second on', async () => {
    const id = await newAccount();
    const { key, keyId } = await service.admin.keys.create({ account: id, label: 'leaked' });
    const made = await admin.post(`/accounts/${id}/keys/${keyId}/rotate`, {
      label: 'x',
      once: 'x'.repeat(20),
      grace: '0',
    });
    expect(keyIn(made.body)).not.toBe('');
    expect((await service.instance.lookUp(keyIn(made.body))).status).toBe(200);
    await sleep(1_000);
    expect((await service.instance.lookUp(key)).status).toBe(401);
  });

  it('that is in use is revoked only by whoever types its id', async () => {
    const id = await newAccount();
    const { key, keyId } = await service.admin.keys.create({ account: id, label: 'webshop' });
    await service.instance.lookUp(key);
    const path = `/accounts/${id}/keys/${keyId}/revoke`;
    const question = await admin.get(path);
    for (const shown of [keyId, 'webshop', 'Last used', 'Created by', 'This key is in use']) {
      expect(question.body).toContain(shown);
    }
    for (const confirm of [
      '',
      'AAAAAAAA',
      keyId.toLowerCase() === keyId ? 'x' : keyId.toLowerCase(),
    ]) {
      const answer = await admin.post(path, { confirm });
      expect([answer.status, answer.body.includes('not the id of this key')]).toEqual([422, true]);
    }
    expect((await service.instance.lookUp(key)).status).toBe(200);
    expect((await admin.post(path, { confirm: keyId })).status).toBe(303);
    expect((await service.instance.lookUp(key)).status).toBe(401);
  });

  it('that is used today for the first time shows its lookups, and is revoked only with its id', async () => {
    const id = await newAccount();
    const { key, keyId } = await service.admin.keys.create({ account: id, label: 'fresh' });
    const path = `/accounts/${id}/keys/${keyId}`;
    const pages = () =>
      Promise.all(
        ['rotate', 'revoke'].map(async (verb) => (await admin.get(`${path}/${verb}`)).body),
      );
    for (const body of await pages()) {
      expect(body).toContain('<dt>Lookups in the last 7 days</dt><dd>0</dd>');
    }
    for (let i = 0; i < 3; i++) await service.instance.lookUp(key);
    for (const body of await pages()) {
      expect(body).toContain('<dt>Lookups in the last 7 days</dt><dd>3</dd>');
      expect(body).toMatch(/<dt>Last used<\/dt><dd>\d+ \w+ \d{4}<\/dd>/);
    }
    expect((await admin.post(`${path}/revoke`)).status).toBe(422);
    expect((await service.instance.lookUp(key)).status).toBe(200);
    expect((await admin.post(`${path}/revoke`, { confirm: keyId })).location).toBe(
      `/accounts/${id}/keys?done=revoked`,
    );
    expect((await service.instance.lookUp(key)).status).toBe(401);
  });

  inSweep(
    'is one of a list that is searched, sorted and paged, without the revoked ones unless asked for',
    async () => {
      const id = await newAccount();
      const made = [];
      for (let i = 10; i < 40; i++) {
        const { keyId } = await service.admin.keys.create({ account: id, label: `label no-${i}` });
        made.push(keyId);
        if (i < 32) await service.admin.keys.revoke({ account: id, keyId });
      }
      const rowsOf = async (query: string) =>
        [
          ...(await admin.get(`/accounts/${id}/keys${query}`)).body.matchAll(
            /data-label="Label"><div>(?:<input[^>]*> )?<span class="key"><a[^>]*>([^<]*)</g,
          ),
        ].map(([, label]) => label);
      expect(await rowsOf('')).toHaveLength(8);
      expect(await rowsOf('?all=yes')).toHaveLength(20);
      expect(await rowsOf('?all=yes&page=2')).toHaveLength(10);
      expect(await rowsOf('?all=yes&page=99')).toHaveLength(10);
      expect((await rowsOf('?all=yes&sort=label'))[0]).toBe('label no-10');
      expect((await rowsOf('?all=yes&sort=label&order=down'))[0]).toBe('label no-39');
      expect(await rowsOf('?all=yes&q=LABEL+No-11')).toEqual(['label no-11']);
      expect(await rowsOf(`?all=yes&q=no-12++lábel`)).toEqual(['label no-12']);
      expect(await rowsOf(`?all=yes&q=${made[5]}`)).toEqual(['label no-15']);
      expect(await rowsOf('?q=nothing')).toEqual([]);
    },
  );

  it('is replaced together with others, each shown once, and listed while something still uses it', async () => {
    const id = await newAccount();
    const labels = ['webshop', 'kassa', 'crm'];
    const made = [];
    for (const label of labels) made.push(await service.admin.keys.create({ account: id, label }));
    const chosen = Object.fromEntries(
      made.slice(0, 2).map(({ keyId }) => [`choose-${keyId}`, 'yes']),
    );
    const list = await admin.get(`/accounts/${id}/keys`);
    for (const name of Object.keys(chosen)) {
      expect(list.body).toContain(`name="${name}" value="yes"`);
    }
    const page = await admin.get(`/accounts/${id}/rotate-keys?${new URLSearchParams(chosen)}`);
    expect(page.body).toContain('Replace 2 keys');
    const form = { ...chosen, once: fieldIn(page.body, 'once'), grace: '60' };
    const { body } = await admin.post(`/accounts/${id}/rotate-keys`, form);
    const keys = [...new Set(body.match(/bagadres_[\w.-]+_[0-9A-Za-z]{43}/g))];
    expect(keys).toHaveLength(2);
    for (const key of keys) expect((await service.instance.lookUp(key)).status).toBe(200);
    const again = await admin.post(`/accounts/${id}/rotate-keys`, form);
    expect([keyIn(again.body), again.status]).toEqual(['', 422]);
    expect((await admin.get(`/accounts/${id}/rotate-keys`)).body).toContain(
      'Choose one or more keys',
    );

    await service.instance.lookUp(made[0]?.key ?? '');
    const after = (await admin.get(`/accounts/${id}/keys`)).body;
    const old = after.slice(
      after.indexOf('<caption>Keys that are being replaced'),
      after.indexOf('Which key leaked?'),
    );
    const rows = old.split('<tr>').filter((row) => row.includes('<td'));
    const saysOf = (label: string) =>
      rows.find((row) => row.includes(`>${label}<`))?.match(/tag (?:warn|good)">[^<]+/)?.[0];
    expect(labels.map(saysOf)).toEqual(['tag warn">still used', 'tag good">not yet', undefined]);
  });

  it('has links to what can still be done with it: both while it works, and none once it is revoked', async () => {
    const id = await newAccount();
    const one = await service.admin.keys.create({ account: id, label: 'one' });
    const other = await service.admin.keys.create({ account: id, label: 'other' });
    await service.admin.keys.revoke({ account: id, keyId: other.keyId });
    const { body } = await admin.get(`/accounts/${id}/keys`);
    expect(body.match(/<details class="more"/g)).toHaveLength(1);
    expect(body).toContain('<summary aria-label="Actions: one">');
    for (const what of ['rotate', 'revoke']) {
      expect(body).toContain(`/accounts/${id}/keys/${one.keyId}/${what}`);
      expect(body).not.toContain(`/accounts/${id}/keys/${other.keyId}/${what}`);
    }
  });

  it('has a page that says when it was created, and of a new one that nothing has used it', async () => {
    const id = await newAccount();
    await service.admin.keys.create({ account: id, label: 'new' });
    const [key] = await service.admin.keys.list(id);
    const { body } = await admin.get(`/accounts/${id}/keys/${key?.keyId}`);
    expect(body).toContain(`<dt>Created</dt><dd><time datetime="${key?.created}">`);
    expect(body).toContain('<dt>Last used</dt><dd>never</dd>');
  });

  it('has one line in the list, with the whole of a long label in its title, below the form for another', async () => {
    const id = await newAccount();
    const label = 'the application of the warehouse in the north of the country';
    const { keyId } = await service.admin.keys.create({ account: id, label });
    await admin.post(`/accounts/${id}/keys/${keyId}/rotate`, {
      label: 'next',
      once: 'x'.repeat(20),
      grace: '60',
    });
    const { body } = await admin.get(`/accounts/${id}/keys`);
    const list = body.slice(body.indexOf('<caption>Keys<'), body.indexOf('</table>'));
    expect(list).toContain(`title="${label}"`);
    expect(list).not.toContain('<br>');
    expect(body.indexOf('Create a key')).toBeLessThan(body.indexOf('<caption>Keys<'));
    expect(body.indexOf('</table>')).toBeLessThan(body.indexOf('Which key leaked?'));
  });

  it('with a last day works through that day in the Netherlands', async () => {
    const id = await newAccount();
    const once = fieldIn((await admin.get(`/accounts/${id}/keys`)).body, 'once');
    const made = await admin.post(`/accounts/${id}/keys`, {
      label: 'trial',
      once,
      expires: '2098-12-31',
    });
    expect(made.body).toContain('works through 31 Dec 2098');
    expect(await service.admin.keys.list(id)).toMatchObject([{ expires: '2098-12-31T23:00:00Z' }]);
    for (const page of ['keys', 'changes']) {
      expect((await admin.get(`/accounts/${id}/${page}`)).body).toContain(
        'works through 31 Dec 2098',
      );
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
    ['a day that has passed', { label: 'x', expires: '2020-01-01' }, 'Choose today or a later day'],
    [
      'something other than a day',
      { label: 'x', expires: 'tomorrow' },
      'Choose today or a later day',
    ],
  ])(
    'is refused with %s, and the form says what to do and keeps what was typed',
    async (_, form: { label?: string; expires?: string }, sentence) => {
      const id = await newAccount();
      const answer = await admin.post(`/accounts/${id}/keys`, {
        once: 'x'.repeat(20),
        ...form,
      } as Record<string, string>);
      expect(answer.status).toBe(422);
      expect(answer.body).toContain(sentence);
      expect(answer.body).toContain('aria-invalid="true"');
      // What was typed is still there.
      for (const typed of [form.label, form.expires].filter((value) => value !== undefined)) {
        expect(answer.body).toContain(`value="${typed}"`);
      }
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

  (isFullSweep ? it : it.skip)(
    'is refused with what to do when the account was given as many today as it can be',
    async () => {
      const id = await newAccount();
      for (let i = 0; i < maxKeysPerDay; i++) {
        const { keyId } = await service.admin.keys.create({ account: id, label: `key ${i}` });
        await service.admin.keys.revoke({ account: id, keyId });
      }
      const once = fieldIn((await admin.get(`/accounts/${id}/keys`)).body, 'once');
      const answer = await admin.post(`/accounts/${id}/keys`, { label: 'one more', once });
      expect([answer.status, answer.body.includes('Create more tomorrow.')]).toEqual([422, true]);
    },
  );
});

describe('a key that leaked', () => {
  const leaked = async (state?: 'revoked') => {
    const account = await newAccount();
    const made = await service.admin.keys.create({ account, label: 'leaked' });
    if (state) await service.admin.keys.revoke({ account, keyId: made.keyId });
    return { ...made, at: `/accounts/${account}/keys/${made.keyId}` };
  };

  it.each([
    ['the whole of it', (key: string) => key, 'key', 'exactly this key'],
    [
      'it with a typing error',
      (key: string) => key.slice(0, -1),
      'mistyped',
      'has a wrong or missing character',
    ],
    ['its id', (key: string) => key.slice(-43, -35), 'id', 'the key with that id'],
  ])('is found by %s, without a trace of what was pasted', async (_, text, given, note) => {
    const { key, at } = await leaked();
    for (const person of [admin, operator]) {
      const { location } = await person.post('/keys', { key: text(key) });
      expect(location).toBe(`${at}?found=${given}`);
      const { body } = await person.get(location ?? '');
      for (const shown of [note, '<dt>Used since</dt>', 'value="10" selected', `${at}/revoke`]) {
        expect(body).toContain(shown);
      }
    }
  });

  it('is found in one\u2019s own accounts only; a refusal repeats nothing', async () => {
    const { key, keyId } = await leaked();
    const stranger = await portal.signedIn({ subject: 'sub:elsewhere' });
    for (const [text, sentence] of [
      [key, 'of no account that you may see'],
      [keyId, 'No key that you may see has this id'],
      [key.slice(0, -1), 'Paste the whole key again'],
      ['a secret text', 'This is no key and no key id'],
    ] as const) {
      const answer = await stranger.post('/keys', { key: text });
      expect([answer.status, answer.body.includes(sentence), answer.body.includes(text)]).toEqual([
        422,
        true,
        false,
      ]);
    }
    expect((await operator.post('/keys', { key: 'AAAAAAAA' })).body).toContain(
      'No key that you may see has this id',
    );
    expect(portal.logged).toEqual([]);
  });

  it('has its page also for who may only look and when it is revoked, with nothing to change', async () => {
    const revoked = await leaked('revoked');
    const active = await leaked();
    await service.admin.members.add({
      account: active.at.split('/')[2] ?? '',
      person: 'viewer@own.nl',
      role: 'viewer',
    });
    const viewer = await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' });
    for (const { body } of [await admin.get(revoked.at), await viewer.get(active.at)]) {
      expect([
        body.includes('<dt>Used since</dt>'),
        body.includes('<form method="post" action="/acc'),
      ]).toEqual([true, false]);
    }
    const missing = await admin.get(`${active.at.slice(0, -8)}AAAAAAAA`);
    expect([missing.status, missing.body.includes('has no key AAAAAAAA')]).toEqual([404, true]);
  });
});
