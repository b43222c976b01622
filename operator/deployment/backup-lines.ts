import { AdminError } from '../../packages/admin/accounts/admin-error.ts';
import { checkBackup } from '../../packages/admin/accounts/arguments.ts';
import type { AccountBackup, Backup } from '../../packages/admin/accounts/backup.ts';

/** The first line: which version of the format the others have. */
const header = { type: 'bag-adres-backup', version: 1 };

/** A line of an export, with the names that a file has. */
type ExportLine = Record<string, unknown>;

/** The lines of a backup, each with its line break. */
export function backupLines({ plans, accounts }: Backup): string[] {
  const lines = [
    header,
    ...plans.map((plan) => ({ type: 'plan', ...plan })),
    ...accounts.map(lineOf),
  ];
  return lines.map((each) => `${JSON.stringify(each)}\n`);
}

/** Instants are seconds since 1970. A detail that nobody has written is left out. */
function lineOf({
  id,
  state,
  plan,
  plans,
  ownLimits,
  created,
  usage,
  keys,
  members,
  days,
  ...details
}: AccountBackup) {
  return {
    type: 'account',
    id,
    state,
    plan,
    plans,
    own_limits: ownLimits,
    created,
    usage,
    keys: keys.map(({ keyId, hash, label, created, revoked, secret, limitPerDay }) => ({
      key_id: keyId,
      hash: hash && Buffer.from(hash).toString('base64'),
      label,
      created,
      revoked,
      secret,
      limit_per_day: limitPerDay,
    })),
    members,
    days: days.map(({ byKey, ...day }) => ({ ...day, by_key: byKey })),
    ...Object.fromEntries(Object.entries(details).filter(([, text]) => text !== null)),
  };
}

function accountOf({ own_limits, keys, days, ...account }: ExportLine): unknown {
  const each = (list: unknown, read: (line: ExportLine) => unknown) =>
    Array.isArray(list) ? list.map(read) : list;
  return {
    ...account,
    ownLimits: own_limits,
    keys: each(keys, ({ key_id, hash, limit_per_day, ...key }) => ({
      keyId: key_id,
      hash: bytesOf(hash),
      ...key,
      ...(limit_per_day !== undefined && { limitPerDay: limit_per_day }),
    })),
    days: each(days, ({ by_key, ...day }) => ({
      ...day,
      ...(by_key !== undefined && { byKey: by_key }),
    })),
  };
}

function bytesOf(hash: unknown): Uint8Array | null {
  if (hash === null) return null;
  const bytes = Buffer.from(String(hash), 'base64');
  if (bytes.length > 0 && bytes.toString('base64') === hash) return new Uint8Array(bytes);
  throw new AdminError('invalid', '"hash" must be in base64.');
}

/** @throws AdminError with the number of the first line that is wrong */
export function parseLines(file: string, text: string): Backup {
  const backup: Backup = { plans: [], accounts: [] };
  const fault = (what: string, cause?: unknown) =>
    new AdminError('invalid', `${file}${what}`, { cause });
  const [first = '', ...lines] = text.trimEnd().split('\n');
  if (first === '') throw fault(' is empty; it is no export.');
  if (first !== JSON.stringify(header)) {
    throw fault(', line 1 is no line of an export: the first line must name the format.');
  }
  for (const [index, each] of lines.entries()) {
    try {
      const { type, ...line } = JSON.parse(each) as ExportLine;
      const read = {
        plans: type === 'plan' ? [line] : [],
        accounts: type === 'account' ? [accountOf(line)] : [],
      };
      if (type !== 'plan' && type !== 'account') throw new Error('"type" must be plan or account.');
      checkBackup(read);
      backup.plans.push(...read.plans);
      backup.accounts.push(...read.accounts);
    } catch (error) {
      throw fault(
        `, line ${index + 2} is no line of an export: ${(error as Error).message}`,
        error,
      );
    }
  }
  return backup;
}
