import * as z from 'zod';
import { roles } from '../../core/accounts/admin/admin-error.ts';
import { windowNames } from '../../core/calendar.ts';
import type { AccountBackup, Backup } from '../../packages/admin/backup.ts';
import { CommandError } from '../connect/errors.ts';

const limits = z.partialRecord(z.enum(windowNames), z.int().min(0).nullable());
const seconds = z.int().min(0);

const planLine = z.strictObject({
  type: z.literal('plan'),
  code: z.string(),
  state: z.enum(['active', 'inactive']),
  limits,
});

const accountLine = z.strictObject({
  type: z.literal('account'),
  id: z.string(),
  state: z.enum(['active', 'suspended']),
  plan: z.string(),
  own_limits: limits,
  shards: z.int(),
  created: seconds,
  usage: z.partialRecord(z.enum(windowNames), z.strictObject({ start: seconds, used: z.int().min(0) })),
  keys: z.array(
    z.strictObject({
      key_id: z.string(),
      hash: z.base64().nullable(),
      label: z.string().nullable(),
      created: seconds.nullable(),
      revoked: seconds.nullable(),
      // Exports of earlier versions have none.
      secret: z.string().optional(),
    }),
  ),
  // Exports of earlier versions have none of these.
  name: z.string().optional(),
  contact: z.string().optional(),
  note: z.string().optional(),
  members: z.array(z.strictObject({ person: z.string(), role: z.enum(roles), added: seconds })).optional(),
  days: z
    .array(
      z.strictObject({
        date: z.string(),
        lookups: z.int().min(1),
        expires: seconds,
        by_key: z.record(z.string().regex(/^[0-9A-Za-z]{4}$/), z.int().min(1)).optional(),
      }),
    )
    .optional(),
});

/** The first line: which version of the format the others have. */
const header = z.strictObject({ type: z.literal('bag-adres-backup'), version: z.literal(1) });

const line = z.discriminatedUnion('type', [header, planLine, accountLine]);

/** @throws CommandError with the number of the first line that is wrong */
export function parseLines(file: string, text: string): Backup {
  const backup: Backup = { plans: [], accounts: [] };
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const [index, each] of lines.entries()) {
    const parsed = line.safeParse(json(each));
    const isHeader = parsed.data?.type === 'bag-adres-backup';
    if (!parsed.success || isHeader !== (index === 0)) {
      const why = parsed.success ? 'the first line must name the format' : z.prettifyError(parsed.error);
      throw new CommandError('invalid', `${file}, line ${index + 1} is no line of an export: ${why}`);
    }
    if (parsed.data.type === 'plan') backup.plans.push(parsed.data);
    if (parsed.data.type === 'account') backup.accounts.push(accountOf(parsed.data));
  }
  if (lines.length > 0) return backup;
  throw new CommandError('invalid', `${file} is empty; it is no export.`);
}

function accountOf({ own_limits: ownLimits, keys, days, ...account }: z.output<typeof accountLine>): AccountBackup {
  return {
    ...account,
    ownLimits,
    keys: keys.map(({ key_id: keyId, hash, ...key }) => ({
      keyId,
      hash: hash === null ? null : new Uint8Array(Buffer.from(hash, 'base64')),
      ...key,
    })),
    days: days?.map(({ by_key: byKey, ...day }) => ({ ...day, ...(byKey && { byKey }) })),
  };
}

function json(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
