import { AdminError } from '../../packages/admin/accounts/admin-error.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import type { RecordedChange } from '../connect/audit.ts';
import type { RecoveryStep } from './procedure.ts';

/** A change after which somebody has less access: a restore to an earlier time must not give it back. */
type Withdrawal = {
  isInForce(admin: Admin, account: string, detail: RecordedChange['detail']): Promise<boolean>;
  again(admin: Admin, account: string, detail: RecordedChange['detail']): Promise<unknown>;
};

const withdrawals: Record<string, Withdrawal> = {
  'key revoke': {
    isInForce: async (admin, account, { keyId }) =>
      (await admin.keys.list(account)).every((key) => key.keyId !== keyId || key.state === 'revoked'),
    again: (admin, account, { keyId }) => admin.keys.revoke({ account, keyId: String(keyId) }),
  },
  'member remove': {
    isInForce: async (admin, account, { person }) =>
      (await admin.members.list(account)).every((member) => member.person !== person),
    again: (admin, account, { person }) => admin.members.remove({ account, person: String(person) }),
  },
  'account suspend': {
    isInForce: async (admin, account) => (await admin.accounts.show(account)).state !== 'active',
    again: (admin, account) => admin.accounts.suspend(account),
  },
  'account delete': {
    /** An account that is not there is in force without being asked. */
    isInForce: async (admin, account) => !(await admin.accounts.show(account)),
    async again(admin, account) {
      await admin.accounts.suspend(account);
      await admin.accounts.delete(account);
    },
  },
};

/** The changes that a restore loses, and those that it makes again. */
export type LostChanges = { lost: RecordedChange[]; carriedOver: RecordedChange[] };

/** A withdrawal is made again if nothing later undid it: a member who was removed and added again stays. */
export function sortChanges(changes: readonly RecordedChange[]): LostChanges {
  const latest = new Map<string, RecordedChange>();
  for (const change of changes) {
    const [noun = '', verb = ''] = change.action.split(' ');
    // Another limit leaves a suspension in force.
    if (noun === 'account' && !['suspend', 'activate', 'delete'].includes(verb)) continue;
    const { keyId = '', person = '' } = change.detail;
    latest.set(`${change.partition} ${noun} ${keyId}${person}`, change);
  }
  const carriedOver = [...latest.values()].filter(({ action }) => action in withdrawals);
  return { lost: changes.filter((change) => !carriedOver.includes(change)), carriedOver };
}

/**
 * Makes in the copy the withdrawals that the table has had since: keys that were revoked, members who were removed,
 * accounts that were suspended or deleted.
 */
export function carryOverStep(
  admin: Admin,
  carriedOver: readonly RecordedChange[],
  { copy, isReplaced }: { copy: string; isReplaced: () => Promise<boolean> },
): RecoveryStep {
  const areInForce = async () =>
    !(await Promise.all(carriedOver.map((change) => isInForce(admin, change)))).includes(false);
  return {
    what: `Withdraw in ${copy} what was withdrawn since: ${carriedOver.length} keys, members and accounts`,
    isDone: async () => carriedOver.length === 0 || (await isReplaced()) || (await areInForce()),
    async run() {
      for (const change of carriedOver) {
        const { partition, action, detail } = change;
        if (!(await isInForce(admin, change))) await withdrawals[action]?.again(admin, partition, detail);
      }
    },
  };
}

/** Also for an account that is not in the copy: it was created after the time of the copy, or deleted in it. */
async function isInForce(admin: Admin, { partition, action, detail }: RecordedChange): Promise<boolean> {
  try {
    return (await withdrawals[action]?.isInForce(admin, partition, detail)) ?? true;
  } catch (error) {
    if (error instanceof AdminError && error.code === 'not_found') return true;
    throw error;
  }
}
