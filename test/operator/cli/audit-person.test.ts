import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { storedItems } from '../../support/stored-items.ts';
import { startLocalRun } from '../command-line.ts';

let bench: Awaited<ReturnType<typeof startLocalRun>>;
let client: DynamoDBDocumentClient;

beforeAll(async () => {
  bench = await startLocalRun();
  client = DynamoDBDocumentClient.from(bench.client);
  const as = (actor: string) => createAdmin({ client, table: 'accounts', checksumSecret: 'x', actor });
  const admin = as('operator');
  await admin.plans.put({ code: 'small', limits: { day: 5 } });
  for (const id of ['acme', 'alone']) {
    await admin.accounts.create({ id, plan: 'small' });
    await admin.members.add({ account: id, person: 'Jo@example.nl', role: 'admin' });
  }
  await admin.members.add({ account: 'acme', person: 'bijo@example.nl', role: 'admin' });
  await as('jo@example.nl').keys.create({ account: 'acme', label: 'laptop of jo@example.nl' });
  await admin.sessions.start('jo@example.nl', 3600);
  await admin.accounts.set({ id: 'acme', contact: 'Jo@example.nl', note: 'ask jo@example.nl, not bijo@example.nl' });
});
afterAll(() => bench.stop());

const items = () => storedItems(client, 'accounts');

describe('person', () => {
  it('exports everything that names the address, and nothing of another person', async () => {
    const found = (await bench.json('person export JO@example.nl')) as { kind: string; item: object }[];
    expect([...new Set(found.map(({ kind }) => kind))].sort()).toEqual([
      'audit',
      'details',
      'membership',
      'other',
      'session',
    ]);
    expect(found.every(({ item }) => /(?<!bi)jo@example\.nl/i.test(JSON.stringify(item)))).toBe(true);
    expect(JSON.stringify(found.filter(({ kind }) => kind === 'membership'))).not.toContain('bijo@');
  });

  it('erases nothing without --yes', async () => {
    const before = await items();
    expect((await bench.run('person erase jo@example.nl')).out).toContain('Would erase jo@example.nl from');
    expect(await items()).toEqual(before);
    expect(await bench.run('person erase jo')).toMatchObject({ exit: 2 });
  });

  it('erases memberships, sessions and the name in the audit, and says what is left', async () => {
    const { out } = await bench.run('person erase jo@example.nl --yes');
    expect(out).toMatch(
      /^Removed 1 memberships and \d+ items on sessions, and the address from the details of 1 accounts and \d+ entries/,
    );
    expect(out).toContain('Left: member of account "alone"');
    expect(out).toMatch(/Left: acme key#\w+: a text that somebody typed/);
    const details = (await items()).find(({ account, item }) => account === 'acme' && item === 'details');
    expect(details).toEqual({
      account: 'acme',
      item: 'details',
      note: expect.stringMatching(/^ask erased-[0-9a-f]{8}, not bijo@example\.nl$/),
    });
    expect(await bench.json('account list --search', 'ask jo@')).toEqual([]);
    const left = (await items()).filter((item) => /(?<!bi)jo@example\.nl/i.test(JSON.stringify(item)));
    expect(left.map(({ account, item }) => `${account} ${item.split('#')[0]}`).sort()).toEqual([
      'acme key',
      'alone member',
      'person#jo@example.nl member',
    ]);
    const audit = (await items()).filter(({ account, item }) => account === 'acme' && item.startsWith('audit#'));
    expect(audit.map(({ action, actor }) => [action, actor])).toContainEqual([
      'key create',
      expect.stringMatching(/^erased-[0-9a-f]{8}$/),
    ]);
    expect(JSON.stringify(audit)).toContain('bijo@example.nl');
  });
});
