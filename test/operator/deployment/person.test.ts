import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { erasePerson, unerasable } from '../../../operator/deployment/person.ts';
import { startAdmin } from '../../packages/admin/accounts/admin-bench.ts';
import { testChecksumSecret as secret } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const bench = startForTests(startAdmin);
const jo = 'jo@example.nl';
const an = 'an@example.nl';

beforeAll(async () => {
  const { admin } = bench;
  await admin.plans.put({ code: 'small', limits: { day: 5 } });
  const members = [
    ['alone', jo, 'admin'],
    ['beside', jo, 'viewer'],
    ['beside', an, 'admin'],
    ['both', jo, 'admin'],
    ['both', an, 'admin'],
  ] as const;
  for (const id of ['alone', 'beside', 'both']) {
    await admin.accounts.create({ id, plan: 'small' });
  }
  for (const [account, person, role] of members) {
    await admin.members.add({ account, person, role });
  }
});

it("only an account's sole administrator can't be erased", async () => {
  const left = async (person: string) =>
    (await unerasable(bench.admin, [person])).map(({ what }) => what);
  expect(await left(jo)).toEqual(['the last administrator of account "alone"']);
  expect(await left(an)).toEqual(['the last administrator of account "beside"']);
});

describe('an erasure', () => {
  it('overwrites no change that is made while it runs, and says what it left', async () => {
    const { admin, table, saved } = bench;
    const restore = await saved();
    const { keyId } = await admin.keys.create({ account: 'both', label: `till of ${jo}` });
    const rename = () => admin.keys.rename({ account: 'both', keyId, label: `laptop of ${jo}` });
    const { left, key } = await erasePerson(
      { admin, client: interrupted(`key#${keyId}`, rename), table, secret },
      jo,
    );
    expect(key).toBe(0);
    expect(left.map(({ what }) => what)).toContain(`both key#${keyId}, written meanwhile`);
    expect((await admin.keys.list('both'))[0]?.label).toBe(`laptop of ${jo}`);
    await restore();
  });

  it('counts what it erased by kind, and nothing where there is nothing', async () => {
    const { admin, client, table, saved } = bench;
    const restore = await saved();
    const erase = () => erasePerson({ admin, client, table, secret }, jo);
    await admin.sessions.start(jo, 3600);
    const { left: _, ...erased } = await erase();
    // Of a session there are two items: itself, and that it is the person's.
    expect(erased).toMatchObject({ membership: 2, session: 2, details: 0, key: 0 });
    const { left: __, ...again } = await erase();
    expect(again).toEqual({ membership: 0, session: 0, details: 0, key: 0, audit: 0, other: 0 });
    await restore();
  });

  /** A client that lets `change` happen before it updates an item. */
  function interrupted(item: string, change: () => Promise<unknown>): DynamoDBDocumentClient {
    return new Proxy(bench.client, {
      get: (target, name) =>
        name === 'send'
          ? async (command: { input: { Key?: { item?: string } } }) => {
              if (command.input.Key?.item === item) await change();
              return target.send(command as never);
            }
          : Reflect.get(target, name),
    });
  }
});
