import type { Command } from 'commander';
import {
  type AccountsOptions,
  accountId,
  keyId,
  label,
  parseInstant,
  type Terminal,
  useAdmin,
  withAccounts,
} from './command.ts';

type RotateOptions = AccountsOptions & { account: string; label?: string; ends?: string };

/** `key rotate`: replaces a key in one step. */
export function addRotateKey(key: Command, terminal: Terminal): void {
  withAccounts(key.command('rotate'))
    .description('replace a key and print the new one; the old one goes on working until its end')
    .argument('<key-id>', 'the key id, as "key list" shows it; never the key itself')
    .requiredOption('--account <id>', 'the account of the key')
    .option('--label <text>', 'of the new key (default: that of the old one, with a number)')
    .option('--ends <date>', 'refuse the old key from then on, in UTC (default: 24 hours from now)')
    .action(async (id: string, { account, label: text, ends, ...options }: RotateOptions) => {
      const input = {
        account: accountId(account),
        keyId: keyId(id),
        ...(text !== undefined && { label: label(text) }),
        ...(ends !== undefined && { ends: parseInstant(ends, '--ends') }),
      };
      await useAdmin(terminal, options, async (admin) => {
        const made = await admin.keys.rotate(input);
        const hint = `Save it now: it is not shown again. Its key id is ${made.keyId}. Key ${input.keyId} works until ${made.replaced.ends}.`;
        return { json: made, text: made.key, hint };
      });
    });
}
