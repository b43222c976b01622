import * as z from 'zod/mini';
import { windowNames } from '../../core/calendar.ts';
import { AdminError, roles } from '../../packages/admin/accounts/admin-error.ts';
import type { AccountBackup, Backup } from '../../packages/admin/accounts/backup.ts';

const count = z.int().check(z.gte(0));
const limits = z.partialRecord(z.enum(windowNames), z.nullable(count));

/** The first line: which version of the format the others have. */
const header = z.strictObject({ type: z.literal('bag-adres-backup'), version: z.literal(1) });

const planLine = z.strictObject({
  type: z.literal('plan'),
  code: z.string(),
  state: z.enum(['active', 'inactive']),
  limits,
});

/** Instants are seconds since 1970. A detail that nobody has written is left out. */
const accountLine = z.strictObject({
  type: z.literal('account'),
  id: z.string(),
  state: z.enum(['active', 'suspended']),
  plan: z.string(),
  plans: z.record(z.string(), z.string()),
  own_limits: limits,
  created: count,
  usage: z.partialRecord(z.enum(windowNames), z.strictObject({ start: count, used: count })),
  keys: z.array(
    z.strictObject({
      key_id: z.string(),
      hash: z.nullable(z.base64()),
      label: z.nullable(z.string()),
      created: z.nullable(count),
      revoked: z.nullable(count),
      secret: z.optional(z.string()),
    }),
  ),
  members: z.array(z.strictObject({ person: z.string(), role: z.enum(roles), added: count })),
  days: z.array(
    z.strictObject({
      date: z.string(),
      lookups: z.int().check(z.gte(1)),
      expires: count,
      by_key: z.optional(z.record(z.string().check(z.regex(/^[0-9A-Za-z]{4}$/)), z.int().check(z.gte(1)))),
    }),
  ),
  name: z.optional(z.string()),
  contact: z.optional(z.string()),
  note: z.optional(z.string()),
});

const line = z.discriminatedUnion('type', [header, planLine, accountLine]);

/** The lines of a backup, each with its line break. */
export function backupLines({ plans, accounts }: Backup): string[] {
  const lines: z.input<typeof line>[] = [
    { type: 'bag-adres-backup', version: 1 },
    ...plans.map((plan) => ({ type: 'plan' as const, ...plan })),
    ...accounts.map(lineOf),
  ];
  return lines.map((each) => `${JSON.stringify(each)}\n`);
}

function lineOf(account: AccountBackup): z.input<typeof accountLine> {
  const { id, state, plan, plans, ownLimits, created, usage, keys, members, days, ...details } = account;
  return {
    type: 'account',
    ...{ id, state, plan, plans, own_limits: ownLimits, created, usage },
    keys: keys.map(({ keyId, hash, label, created, revoked, secret }) => ({
      key_id: keyId,
      hash: hash && Buffer.from(hash).toString('base64'),
      ...{ label, created, revoked, secret },
    })),
    members,
    days: days.map(({ byKey, ...day }) => ({ ...day, by_key: byKey })),
    ...Object.fromEntries(Object.entries(details).filter(([, text]) => text !== null)),
  };
}

function accountOf({ type, own_limits, keys, days, ...account }: z.output<typeof accountLine>): AccountBackup {
  return {
    ...account,
    ownLimits: own_limits,
    keys: keys.map(({ key_id, hash, ...key }) => ({
      keyId: key_id,
      hash: hash === null ? null : new Uint8Array(Buffer.from(hash, 'base64')),
      ...key,
    })),
    days: days.map(({ by_key, ...day }) => ({ ...day, ...(by_key && { byKey: by_key }) })),
  };
}

/** @throws AdminError with the number of the first line that is wrong */
export function parseLines(file: string, text: string): Backup {
  const backup: Backup = { plans: [], accounts: [] };
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, each] of lines.entries()) {
    const { data, error } = z.safeParse(line, json(each));
    if (!data || (data.type === 'bag-adres-backup') !== (index === 0)) {
      const why = error ? z.prettifyError(error) : 'the first line must name the format';
      throw new AdminError('invalid', `${file}, line ${index + 1} is no line of an export: ${why}`);
    }
    if (data.type === 'plan') backup.plans.push(data);
    if (data.type === 'account') backup.accounts.push(accountOf(data));
  }
  if (lines.length === 0) throw new AdminError('invalid', `${file} is empty; it is no export.`);
  return backup;
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
