import { PutCommand, UpdateCommand } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { issueApiKey, readApiKey } from '../../../../lambdas/shared/accounts/api-key.ts';
import { type AdminBench, checksumSecret, startAdmin } from './admin-bench.ts';

let bench: AdminBench;
beforeAll(async () => {
  bench = await startAdmin();
  await bench.admin.plans.put({ code: 'basic', limits: { minute: null } });
  await bench.admin.accounts.create({ id: 'acme', plan: 'basic' });
  await bench.admin.accounts.create({ id: 'other', plan: 'basic' });
});
afterAll(() => bench.stop());

describe('keys.create', () => {
  it('gives a key that the very next request can use, and lists it by id and label', async () => {
    const { admin, request } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'webshop' });
    expect(await request(key)).toBe('charged');
    expect(readApiKey(key, checksumSecret)).toMatchObject({ account: 'acme', keyId });
    expect(await admin.keys.list('acme')).toEqual([
      { keyId, label: 'webshop', state: 'active', created: '2026-08-01T12:30:15Z', revoked: null },
    ]);
  });

  it('leaves no trace of the secret or the hash in what is listed and shown', async () => {
    const { admin } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'quiet' });
    const claim = readApiKey(key, checksumSecret);
    const shown = JSON.stringify([await admin.keys.list('acme'), await admin.accounts.list()]);
    expect(shown).toContain(keyId);
    expect(shown).not.toContain(key.slice(-20));
    expect(shown).not.toContain(Buffer.from(claim?.hash ?? []).toString('base64'));
    expect(shown).not.toContain(JSON.stringify(claim?.hash));
  });

  it('keeps the secret out of the table', async () => {
    const { admin, item } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'stored' });
    const stored = JSON.stringify([await item('acme'), await item('acme', `key#${keyId}`)]);
    expect(stored).toContain(keyId);
    expect(stored).not.toContain(key.slice(-20));
  });

  it.each([
    ['an empty label', { account: 'acme', label: '' }, 'invalid'],
    ['a blank label', { account: 'acme', label: '  ' }, 'invalid'],
    ['a label of 65 characters', { account: 'acme', label: 'x'.repeat(65) }, 'invalid'],
    ['a label with a line break', { account: 'acme', label: 'a\nb' }, 'invalid'],
    ['a label with an escape', { account: 'acme', label: '\u001b[31mred' }, 'invalid'],
    ['a label that turns the text around', { account: 'acme', label: 'a\u202eb' }, 'invalid'],
    ['a label that is an API key', { account: 'acme', label: issueApiKey('acme', 'any').key }, 'invalid'],
    ['a label with an API key in it', { account: 'acme', label: `x ${issueApiKey('a', 'any').key}` }, 'invalid'],
    ['an account that does not exist', { account: 'ghost', label: 'k' }, 'not_found'],
    ['a malformed account id', { account: 'a/b', label: 'k' }, 'invalid'],
  ])('refuses %s and writes nothing', async (_, input, code) => {
    const before = await bench.admin.keys.list('acme');
    await expect(bench.admin.keys.create(input)).rejects.toMatchObject({ name: 'AdminError', code });
    expect(await bench.admin.keys.list('acme')).toEqual(before);
  });

  it('takes any printable label of 64 characters', async () => {
    const label = '🔑'.repeat(64);
    const { keyId } = await bench.admin.keys.create({ account: 'other', label });
    expect(await bench.admin.keys.list('other')).toContainEqual(expect.objectContaining({ keyId, label }));
  });
});

describe('keys.revoke', () => {
  it('refuses the very next request, for good, and notes when', async () => {
    const { admin, request, clock } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'leaked' });
    const revoked = {
      keyId,
      label: 'leaked',
      state: 'revoked',
      created: '2026-08-01T12:30:15Z',
      revoked: '2026-08-01T12:30:15Z',
    };
    expect(await admin.keys.revoke({ account: 'acme', keyId })).toEqual(revoked);
    expect(await request(key)).toBe('unauthorized');
    clock.now += 5_000;
    expect(await admin.keys.revoke({ account: 'acme', keyId })).toEqual(revoked);
    clock.now -= 5_000;
    expect(await admin.keys.list('acme')).toContainEqual(revoked);
  });

  it.each([
    ['a key of another account', 'other', 'not_found'],
    ['an account that does not exist', 'ghost', 'not_found'],
  ])('refuses %s and leaves the key active', async (_, account, code) => {
    const { admin, request } = bench;
    const { key, keyId } = await admin.keys.create({ account: 'acme', label: 'mine' });
    await expect(admin.keys.revoke({ account, keyId })).rejects.toMatchObject({ code });
    expect(await request(key)).toBe('charged');
  });

  it('refuses a whole key in the place of its id, without repeating it', async () => {
    const { key } = await bench.admin.keys.create({ account: 'acme', label: 'pasted' });
    const refusal = await bench.admin.keys.revoke({ account: 'acme', keyId: key }).catch((error: Error) => error);
    expect(refusal).toMatchObject({ code: 'invalid' });
    expect((refusal as Error).message).not.toContain(key.slice(-20));
  });

  it('also revokes a key that someone put into the item by hand', async () => {
    const { admin, client, table } = bench;
    await client.send(
      new UpdateCommand({
        TableName: table,
        Key: { account: 'other', item: 'access#0' },
        UpdateExpression: 'SET #keys.byhand00 = :hash',
        ExpressionAttributeNames: { '#keys': 'keys' },
        ExpressionAttributeValues: { ':hash': new Uint8Array(16) },
      }),
    );
    expect(await admin.keys.list('other')).toContainEqual(
      expect.objectContaining({ keyId: 'byhand00', label: null, state: 'active' }),
    );
    expect(await admin.keys.revoke({ account: 'other', keyId: 'byhand00' })).toMatchObject({ state: 'revoked' });
  });
});

describe('keys.list', () => {
  it('calls a key active only when a request with it is admitted, whatever its record says', async () => {
    const { client, table, admin } = bench;
    const record = { account: 'acme', item: 'key#halfmade', label: 'half', created: 1_785_000_000 };
    await client.send(new PutCommand({ TableName: table, Item: record }));
    const listed = (await admin.keys.list('acme')).find(({ keyId }) => keyId === 'halfmade');
    expect(listed).toMatchObject({ state: 'revoked', revoked: null });
  });

  it('lists the oldest key first', async () => {
    const created = (await bench.admin.keys.list('acme')).map((key) => key.created);
    expect(created).toEqual(created.toSorted());
  });
});
