import { beforeAll, describe, expect, it } from '@jest/globals';
import { checkArguments } from '../../../../packages/admin/accounts/arguments.ts';
import { AdminError, type AdminRefusals } from '../../../../packages/admin/index.ts';
import { createLoads } from '../../../../packages/admin/loads.ts';
import { createStatements } from '../../../../packages/admin/statements.ts';
import { startAddressService, testTables } from '../../../support/address-service.ts';
import { startForTests } from '../../../support/start-for-tests.ts';

const service = startForTests(startAddressService);
beforeAll(async () => {
  await service.admin.plans.put({ code: 'small', limits: { day: 1 } });
  await service.admin.accounts.create({ id: 'acme', plan: 'small' });
});

/** Makes a call by its path, to the end of what it generates. */
async function make(groups: object, path: string, given: unknown[]): Promise<unknown> {
  const [group = '', name = ''] = path.split('.');
  const made = await (groups as Record<string, Record<string, (...given: unknown[]) => unknown>>)[
    group
  ]?.[name]?.(...given);
  if (name === 'eachUsage') for await (const _ of made as AsyncIterable<unknown>);
  return made;
}

/** What each call takes. */
const usual: { [Call in keyof AdminRefusals]: unknown[] } = {
  'plans.put': [{ code: 'small', limits: { day: 1 }, state: 'active', seen: null }],
  'plans.begin': [{ code: 'small', limits: { day: 1 }, state: 'active', seen: null }],
  'plans.follow': ['small', { accounts: 1 }],
  'plans.list': [{ prefix: 'a', limit: 1, cursor: 'x' }],
  'plans.counts': [],
  'plans.audit': ['small', { limit: 1, cursor: 'x' }],
  'accounts.create': [
    { id: 'acme', plan: 'small', limits: { day: 1 }, name: 'x', contact: 'x', note: 'x' },
  ],
  'accounts.set': [
    {
      id: 'acme',
      plan: 'small',
      limits: { day: 1 },
      name: 'x',
      contact: 'x',
      note: 'x',
      seen: { plan: 'small', ownLimits: {}, details: {} },
    },
  ],
  'accounts.suspend': ['acme'],
  'accounts.activate': ['acme'],
  'accounts.delete': ['nobody'],
  'accounts.show': ['acme'],
  'accounts.list': [
    {
      search: 'a',
      prefix: 'a',
      limit: 1,
      cursor: 'x',
      plan: 'small',
      state: 'active',
      createdSince: '2026-11-01T00:00:00Z',
      usedShare: 0.8,
    },
  ],
  'accounts.audit': ['acme', { limit: 1, cursor: 'x' }],
  'accounts.usage': ['acme', { from: '2026-11-01', to: '2026-11-02' }],
  'accounts.usageByKey': ['acme', { from: '2026-11-01', to: '2026-11-02' }],
  'accounts.eachUsage': [{ from: '2026-11-01', to: '2026-11-02', after: 'a', last: 'b' }],
  'accounts.usageParts': [1],
  'accounts.usageKeptSince': ['acme'],
  'backup.export': [],
  'backup.import': [{ plans: [], accounts: [] }, { checkOnly: true }],
  'keys.create': [
    {
      account: 'acme',
      label: 'x',
      expires: '2030-01-01T00:00:00Z',
      limitPerDay: 500,
      token: 'x'.repeat(16),
    },
  ],
  'keys.rotate': [
    {
      account: 'acme',
      keyId: 'abcdefgh',
      label: 'x',
      ends: '2030-01-01T00:00:00Z',
      token: 'x'.repeat(16),
    },
  ],
  'keys.list': ['acme'],
  'keys.find': ['AAAAAAAA', { accounts: ['acme'] }],
  'keys.rename': [{ account: 'acme', keyId: 'abcdefgh', label: 'x' }],
  'keys.set': [{ account: 'acme', keyId: 'abcdefgh', limitPerDay: 500 }],
  'keys.revoke': [{ account: 'acme', keyId: 'abcdefgh' }],
  'members.add': [{ account: 'acme', person: 'sub:1', role: 'admin' }],
  'members.remove': [{ account: 'acme', person: 'sub:1' }],
  'members.list': ['acme'],
  'members.roleIn': ['acme', ['sub:1']],
  'members.accountsOf': [['sub:1']],
  'sessions.start': [
    'sub:1',
    60,
    { people: ['sub:2'], name: 'x', browser: 'x', claims: { a: 'b' } },
  ],
  'sessions.find': ['x'],
  'sessions.confirm': [
    'x',
    'sub:1',
    { people: ['sub:2'], name: 'x', browser: 'x', claims: { a: 'b' } },
  ],
  'sessions.end': ['sub:1', 'x'],
  'sessions.endAll': [{ person: 'sub:1' }],
  'sessions.list': [{ person: 'sub:1' }, { cursor: 'x' }],
  'sessions.refuse': [{ reason: 'x', identity: 'x' }],
  'sessions.audit': [{ limit: 1, cursor: 'x' }],
};
const odd: unknown[] = [
  null,
  undefined,
  -1,
  Number.NaN,
  '',
  '\ud800',
  true,
  [null],
  {},
  Symbol('x'),
  10n,
  new Date(0),
];

/** The value, and each value within it, replaced by each of `odd`. */
function* variants(value: unknown): Generator<unknown> {
  yield* odd;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) {
    for (const other of variants(member)) {
      yield Array.isArray(value) ? value.with(Number(name), other) : { ...value, [name]: other };
    }
  }
}

describe('a call', () => {
  it.each(Object.entries(usual))(
    'refuses what it does not take with an AdminError: %s',
    async (path, args) => {
      for (const given of args.flatMap((arg, i) =>
        [...variants(arg)].map((other) => args.with(i, other)),
      )) {
        const error = await make(service.admin, path, given).catch((error) => error);
        if (error instanceof Error) expect([given, error]).toEqual([given, expect.any(AdminError)]);
      }
    },
  );

  it('without its arguments says what is missing, and does nothing', async () => {
    const said: Record<string, string> = {
      'keys.create': 'keys.create: the first argument must be an object.',
      'members.roleIn': 'members.roleIn: the first argument must be a string of valid Unicode.',
      'statements.show': 'statements.show: the first argument must be an object.',
      'loads.approve': 'loads.approve: the first argument must be an object.',
    };
    const config = {
      client: service.client,
      table: testTables.accounts,
      bucket: 'x',
      stateMachine: 'x',
    };
    const s3 = {} as never;
    const stepFunctions = {} as never;
    const all = {
      ...service.admin,
      statements: createStatements({ ...config, s3 }),
      loads: createLoads({ ...config, s3, stepFunctions }),
    };
    for (const [path, message] of Object.entries(said)) {
      await expect(make(all, path, [null])).rejects.toMatchObject({ code: 'invalid', message });
    }
    await expect(make(all, 'statements.each', [null])).rejects.toMatchObject({ code: 'invalid' });
    const input = { account: 'acme', label: 5 };
    await expect(make(all, 'keys.create', [input])).rejects.toThrow(
      'keys.create: "label" must be a string of valid Unicode.',
    );
    await expect(make(all, 'keys.create', [{ label: 'a' }])).rejects.toThrow(
      '"account" is missing: it must be a string',
    );
  });

  it.each([
    ['acme', 'An account id is 1 to 32'],
    ['small', 'A plan code is 1 to 32'],
  ])(
    'is refused with the rule where it takes "%s" and is given something malformed',
    async (name, rule) => {
      const taking = Object.entries(usual).filter(([, args]) =>
        JSON.stringify(args).includes(`"${name}"`),
      );
      expect(taking.length).toBeGreaterThan(5);
      // A filter of accounts takes any plan.
      for (const [path, args] of taking.filter(([path]) => path !== 'accounts.list')) {
        const given = JSON.parse(JSON.stringify(args).replaceAll(`"${name}"`, '"a b"'));
        const refusal = { code: 'invalid', message: expect.stringContaining(rule) };
        await expect(make(service.admin, path, given)).rejects.toMatchObject(refusal);
      }
    },
  );

  const id = 'acme';
  const account = { account: id, keyId: 'abcdefgh' };
  it.each<[path: string, given: unknown[], rule: string]>([
    [
      'accounts.create',
      [{ id, plan: 'small', name: ' ' }],
      'The name of an account is 1 to 100 characters',
    ],
    ['accounts.set', [{ id, limits: { day: -1 } }], 'The limit of "day" is a whole number'],
    ['accounts.usage', [id, { from: '2026-02-30' }], '"from" is a UTC date'],
    ['accounts.eachUsage', [{ to: 'today' }], '"to" is a UTC date'],
    ['accounts.eachUsage', [{ after: 'a b' }], 'An account id is'],
    ['accounts.eachUsage', [{ last: '' }], 'An account id is'],
    ['accounts.list', [{ prefix: '#' }], 'letters, digits, ".", "_" or "-", 32 at most'],
    ['accounts.list', [{ prefix: 'a'.repeat(33) }], '32 at most'],
    ['accounts.list', [{ limit: 0 }], 'A page has 1 to 100 entries'],
    ['plans.list', [{ limit: 101 }], 'A page has 1 to 100 entries'],
    ['plans.list', [{ limit: 1.5 }], 'A page has 1 to 100 entries'],
    ['plans.list', [{ cursor: 'a#' }], 'did not return this cursor'],
    ['plans.list', [{ prefix: 'b', cursor: 'a' }], 'did not return this cursor'],
    ['plans.put', [{ code: 'small', limits: { decade: 1 } }], '"decade" is not a time window'],
    ['keys.rename', [{ ...account, label: ' ' }], 'A label is 1 to 64 characters'],
    ['keys.revoke', [{ account: id, keyId: 'bagadres_x' }], 'A key id is 8 letters or digits'],
    [
      'keys.create',
      [{ account: id, label: 'k', token: 'short' }],
      'An idempotency token is 16 to 128',
    ],
    [
      'members.add',
      [{ account: id, person: 'jo', role: 'viewer' }],
      'A member is an e-mail address',
    ],
    [
      'members.add',
      [{ account: id, person: 'a@b.nl', role: 'owner' }],
      'A role is finance, viewer, admin',
    ],
    ['sessions.start', ['jo', 60], 'A member is an e-mail address'],
    ['sessions.start', ['sub:', 60], 'A member is an e-mail address'],
    ['loads.show', ['../manifest'], 'A load has an id like'],
    ['loads.approve', [{ load: '', proposal: 'x' }], 'A load has an id like'],
    ['statements.show', [{ account: id, month: 'november' }], 'A month is a UTC month'],
  ])('is not made with an argument that breaks its rule: %s(%j)', async (path, given, rule) => {
    const [group = '', name = ''] = path.split('.');
    const calls = checkArguments(group, { [name]: () => 'made' });
    await expect(async () =>
      (calls as Record<string, (...given: unknown[]) => unknown>)[name]?.(...given),
    ).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(rule) });
  });
});
