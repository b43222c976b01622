import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { erasePerson, personalData, pseudonymOf } from '../../../operator/deployment/person.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { noted } from '../../../packages/admin/accounts/audit-log.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { loadsPartition } from '../../../packages/admin/load-approvals.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import {
  restoreItems,
  type StoredItem,
  storedItems,
  writeItems,
} from '../../support/stored-items.ts';
import { isFullSweep } from '../../support/sweep.ts';
import { startLocalRun } from '../command-line.ts';

const bench = startForTests(startLocalRun);
let client: DynamoDBDocumentClient;
let before: StoredItem[];

const secret = testChecksumSecret;
const pseudonym = pseudonymOf('jo@example.nl', secret);
const longLabel = `laptop of jo@example.nl ${'x'.repeat(40)}`;

beforeAll(async () => {
  client = DynamoDBDocumentClient.from(bench.client);
  const as = (actor: string) => createAdmin({ client, table: 'accounts', actor });
  const admin = as('operator');
  await admin.plans.put({ code: 'small', limits: { day: 5 } });
  for (const id of ['acme', 'alone']) {
    await admin.accounts.create({ id, plan: 'small' });
    await admin.members.add({ account: id, person: 'Jo@example.nl', role: 'admin' });
  }
  await admin.members.add({ account: 'acme', person: 'bijo@example.nl', role: 'admin' });
  const jo = as('jo@example.nl');
  await jo.keys.create({ account: 'acme', label: longLabel });
  const { keyId } = await jo.keys.create({ account: 'acme', label: 'revoked' });
  await jo.keys.revoke({ account: 'acme', keyId });
  await as('bijo@example.nl').keys.create({ account: 'acme', label: 'not of jo' });
  await jo.plans.put({ code: 'large', limits: { day: 50 } });
  await admin.sessions.start('sub:1', 3600, { people: ['jo@example.nl'], name: 'Jo' });
  // The same person by the subject of the provider, and another subject that begins in the same
  // way.
  await admin.members.add({ account: 'acme', person: 'sub:1', role: 'viewer' });
  await admin.members.add({ account: 'acme', person: 'sub:12', role: 'viewer' });
  await admin.sessions.refuse({ reason: 'no-account', identity: 'jo@example.nl' });
  await admin.accounts.set({
    id: 'acme',
    contact: 'Jo@example.nl',
    note: 'ask jo@example.nl, not bijo@example.nl',
  });
  const store = createAdminStore(
    client,
    'accounts',
    'arn:aws:sts::1:assumed-role/Admin/jo@example.nl',
    Date.now,
  );
  await noted(store, { partition: loadsPartition, action: 'load run', detail: {} }, 4e9);
  await writeItems(client, 'accounts', [
    {
      account: loadsPartition,
      item: 'approval#1',
      by: 'jo@example.nl',
      decision: 'approve',
      attempt: 1,
      expires: 4e9,
    },
  ]);
  before = await storedItems(client, 'accounts');
});

const items = () => storedItems(client, 'accounts');
const naming = async () =>
  (await items()).filter((item) => /(?<!bi)jo@example\.nl/i.test(JSON.stringify(item)));
const of = (all: StoredItem[], prefix: string) => all.filter(({ item }) => item.startsWith(prefix));

describe('person', () => {
  it('exports everything that names the address, nothing of another person, and no secrets', async () => {
    const found = (await bench.json('person export JO@example.nl')) as {
      kind: string;
      item: Record<string, unknown>;
    }[];
    expect([...new Set(found.map(({ kind }) => kind))].sort()).toEqual([
      'audit',
      'details',
      'key',
      'membership',
      'other',
      'session',
    ]);
    expect(
      found.every(({ item }) => /(?<!bi)jo@example\.nl|sub:1(?!\d)/i.test(JSON.stringify(item))),
    ).toBe(true);
    expect(JSON.stringify(found.filter(({ kind }) => kind === 'membership'))).not.toContain(
      'bijo@',
    );
    const keys = found
      .filter(({ kind }) => kind === 'key')
      .map(({ item }) => Object.keys(item).sort());
    const shown = ['account', 'created', 'created_by', 'item', 'label'];
    expect(keys.toSorted((a, b) => a.length - b.length)).toEqual([
      shown,
      [...shown, 'expires', 'revoked'].sort(),
    ]);
    const [session] = of(await items(), '').filter(({ account }) => account === 'session#');
    expect(JSON.stringify(found)).not.toContain(session?.item);
    expect((await bench.run('person export jo@example.nl')).out).toContain('2 on keys');
  });

  it('erases nothing without --yes, and says what would stay', async () => {
    const { exit, out, err } = await bench.run('person erase jo@example.nl');
    expect([exit, out]).toEqual([1, expect.stringContaining('Would erase jo@example.nl from')]);
    expect(err).toMatch(
      /stays as the last administrator of account "alone", until it has another administrator/,
    );
    expect(await items()).toEqual(before);
    expect(await bench.run('person erase nobody@example.nl')).toMatchObject({ exit: 0 });
    expect(await bench.run('person erase jo')).toMatchObject({ exit: 2 });
  });

  it('erases the address wherever it is, and fails if it stays', async () => {
    const { exit, out, err } = await bench.run('person erase jo@example.nl --yes');
    expect(out).toMatch(
      /^Removed 2 memberships and 3 items on sessions, and the address from the details of 1 account, 2 keys, \d+ entries of the audit and 1 other items\.$/,
    );
    expect([exit, err]).toEqual([
      1,
      expect.stringContaining('stays as the last administrator of account "alone"'),
    ]);
    expect((await naming()).map(({ account, item }) => `${account} ${item}`).sort()).toEqual([
      'account# alone',
      'alone member#jo@example.nl',
      'person#jo@example.nl member#alone',
    ]);
    const all = await items();
    const bySubject = all.filter((item) => /sub:1(?!\d)/.test(JSON.stringify(item)));
    expect(bySubject).toEqual([]);
    expect(all.filter(({ item }) => item === 'member#sub:12')).toHaveLength(1);
    expect(pseudonym).toMatch(/^erased-[0-9a-f]{32}$/);
    expect(all.find(({ account, item }) => account === 'acme' && item === 'details')).toEqual({
      account: 'acme',
      item: 'details',
      note: `ask ${pseudonym}, not bijo@example.nl`,
    });
    expect(
      of(all, 'key#')
        .map(({ created_by, label }) => `${created_by} ${label}`)
        .sort(),
    ).toEqual(
      [
        `${pseudonym} ${longLabel.replace('jo@example.nl', pseudonym).slice(0, 64)}`,
        `${pseudonym} revoked`,
        'bijo@example.nl not of jo',
      ].sort(),
    );
    expect(all.find(({ item }) => item === 'approval#1')).toMatchObject({
      by: pseudonym,
      decision: 'approve',
    });
    expect(all.filter(({ account }) => account === 'session#')).toEqual([]);
    const actors = of(all, 'audit#').map(({ action, actor }) => `${action} ${actor}`);
    for (const entry of [
      `key create ${pseudonym}`,
      `plan put ${pseudonym}`,
      `load run arn:aws:sts::1:assumed-role/Admin/${pseudonym}`,
    ]) {
      expect(actors).toContain(entry);
    }
    expect(JSON.stringify(of(all, 'audit#'))).toContain('bijo@example.nl');
  });

  it('erases the rest when it is repeated after there is another administrator', async () => {
    await bench.run('member add an@example.nl --account alone --role admin');
    expect(await bench.run('person erase jo@example.nl --yes')).toMatchObject({
      exit: 0,
      err: expect.stringMatching(/^Into: .*$/),
    });
    expect(await naming()).toEqual([]);
    expect(await bench.json('person export jo@example.nl')).toEqual([]);
    const repeated = await items();
    expect(await bench.run('person erase jo@example.nl --yes')).toMatchObject({ exit: 0 });
    expect(await items()).toEqual(repeated);
  });

  it('says of what was written meanwhile until when it stays', async () => {
    await restoreItems(client, 'accounts', before);
    const send: unknown = async (command: {
      constructor: { name: string };
      input: { Key?: { item: string } };
    }) => {
      const isKey =
        command.constructor.name === 'UpdateCommand' && command.input.Key?.item === 'approval#1';
      if (isKey) {
        throw Object.assign(new Error('changed'), { name: 'ConditionalCheckFailedException' });
      }
      return client.send(command as never);
    };
    const changing = withSend(send);
    const admin = createAdmin({ client, table: 'accounts' });
    const { left } = await erasePerson(
      { admin, client: changing, table: 'accounts', secret },
      'jo@example.nl',
    );
    expect(left.map(({ what }) => what).sort()).toEqual([
      `${loadsPartition} approval#1, written meanwhile`,
      'the last administrator of account "alone"',
    ]);
    expect(left.find(({ what }) => what.includes('approval'))?.until).toBe(
      'until this is repeated, or until 2096-10-02T07:06:40Z',
    );
  });
});

/** A client that sends by `send`. */
function withSend(send: unknown): DynamoDBDocumentClient {
  return new Proxy(client, {
    get: (target, name) => (name === 'send' ? send : Reflect.get(target, name)),
  });
}

describe('an erasure that dies', () => {
  inSweep('and is repeated leaves the same as one that did not', async () => {
    const known = new Set(before.map(({ account, item }) => `${account} ${item}`));
    /** Without the entries that the attempts themselves have written. */
    const summary = async () =>
      (await items())
        .filter(
          ({ account, item }) => !item.startsWith('audit#') || known.has(`${account} ${item}`),
        )
        .map(({ version: _, ...item }) => item);
    const erase = (of: DynamoDBDocumentClient) => {
      const admin = createAdmin({ client: of, table: 'accounts', actor: 'operator' });
      return erasePerson({ admin, client: of, table: 'accounts', secret }, 'jo@example.nl');
    };
    await restoreItems(client, 'accounts', before);
    await erase(client);
    const expected = await summary();
    let died = 0;
    for (let at = 1, ended = false; !ended; at += isFullSweep ? 1 : 9) {
      await restoreItems(client, 'accounts', before);
      let writes = 0;
      const dying = withSend(async (command: { constructor: { name: string } }) => {
        if (/^(Update|Put|Delete|TransactWrite)/.test(command.constructor.name) && ++writes >= at) {
          throw new Error('the process is gone');
        }
        return client.send(command as never);
      });
      ended = await erase(dying).then(
        () => true,
        () => false,
      );
      if (ended) break;
      died++;
      const { left } = await erase(client);
      expect(left.map(({ what }) => what)).toEqual(['the last administrator of account "alone"']);
      expect([at, await summary()]).toEqual([at, expected]);
      expect(await personalData({ client, table: 'accounts' }, 'jo@example.nl')).toHaveLength(2);
    }
    expect(died).toBeGreaterThan(isFullSweep ? 10 : 1);
  });
});

describe('a pseudonym', () => {
  it('is the same for the same person, and another one with another secret', () => {
    expect(pseudonymOf('JO@example.nl', secret)).toBe(pseudonym);
    expect(pseudonymOf('jo@example.nl', 'another secret')).not.toBe(pseudonym);
    expect(pseudonymOf('bijo@example.nl', secret)).not.toBe(pseudonym);
  });
});
