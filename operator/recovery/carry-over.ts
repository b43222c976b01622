import { type DynamoDBDocumentClient, paginateScan } from '@aws-sdk/lib-dynamodb';
import { allPages } from '../../core/pages.ts';
import { AdminError, type OwnLimitChanges } from '../../packages/admin/accounts/admin-error.ts';
import { type AdminStore, createAdminStore } from '../../packages/admin/accounts/admin-store.ts';
import { audited } from '../../packages/admin/accounts/audit-log.ts';
import type { AccountBackup, Backup } from '../../packages/admin/accounts/backup.ts';
import { readSecrets } from '../../packages/admin/accounts/signing-secret.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { CommandError } from '../deployment/errors.ts';
import type { AccountsAt } from '../deployment/find-tables.ts';
import {
  auditBetween,
  type RecordedChange,
  servicePartition,
} from '../deployment/operator-audit.ts';
import { erasePerson, pseudonymOf } from '../deployment/person.ts';

/**
 * The accounts table that a stage had until it was restored, its present table, and since when they
 * differ.
 */
export type CarryOverInput = AccountsAt & { admin: Admin; from: string; since: Date };

/** One change to repeat: its description, as an imperative, and the call. */
export type RepeatedChange = { what: string; run: () => Promise<unknown> };

/**
 * Finds withdrawals that the restored table has undone: it compares both tables as they are, for
 * the changes in the old table's audit. Repeating it finds the remaining withdrawals; `lost` are
 * the changes since then that stay lost.
 * @throws CommandError if the old table is the one in use, or has no accounts
 */
export async function planCarryOver(input: CarryOverInput) {
  const { client, admin, table, from, since } = input;
  const fault = (code: string, message: string) => new CommandError(code, `${from} ${message}`);
  if (from === table) {
    throw fault(
      'same_table',
      'is the table in use. --from takes the table from before the restore.',
    );
  }
  const former = createAdmin({ client, table: from });
  const changes = await auditBetween({ client, table: from }, since.toISOString(), '~').catch(
    (error: Error) => {
      const missing = `There is no table ${from}. Without it: docs/recovery.md#without-the-old-table.`;
      throw error.name === 'ResourceNotFoundException'
        ? new CommandError('no_table', missing)
        : error;
    },
  );
  const [then, now] = await Promise.all([former.backup.export(), admin.backup.export()]);
  if (then.plans.length === 0 && changes.length === 0) {
    throw fault(
      'no_accounts',
      'has neither a plan nor an entry of the audit: it is no accounts table.',
    );
  }
  const named = subjectsOf(changes);
  const accounts = new Map(then.accounts.map((account) => [account.id, account]));
  const repeated = [
    ...plansIn(admin, named, then, now),
    ...now.accounts.flatMap((account) =>
      accountChanges(admin, named, accounts.get(account.id), account),
    ),
    ...(await sessionsIn(former, admin)),
    ...(await erasuresIn(input)),
  ];
  return { repeated, lost: changes.filter(({ action }) => givesAccess.has(action)) };
}

/** A change that can't be repeated yet, and why. */
export type RefusedChange = { what: string; reason: string };

/** Repeats each change, with one entry in the audit for all, and returns the refused changes. */
export async function carryOver(
  changes: readonly RepeatedChange[],
  { store, from, since }: Pick<CarryOverInput, 'from' | 'since'> & { store: AdminStore },
): Promise<RefusedChange[]> {
  if (changes.length === 0) return [];
  const detail = { from, since: since.toISOString(), changes: changes.length };
  const refused: RefusedChange[] = [];
  await audited(
    store,
    { partition: servicePartition, action: 'restore carry-over', detail },
    async () => {
      for (const { what, run } of changes) {
        await run().catch((error) => {
          // The last administrator for instance, whose successor was added since.
          if (!(error instanceof AdminError) || error.code === 'conflict') throw error;
          refused.push({ what, reason: error.message });
        });
      }
    },
  );
  return refused;
}

/** Changes that give access, or that tell of something that only the old table has. */
const givesAccess = new Set([
  'account create',
  'account import',
  'account activate',
  'key create',
  'key rotate',
  'member add',
  'checksum-secret rotate',
]);

/**
 * Whether something was changed: an account or plan by its partition, or one of its keys or
 * members.
 */
type Named = (partition: string, part?: string) => boolean;

function subjectsOf(changes: readonly RecordedChange[]): Named {
  const named = new Set<string>();
  for (const { partition, detail } of changes) {
    named.add(partition);
    for (const part of [detail.keyId, detail.person]) {
      if (part !== undefined) named.add(`${partition} ${part}`);
    }
  }
  return (partition, part) => named.has(part === undefined ? partition : `${partition} ${part}`);
}

/** A plan that the restored table does not have is made only for an account that is on it now. */
function plansIn(admin: Admin, named: Named, then: Backup, now: Backup): RepeatedChange[] {
  return then.plans.flatMap(({ code, state, limits }) => {
    const current = now.plans.find((plan) => plan.code === code);
    const isSame =
      JSON.stringify([current?.state, current?.limits]) === JSON.stringify([state, limits]);
    const isNeeded = then.accounts.some(
      ({ id, plan }) => plan === code && now.accounts.some((account) => account.id === id),
    );
    if (!named(`plan#${code}`) || isSame || !(current || isNeeded)) return [];
    const run = () => admin.plans.put({ code, state, limits });
    return [{ what: `Set plan ${code} to ${state}, ${JSON.stringify(limits)}`, run }];
  });
}

/** @param then the account in the old table; `undefined` if it does not exist there */
function accountChanges(
  admin: Admin,
  named: Named,
  then: AccountBackup | undefined,
  now: AccountBackup,
) {
  const { id } = now;
  if (!named(id)) return [];
  const changes: RepeatedChange[] = [];
  const add = (what: string, run: RepeatedChange['run']) => void changes.push({ what, run });
  if (!then) {
    add(`Delete account ${id}`, async () => {
      await admin.accounts.suspend(id);
      await admin.accounts.delete(id);
    });
    return changes;
  }
  if (then.state === 'suspended' && now.state !== 'suspended') {
    add(`Suspend account ${id}`, () => admin.accounts.suspend(id));
  }
  const limits = limitChanges(then, now);
  if (then.plan !== now.plan || Object.keys(limits).length > 0) {
    add(
      `Set account ${id} to plan ${then.plan}, own limits ${JSON.stringify(then.ownLimits)}`,
      () => admin.accounts.set({ id, plan: then.plan, limits }),
    );
  }
  for (const { keyId, hash, label, limitPerDay } of now.keys) {
    if (hash === null || !named(id, keyId)) continue;
    const key = `key ${keyId} (${label ?? 'no label'}) of account ${id}`;
    const former = then.keys.find((key) => key.keyId === keyId && key.hash !== null);
    if (!former) {
      add(`Revoke ${key}`, () => admin.keys.revoke({ account: id, keyId }));
    } else if (former.limitPerDay !== limitPerDay) {
      const { limitPerDay: limit = null } = former;
      const what = limit === null ? `Remove the limit of ${key}` : `Limit ${key} to ${limit} a day`;
      add(what, () => admin.keys.set({ account: id, keyId, limitPerDay: limit }));
    }
  }
  for (const { person, role } of now.members.filter((member) => named(id, member.person))) {
    const former = then.members.find((member) => member.person === person)?.role;
    if (former === undefined) {
      add(`Remove member ${person} of account ${id}`, () =>
        admin.members.remove({ account: id, person }),
      );
    } else if (former !== role) {
      add(`Set member ${person} of account ${id} to ${former}`, () =>
        admin.members.add({ account: id, person, role: former }),
      );
    }
  }
  return changes;
}

function limitChanges(
  { ownLimits: then }: AccountBackup,
  { ownLimits: now }: AccountBackup,
): OwnLimitChanges {
  const windows = [
    ...new Set([...Object.keys(then), ...Object.keys(now)]),
  ] as (keyof OwnLimitChanges)[];
  return Object.fromEntries(
    windows
      .filter((window) => then[window] !== now[window])
      .map((window) => [window, then[window] === undefined ? 'plan' : then[window]]),
  );
}

/**
 * Sessions that were ended, or have expired: nobody needs a session that the old table no longer
 * has.
 */
async function sessionsIn(former: Admin, admin: Admin): Promise<RepeatedChange[]> {
  const sessionsOf = ({ sessions }: Admin) =>
    allPages(
      (page) => sessions.list('all', page),
      (page) => page.sessions,
    );
  const open = new Set((await sessionsOf(former)).map(({ id }) => id));
  return (await sessionsOf(admin))
    .filter(({ id }) => !open.has(id))
    .map(({ id, person, started }) => ({
      what: `End the session of ${person} since ${started}`,
      run: () => admin.sessions.end(person, id),
    }));
}

/**
 * Persons whose address the old table has a pseudonym for, and the restored one still has in clear.
 * Each keeps the pseudonym that it has there: a rotation since may have replaced the secret that
 * made it.
 */
async function erasuresIn({
  client,
  admin,
  table,
  from,
}: CarryOverInput): Promise<RepeatedChange[]> {
  const pseudonyms = await textsIn(client, from, /erased-[0-9a-f]{32}/g);
  if (pseudonyms.size === 0) return [];
  const stores = [from, table].map((name) => createAdminStore(client, name, '', Date.now));
  const secrets = (await Promise.all(stores.map(readSecrets))).flat();
  const kept = await textsIn(client, from, address);
  return [...(await textsIn(client, table, address))].flatMap((email) => {
    const secret = secrets.find((candidate) => pseudonyms.has(pseudonymOf(email, candidate)));
    if (kept.has(email) || secret === undefined) return [];
    return [
      { what: `Erase ${email}`, run: () => erasePerson({ admin, client, table, secret }, email) },
    ];
  });
}

const address = /[^\s@"'`<>,;:#()[\]\\]+@[^\s@"'`<>,;:#()[\]\\]+\.[\w-]+/g;

async function textsIn(
  client: DynamoDBDocumentClient,
  TableName: string,
  wanted: RegExp,
): Promise<Set<string>> {
  const found = new Set<string>();
  for await (const { Items = [] } of paginateScan(
    { client },
    { TableName, ConsistentRead: true },
  )) {
    for (const [text] of JSON.stringify(Items).toLowerCase().matchAll(wanted)) found.add(text);
  }
  return found;
}
