import type { Command } from 'commander';
import type { KeyView } from '../../lambdas/shared/accounts/keys.ts';
import { UsageError } from '../connect/errors.ts';
import { type AccountsOptions, accountId, keyId, label, useAdmin, withAccounts } from './arguments.ts';
import { type Terminal, table } from './output.ts';

type KeyOptions = AccountsOptions & { account: string };

/** `key create`, `key list` and `key revoke`. */
export function addKeyCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('API keys of an account');
  addCreate(key, terminal);
  addList(key, terminal);
  addRevoke(key, terminal);
}

function addCreate(key: Command, terminal: Terminal): void {
  withAccounts(key.command('create'))
    .description('create a key and print it; shown once, it is not stored')
    .requiredOption('--account <id>', 'the account whose quota its requests count against')
    .requiredOption('--label <text>', 'what the key is for, like "webshop"; the owner of the key can read it')
    .option('--expires <date>', 'refuse it from then on: 2027-01-31, or 2027-01-31T12:00:00Z; both are UTC')
    .addHelpText(
      'after',
      `
To replace a key without a refused request: create a new one, start using it, then revoke the old one.

Example, with only the key on standard output:
  npm run -s bag-adres -- key create --account acme --label webshop --local`,
    )
    .action(async ({ account, label: text, expires, ...options }: KeyOptions & { label: string; expires?: string }) => {
      const input = {
        account: accountId(account),
        label: label(text),
        ...(expires !== undefined && { expires: parseInstant(expires) }),
      };
      await useAdmin(terminal, options, async (admin) => {
        const made = await admin.keys.create(input);
        return { json: made, text: made.key, hint: `Save it now: it is not shown again. Its key id is ${made.keyId}.` };
      });
    });
}

/** `2027-01-31` or `2027-01-31T12:00:00Z`. */
function parseInstant(text: string): Date {
  const date = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);
  const written = Number.isNaN(date.getTime()) ? '' : date.toISOString().replace('.000Z', 'Z');
  if (written === text || written === `${text}T00:00:00Z`) return date;
  throw new UsageError(`--expires takes a date in UTC, 2027-01-31 or 2027-01-31T12:00:00Z, not "${text}".`);
}

function addList(key: Command, terminal: Terminal): void {
  withAccounts(key.command('list'))
    .description('list the keys of an account, also revoked ones; never the key itself')
    .requiredOption('--account <id>', 'the account')
    .action(async ({ account, ...options }: KeyOptions) => {
      const id = accountId(account);
      await useAdmin(terminal, options, async (admin) => {
        const keys = await admin.keys.list(id);
        return { json: keys, text: renderKeys(keys) };
      });
    });
}

function addRevoke(key: Command, terminal: Terminal): void {
  withAccounts(key.command('revoke'))
    .description('revoke a key permanently; its next request is refused')
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

/** Keys as a table, by their ids. */
export function renderKeys(keys: KeyView[]): string {
  if (keys.length === 0) return 'There are no keys yet. Create one with "key create --account ID --label TEXT".';
  return table(
    ['key id', 'label', 'state', 'created', 'expires', 'revoked'],
    keys.map(({ keyId, label, state, created, expires, revoked }) => [
      keyId,
      label ?? '-',
      state,
      created ?? '-',
      expires ?? '-',
      revoked ?? '-',
    ]),
  );
}
