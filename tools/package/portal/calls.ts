/** A portal that makes every call of the package once, with the SDK that is installed beside it. */
import assert from 'node:assert/strict';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { S3Client } from '@aws-sdk/client-s3';
import { SFNClient } from '@aws-sdk/client-sfn';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import {
  type AccountView,
  type Admin,
  AdminError,
  type AdminErrorCode,
  type AdminRefusals,
  allPages,
  createAdmin,
  type DetailsChanges,
  dutchTime,
  type KeyLimitInput,
  type KeySearch,
  type Limits,
  labelAfter,
  type SessionDetails,
  type UsageByKey,
  windowNames,
} from 'bag-adres-admin';
import {
  createLoads,
  type LoadDecision,
  type Loads,
  type LoadsRefusals,
} from 'bag-adres-admin/loads';
import {
  createStatements,
  type Statements,
  type StatementsRefusals,
  statementsCsv,
} from 'bag-adres-admin/statements';

const { DYNAMODB_ENDPOINT = '', ACCOUNTS_TABLE = '', OTHER_TABLE = '' } = process.env;
const connection = new DynamoDBClient({
  endpoint: DYNAMODB_ENDPOINT,
  region: 'eu-west-1',
  credentials: { accessKeyId: 'local', secretAccessKey: 'local' },
});
const client = DynamoDBDocumentClient.from(connection);
const actor: string | undefined = process.argv[2];
const made = new Set<string>();
const direct = createAdmin({ client, table: ACCOUNTS_TABLE, actor });
const admin = recorded(direct);

/** The codes that a portal has to handle for one call. */
const refusals: Record<AdminRefusals['keys.create' | 'keys.rotate'], number> = {
  invalid: 422,
  not_found: 404,
  too_many_keys: 409,
  already_created: 409,
  already_replaced: 409,
  conflict: 409,
};

const limits: Limits = { day: 100 };
await admin.plans.put({ code: 'small', limits });
await admin.plans.put({ code: 'large', limits: { day: 1000, month: null } });
assert.equal(
  (await admin.plans.begin({ code: 'large', limits: { day: 1000, month: null } })).code,
  'large',
);
assert.equal((await admin.plans.follow('large', { accounts: undefined })).done, true);
const inPages = (at: { cursor?: string }) => admin.plans.list({ limit: 1, ...at });
assert.equal((await allPages(inPages, ({ plans }) => plans)).length, 2);
assert.equal((await admin.plans.audit('small')).entries[0]?.outcome, 'done');

await admin.accounts.create({ id: 'shop', plan: 'small' });
const changed: AccountView = await admin.accounts.set({
  id: 'shop',
  plan: 'large',
  limits: { day: 7 },
});
for (const name of windowNames) {
  assert.ok(changed.windows[name] === undefined || changed.windows[name].used === 0);
}
assert.equal((await admin.accounts.suspend('shop')).state, 'suspended');
assert.equal((await admin.accounts.activate('shop')).state, 'active');
assert.deepEqual(
  (await admin.accounts.list({ prefix: 'sh', limit: undefined })).accounts[0]?.id,
  'shop',
);
const about: DetailsChanges = { name: 'Corner shop', contact: 'ann@corner.example', note: null };
assert.equal((await admin.accounts.set({ id: 'shop', ...about })).name, 'Corner shop');
assert.equal(
  (await admin.accounts.list({ search: 'CORNER' })).accounts[0]?.contact,
  'ann@corner.example',
);
assert.deepEqual(await admin.plans.counts(), { large: 1 });

assert.equal((await admin.accounts.usage('shop', { to: undefined })).days.at(-1)?.lookups, 0);
const byKey: UsageByKey = await admin.accounts.usageByKey('shop', { to: undefined });
assert.equal(byKey.lookups, 0);
assert.deepEqual(await admin.accounts.usageParts(10), [{ after: undefined, last: undefined }]);
for await (const { account, plan } of admin.accounts.eachUsage()) {
  assert.deepEqual([account, plan], ['shop', 'large']);
}
assert.match(await admin.accounts.usageKeptSince('shop'), /^20\d\d-\d\d-01$/);

const expires = new Date(Date.UTC(2100, 0));
const wanted = { account: 'shop', label: 'web', token: 'a-token-of-the-portal' };
const { key, keyId } = await admin.keys.create({ ...wanted, expires });
assert.match(key, /shop/);
const again = await refusal(admin.keys.create(wanted));
assert.deepEqual(
  [again.code, again.keyId, refusals.already_created],
  ['already_created', keyId, 409],
);
assert.equal((await admin.keys.list('shop'))[0]?.state, 'active');
const rotated = await admin.keys.rotate({
  account: 'shop',
  keyId,
  ends: new Date(Date.UTC(2099, 0)),
});
assert.deepEqual(rotated.replaced, { keyId, ends: '2099-01-01T00:00:00Z' });
const second = await refusal(admin.keys.rotate({ account: 'shop', keyId }));
assert.deepEqual([second.code, second.keyId], ['already_replaced', rotated.keyId]);
// Both were created in one second, so their order is not known.
const replaced = (await admin.keys.list('shop')).find((view) => view.keyId === keyId);
assert.equal(replaced?.replacedBy, rotated.keyId);
assert.equal(labelAfter('web'), 'web 2');
assert.equal(dutchTime.endOfDay('2026-12-31')?.toISOString(), '2026-12-31T23:00:00.000Z');
assert.equal((await admin.keys.rename({ account: 'shop', keyId, label: 'till' })).label, 'till');
const limited: KeyLimitInput = { account: 'shop', keyId, limitPerDay: 500 };
assert.equal((await admin.keys.set(limited)).limitPerDay, 500);
const search: KeySearch = await admin.keys.find(key, { accounts: undefined });
assert.deepEqual([search.given, search.keys[0]?.account], ['key', 'shop']);
assert.equal((await admin.keys.revoke({ account: 'shop', keyId })).state, 'revoked');
assert.equal(
  (await admin.accounts.show('shop')).keys.find((view) => view.keyId === keyId)?.state,
  'revoked',
);

const person = 'jo@example.nl';
await admin.members.add({ account: 'shop', person, role: 'admin' });
assert.equal((await admin.members.list('shop')).length, 1);
assert.equal(await admin.members.roleIn('shop', [person]), 'admin');
assert.deepEqual(await admin.members.accountsOf([person]), [{ account: 'shop', role: 'admin' }]);
assert.equal(
  (await refusal(admin.members.remove({ account: 'shop', person }))).reason,
  'last_admin',
);
await admin.members.add({ account: 'shop', person: 'sub:2', role: 'admin' });
await admin.members.remove({ account: 'shop', person });

const details: SessionDetails = {
  people: ['sub:1'],
  browser: 'Firefox',
  claims: { operator: 'groups=ops' },
};
const session = await admin.sessions.start(person, 60, details);
assert.deepEqual((await admin.sessions.find(session))?.people, [person, 'sub:1']);
assert.equal(await admin.sessions.confirm(session, person, details), true);
assert.equal((await admin.sessions.list({ person: 'sub:1' })).sessions.length, 1);
await admin.sessions.end(person, session);
assert.equal(await admin.sessions.endAll({ account: 'shop' }), 0);
await admin.sessions.refuse({ reason: 'a reason', identity: 'somebody' });
assert.equal((await admin.sessions.audit({ limit: 1 })).entries[0]?.action, 'session refuse');

const backup = await admin.backup.export();
const other = createAdmin({ client, table: OTHER_TABLE });
assert.deepEqual(await recorded(other).backup.import(backup), {
  plans: 2,
  accounts: 1,
  members: 1,
  days: 0,
  unchanged: 0,
});

assert.equal((await refusal(admin.accounts.delete('shop'))).code, 'not_suspended');
await admin.accounts.suspend('shop');
await admin.accounts.delete('shop');
assert.equal((await admin.accounts.audit('shop')).entries[0]?.actor, actor ?? 'unknown');
assert.equal(
  (await admin.accounts.audit('shop', { limit: 1, cursor: undefined })).entries[0]?.action,
  'account delete',
);
const missing: AdminErrorCode = (await refusal(admin.accounts.show('shop'))).code;
assert.equal(missing, 'not_found');

// Without a bucket or a state machine: what is wrong with an approval is refused before either is
// asked.
const s3 = new S3Client({ region: 'eu-west-1' });
const stepFunctions = new SFNClient({ region: 'eu-west-1' });
const places = {
  s3,
  bucket: 'snapshots',
  stepFunctions,
  stateMachine: 'arn:aws:states:eu-west-1:1:stateMachine:Load',
};
const loads: Loads = createLoads({ client, table: ACCOUNTS_TABLE, ...places, actor });
const loadRefusals: Record<LoadsRefusals['loads.approve'], number> = {
  invalid: 422,
  not_found: 404,
  conflict: 409,
};
for (const decision of ['approve', 'reject'] satisfies LoadDecision[]) {
  assert.equal((await refusal(loads[decision]({ load: '../x', proposal: '' }))).code, 'invalid');
}
assert.equal(
  loadRefusals[(await refusal(loads.show('x'))).code as LoadsRefusals['loads.show']],
  422,
);
assert.equal((await refusal(loads.changes({ load: 'x', file: 1 }))).code, 'invalid');
assert.deepEqual(await loads.audit({ limit: 1 }), { entries: [], cursor: null });

// Without a bucket as well: what is known without it.
const statements: Statements = createStatements({
  client,
  table: ACCOUNTS_TABLE,
  s3,
  bucket: 'statements',
});
const statementRefusals: Record<StatementsRefusals['statements.show'], number> = {
  invalid: 422,
  not_found: 404,
};
const wrongMonth = await refusal(statements.show({ account: 'shop', month: '2026' }));
assert.equal(statementRefusals[wrongMonth.code as StatementsRefusals['statements.show']], 422);
assert.match(
  statementsCsv('2026-02', []),
  /^account,plan,month,from,to,lookups,sha256,2026-02-01,/,
);

connection.destroy();
const there = Object.entries(direct).flatMap(([group, calls]) =>
  Object.keys(calls).map((call) => `${group}.${call}`),
);
assert.deepEqual([...made].sort(), there.sort());
process.stdout.write(`${made.size} calls\n`);

async function refusal(call: Promise<unknown>): Promise<AdminError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof AdminError, String(error));
  return error;
}

/** The same calls; each that returns or refuses is noted in `made`. */
function recorded(admin: Admin): Admin {
  const group = <Calls extends object>(name: string, calls: Calls): Calls =>
    new Proxy(calls, {
      get(target, call, self) {
        made.add(`${name}.${String(call)}`);
        return Reflect.get(target, call, self);
      },
    });
  return {
    plans: group('plans', admin.plans),
    accounts: group('accounts', admin.accounts),
    backup: group('backup', admin.backup),
    keys: group('keys', admin.keys),
    members: group('members', admin.members),
    sessions: group('sessions', admin.sessions),
  };
}
