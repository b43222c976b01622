import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { startLocalRun } from '../command-line.ts';

let bench: Awaited<ReturnType<typeof startLocalRun>>;
let sessions: ReturnType<typeof createAdmin>['sessions'];
const command = (...args: string[]) => bench.run('session', ...args);

beforeAll(async () => {
  bench = await startLocalRun();
  const client = DynamoDBDocumentClient.from(bench.client);
  const admin = createAdmin({ client, table: 'accounts', checksumSecret: '' });
  await admin.plans.put({ code: 'small', limits: { day: 100 } });
  await admin.accounts.create({ id: 'acme', plan: 'small' });
  await admin.members.add({ account: 'acme', person: 'jo@acme.nl', role: 'viewer' });
  sessions = admin.sessions;
}, 30_000);
afterAll(() => bench.stop());

describe('the sessions of the portal', () => {
  it('are listed without their ids, and ended by person, by account and all', async () => {
    const jo = await sessions.start('sub:jo', 60, { people: ['jo@acme.nl'], browser: 'Firefox' });
    const olaf = await sessions.start('sub:olaf', 60);
    const listed = await command('list', '--account', 'acme');
    expect(listed.out).toContain('jo@acme.nl');
    expect(listed.out).toContain('Firefox');
    expect(listed.out).not.toContain('olaf');
    const all = await command('list', '--all', '--json');
    expect(JSON.parse(all.out)).toHaveLength(2);
    expect(all.out).not.toContain(jo);
    expect((await command('end', '--person', 'jo@acme.nl')).out).toContain('1 session ended.');
    expect(await sessions.find(jo)).toBe(null);
    expect(JSON.parse((await command('end', '--all', '--json')).out)).toEqual({ ended: 1 });
    expect(await sessions.find(olaf)).toBe(null);
    expect((await command('list', '--all')).out).toContain('no open sessions');
  });

  it.each([
    ['without a scope', ['end'], 'Name whose sessions: --person, --account or --all.'],
    ['with two scopes', ['end', '--all', '--account', 'acme'], 'cannot be used with'],
    ['of no person', ['list', '--person', 'jo'], 'A member is an e-mail address'],
  ])('%s are refused with what to type', async (_, args, message) => {
    const { exit, err } = await command(...args);
    expect([exit, err.includes(message)]).toEqual([2, true]);
  });
});
