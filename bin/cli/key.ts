import type { Command } from 'commander';
import type { KeyView } from '../../lambdas/shared/accounts/keys.ts';
import { useAdmin } from '../connect/admin.ts';
import { accountId, type ConnectionOptions, keyId, label, type Terminal, withConnection } from './arguments.ts';
import { table } from './output.ts';

/** Keys as a table; what they open is not in it. */
export function renderKeys(keys: KeyView[]): string {
  if (keys.length === 0) return 'There are no keys yet; make one with "key create --account ID --label TEXT".';
  return table(
    ['key id', 'label', 'state', 'created', 'revoked'],
    keys.map(({ keyId, label, state, created, revoked }) => [
      keyId,
      label ?? '-',
      state,
      created ?? '-',
      revoked ?? '-',
    ]),
  );
}

type KeyOptions = ConnectionOptions & { account: string };

/** `key create`, `key list` and `key revoke`. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('what requests authenticate with');

  withConnection(key.command('create'))
    .description('make a key and print it; it is shown this once, for it is kept nowhere')
    .requiredOption('--account <id>', 'the account that its requests are charged to')
    .requiredOption('--label <text>', 'what the key is for, like "webshop"; its holder can read it')
    .addHelpText(
      'after',
      `
To replace a key without a refused request: create a new one, put it to use, then revoke the old one.

Example, with only the key on standard output:
  npm run -s bag-adres -- key create --account acme --label webshop`,
    )
    .action(async ({ account, label: text, ...options }: KeyOptions & { label: string }) => {
      const input = { account: accountId(account), label: label(text) };
      await useAdmin(terminal, options, async (admin) => {
        const made = await admin.keys.create(input);
        return { json: made, text: made.key, hint: `Keep it now: it is not shown again. Its key id is ${made.keyId}.` };
      });
    });

  withConnection(key.command('list'))
    .description('the keys of an account, revoked ones too; never what they open')
    .requiredOption('--account <id>', 'the account')
    .action(async ({ account, ...options }: KeyOptions) => {
      const id = accountId(account);
      await useAdmin(terminal, options, async (admin) => {
        const keys = await admin.keys.list(id);
        return { json: keys, text: renderKeys(keys) };
      });
    });

  withConnection(key.command('revoke'))
    .description('refuse a key for good, from the next request on')
    .argument('<key-id>', 'the key id, as "key list" shows it; never the key itself')
    .requiredOption('--account <id>', 'the account of the key')
    .action(async (id: string, { account, ...options }: KeyOptions) => {
      const input = { account: accountId(account), keyId: keyId(id) };
      await useAdmin(terminal, options, async (admin) => {
        const revoked = await admin.keys.revoke(input);
        return { json: revoked, text: `Key ${input.keyId} of account "${input.account}" is revoked.` };
      });
    });
}
