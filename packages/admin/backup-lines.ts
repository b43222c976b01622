import type { Backup } from './backup.ts';

/** The lines of a backup, each with its line break. Instants are seconds since 1970. */
export function backupLines({ plans, accounts }: Backup): string[] {
  const lines: ({ type: string } & Record<string, unknown>)[] = [
    { type: 'bag-adres-backup', version: 1 },
    ...plans.map((plan) => ({ type: 'plan', ...plan })),
    ...accounts.map(({ id, state, plan, ownLimits, shards, created, usage, keys, members, days, ...details }) => ({
      type: 'account',
      ...{ id, state, plan, own_limits: ownLimits, shards, created, usage },
      keys: keys.map(({ keyId, hash, label, created, revoked, secret }) => ({
        key_id: keyId,
        hash: hash && Buffer.from(hash).toString('base64'),
        ...{ label, created, revoked, ...(secret !== undefined && { secret }) },
      })),
      members,
      days: days?.map(({ byKey, ...day }) => ({ ...day, ...(byKey && { by_key: byKey }) })),
      // A line without details is one that earlier versions can read.
      ...Object.fromEntries(Object.entries(details).filter(([, text]) => text !== null)),
    })),
  ];
  return lines.map((each) => `${JSON.stringify(each)}\n`);
}

/** What a backup or a table holds, for a comparison. */
export type AccountsCounts = { plans: number; accounts: number; activeKeys: number; members: number };

export function countBackup({ plans, accounts }: Backup): AccountsCounts {
  const sum = (of: (account: Backup['accounts'][number]) => number) =>
    accounts.reduce((total, account) => total + of(account), 0);
  return {
    plans: plans.length,
    accounts: accounts.length,
    activeKeys: sum(({ keys }) => keys.filter(({ hash }) => hash !== null).length),
    members: sum(({ members = [] }) => members.length),
  };
}
