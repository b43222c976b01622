import { Option } from 'commander';
import type { MemberView } from '../../packages/admin/accounts/account-members.ts';
import type { KeySearch } from '../../packages/admin/accounts/find-keys.ts';
import type { KeyView } from '../../packages/admin/accounts/keys.ts';
import type { SessionScope, SessionView } from '../../packages/admin/accounts/sessions.ts';
import type { RotationStep } from '../connect/checksum-rotation.ts';
import { UsageError } from '../connect/errors.ts';
import { allPages, type CliCommand, counted, type Result } from './command.ts';
import { table } from './text-table.ts';
import { ago } from './time.ts';
import { accountId, keyId, label, memberRole, person, until } from './values.ts';

type OfAccount = { account: string };

/** Access to accounts: `key`, `member`, `session`, and the rotation of the secret of the checksums of keys. */
export function addAccessCommands(program: CliCommand): void {
  const key = program.command('key').description('API keys of an account');
  addCreateKey(key);
  key
    .command('list')
    .description('list the keys of an account, also revoked ones; never the key itself')
    .requiredOption('--account <id>', 'the account', accountId)
    .onAccounts(async ({ admin }, { account }: OfAccount) => {
      const keys = await admin.keys.list(account);
      return { json: keys, text: renderKeys(keys, account, key.terminal.columns) };
    });
  addFindKey(key);
  ofKey(key.command('rename'))
    .description('give a key another label; requests with it are not touched')
    .requiredOption('--label <text>', 'the new label', label)
    .onAccounts(async ({ admin }, keyId: string, { account, label }: OfAccount & { label: string }) => {
      const renamed = await admin.keys.rename({ account, keyId, label });
      return { json: renamed, text: renderKeys([renamed], account, key.terminal.columns) };
    });
  addRotateKey(key);
  addRevokeKey(key);
  addMemberCommands(program.command('member').description('who may sign in to the portal for an account'));
  addSessionCommands(program.command('session').description('who is signed in to the portal'));
  addRotation(program);
}

function addCreateKey(key: CliCommand): void {
  key
    .command('create')
    .description('create a key and print it; shown once, it is not stored')
    .requiredOption('--account <id>', 'the account whose quota its requests count against', accountId)
    .requiredOption('--label <text>', 'the use of the key, like "webshop"; the owner of the key can read it', label)
    .option(
      '--expires <date>',
      'the last day that it works, in Dutch time: 2027-01-31; or until 2027-01-31T12:00:00Z',
      until('--expires'),
    )
    .notes('To replace a key without a refused request: key rotate. Only the key is on standard output.')
    .examples('key create --account acme --label webshop --local')
    .onAccounts(async ({ admin }, { account, label, expires }: OfAccount & { label: string; expires?: Date }) => {
      const made = await admin.keys.create({ account, label, ...(expires && { expires }) });
      return { json: made, text: made.key, hint: `Save it now: it is not shown again. Its key id is ${made.keyId}.` };
    });
}

/** A key in an argument would stay in the history of the shell, and others would see it in the list of processes. */
function addFindKey(key: CliCommand): void {
  const { ask, read } = key.terminal;
  key
    .command('find')
    .description('find the account of a key that leaked, by the key or its id')
    .argument('[key-id]', 'the id; leave it out to give the whole key on standard input', idToFind)
    .notes(
      'Nothing keeps the key that it reads. Without an id it asks for it, or reads it: key find --local < leaked.txt',
    )
    .examples('key find b9uDEGM7 --local')
    .onAccounts(async ({ admin }, id: string | undefined) => {
      const text = id ?? (await (read ?? (() => ask?.('The key, or its id: ')))());
      if (!text) throw new UsageError('Give the id of a key, or the whole key on standard input.');
      const found = await admin.keys.find(text);
      return { json: found, text: renderFound(found, key.terminal.columns) };
    });
}

/** Reads an id as `keyId` does. Whoever gives a whole key is told to pass it on standard input. @throws UsageError */
function idToFind(given: string): string {
  try {
    return keyId(given);
  } catch (error) {
    throw new UsageError(
      `${(error as Error).message} Leave it out: the key is then asked for, or read from standard input.`,
    );
  }
}

function renderFound({ given, keys }: KeySearch, columns: number | undefined): string {
  const mistyped = 'A character of this key is wrong or missing: its checksum does not match.';
  const [first] = keys;
  if (!first) return given === 'mistyped' ? `${mistyped} No key has its id.` : 'No key has this id.';
  const rows = keys.map(({ account, keyId, label, state, createdBy, lastUsed }) => [
    ...[account, keyId, label ?? '-', state, createdBy ?? '-', ago(lastUsed)],
  ]);
  return [
    ...(given === 'mistyped' ? [`${mistyped} This is the key with its id.`] : []),
    table(['account', 'key id', 'label', 'state', 'created by', 'last used'], rows, columns, ['created by']),
    ...(first.state === 'active'
      ? [
          `Replace it: "key rotate ${first.keyId} --account ${first.account}". Or revoke it: "key revoke ${first.keyId} --account ${first.account}".`,
        ]
      : []),
  ].join('\n');
}

function ofKey(command: CliCommand): CliCommand {
  return command
    .argument('<key-id>', 'the key id, as "key list" shows it; never the key itself', keyId)
    .requiredOption('--account <id>', 'the account of the key', accountId);
}

function addRotateKey(key: CliCommand): void {
  ofKey(key.command('rotate'))
    .description('replace a key and print the new one; the old one goes on working until its end')
    .option('--label <text>', 'of the new key (default: the old label with a number)', label)
    .option(
      '--ends <date>',
      'the last day that the old key works, or a time, as for "key create" (default: 24 hours from now)',
      until('--ends'),
    )
    .onAccounts(
      async ({ admin }, keyId: string, { account, label, ends }: OfAccount & { label?: string; ends?: Date }) => {
        const made = await admin.keys.rotate({ account, keyId, ...(label && { label }), ...(ends && { ends }) });
        const hint = `Save it now: it is not shown again. Its key id is ${made.keyId}. Key ${keyId} works until ${made.replaced.ends}.`;
        return { json: made, text: made.key, hint };
      },
    );
}

function addRevokeKey(key: CliCommand): void {
  ofKey(key.command('revoke'))
    .description('revoke a key permanently; its next request is refused')
    .onAccounts(async ({ admin, carryOut }, keyId: string, { account }: OfAccount) => {
      const key = (await admin.keys.list(account)).find((key) => key.keyId === keyId && key.state !== 'revoked');
      const intent =
        key === undefined
          ? {
              nothing: `Account "${account}" has no active key ${keyId}. List its keys: "key list --account ${account}".`,
            }
          : `Revokes key ${keyId}${key.label === null ? '' : `, "${key.label}"`}, of account "${account}", ${lastUseOf(key)}, for good. Its next request is refused with 401; the other keys go on.`;
      return carryOut(intent, async () => {
        const revoked = await admin.keys.revoke({ account, keyId });
        return { json: revoked, text: `Key ${keyId} of account "${account}" is revoked.` };
      });
    });
}

/** The day of the last use is all that is recorded of it. */
function lastUseOf({ lastUsed }: KeyView): string {
  return lastUsed === null ? 'never used' : `last used ${ago(lastUsed)}, on ${lastUsed}`;
}

/** Keys as a table, by their ids. */
export function renderKeys(keys: KeyView[], account: string, columns: number | undefined): string {
  if (keys.length === 0) return `There are no keys yet. Create one: "key create --account ${account} --label webshop".`;
  return table(
    ['key id', 'label', 'state', 'created', 'last used', 'expires', 'revoked'],
    keys.map(({ keyId, label, state, created, lastUsed, expires, revoked }) => [
      ...[keyId, label ?? '-', state, ago(created), ago(lastUsed), expires ?? '-', ago(revoked)],
    ]),
    columns,
    ['created'],
  );
}

const personArgument = 'the verified e-mail address, or "sub:" and the subject that the OpenID provider gives';

function addMemberCommands(member: CliCommand): void {
  member
    .command('add')
    .description('make a person a member of an account, or give a member another role')
    .argument('<person>', personArgument, person)
    .requiredOption('--account <id>', 'the account', accountId)
    .option(
      '--role <role>',
      'finance: usage and statements only; viewer: looks only; admin: also changes keys and members',
      memberRole,
      'viewer',
    )
    .examples('member add jo@example.nl --account acme --role admin --local')
    .onAccounts(async ({ admin }, person: string, { account, role }: OfAccount & { role: MemberView['role'] }) => {
      const added = await admin.members.add({ account, person, role });
      return { json: added, text: `${added.person} is ${added.role} of account "${account}".` };
    });
  member
    .command('remove')
    .description('remove a member of an account; the next request of that person is refused')
    // Not checked: somebody whom another version accepted must be removable.
    .argument('<person>', personArgument)
    .requiredOption('--account <id>', 'the account', accountId)
    .onAccounts(async ({ admin }, person: string, { account }: OfAccount) => {
      await admin.members.remove({ account, person });
      return { json: { removed: person }, text: `${person} was removed from account "${account}".` };
    });
  member
    .command('list')
    .description('list the members of an account')
    .requiredOption('--account <id>', 'the account', accountId)
    .onAccounts(async ({ admin }, { account }: OfAccount) => {
      const members = await admin.members.list(account);
      return { json: members, text: renderMembers(members, account, member.terminal.columns) };
    });
}

function renderMembers(members: MemberView[], account: string, columns: number | undefined): string {
  if (members.length === 0)
    return `There are no members yet. Add one: "member add jo@example.nl --account ${account}".`;
  return table(
    ['member', 'role', 'added'],
    members.map(({ person, role, added }) => [person, role, ago(added)]),
    columns,
  );
}

type ScopeOptions = { person?: string; account?: string; all?: true };

function addSessionCommands(session: CliCommand): void {
  withScope(session.command('list'))
    .description('list open sessions: person, start, last use, browser')
    .examples('session list --account acme --local')
    .onAccounts(async ({ admin }, options: ScopeOptions) => {
      const scope = scopeIn(options);
      const found = await allPages(
        (page) => admin.sessions.list(scope, page),
        (page) => page.sessions,
      );
      // The id of a session is half of what signs somebody in.
      return {
        json: found.map(({ id: _, ...session }) => session),
        text: renderSessions(found, session.terminal.columns),
      };
    });
  withScope(session.command('end'))
    .description('end open sessions: the next request with one leads to the sign-in page')
    .examples('session end --person jo@example.nl --local')
    .onAccounts(async ({ admin }, options: ScopeOptions) => {
      const ended = await admin.sessions.endAll(scopeIn(options));
      return { json: { ended }, text: `${counted(ended, 'session')} ended.` };
    });
}

function withScope(command: CliCommand): CliCommand {
  const option = (flags: string, description: string, others: string[]) =>
    new Option(flags, description).conflicts(others);
  return command
    .addOption(
      option('--person <person>', 'of this e-mail address, or "sub:" and a subject', ['account', 'all']).argParser(
        person,
      ),
    )
    .addOption(option('--account <id>', 'of the members of this account', ['person', 'all']).argParser(accountId))
    .addOption(option('--all', 'of everybody, operators too', ['person', 'account']))
    .checks(scopeIn);
}

/** @throws UsageError */
function scopeIn({ person, account, all }: ScopeOptions): SessionScope {
  if (person !== undefined) return { person };
  if (account !== undefined) return { account };
  if (all) return 'all';
  throw new UsageError('Name whose sessions: --person, --account or --all.');
}

function renderSessions(sessions: readonly SessionView[], columns: number | undefined): string {
  if (sessions.length === 0) return 'There are no open sessions.';
  return table(
    ['person', 'since', 'last used', 'expires', 'browser'],
    sessions.map(({ people, started, seen, expires, browser }) => [
      ...[people.join(', '), ago(started), ago(seen), ago(expires), browser],
    ]),
    columns,
  );
}

/** Each call does the step of a rotation that is due, or lists the keys that must be replaced before it. */
function addRotation(program: CliCommand): void {
  program
    .command('rotate-checksum-secret')
    .description('replace the checksum secret without one refused request; then end the old one')
    .notes(
      `The service accepts keys of both secrets until you have replaced the old keys and run this again. An interrupted rotation
continues. See docs/runbook.md#rotate-the-checksum-secret.`,
    )
    .examples('rotate-checksum-secret --stage prod')
    .onAccounts(async ({ admin, client, table: accounts, actor, carryOut }): Promise<Result> => {
      const [{ checksumRotation }, { createAdminStore }] = await Promise.all([
        import('../connect/checksum-rotation.ts'),
        import('../../packages/admin/accounts/admin-store.ts'),
      ]);
      const rotation = checksumRotation(createAdminStore(client, accounts, actor, Date.now), admin);
      const due = await rotation.step();
      if (due.step === 'start')
        return carryOut(
          'Creates another checksum secret, and signs new keys with it after 10 seconds. The service accepts keys of both.',
          async () => {
            await rotation.start();
            return renderRotation(await rotation.step());
          },
        );
      if (due.step === 'end')
        return carryOut(
          'Ends the old checksum secret, which signs no active key any more, after 10 seconds.',
          async () => {
            await rotation.end();
            return { json: { step: 'done', keys: [] }, text: 'The rotation is over: only the new secret is accepted.' };
          },
        );
      return renderRotation(due);
    });
}

function renderRotation(due: RotationStep): Result {
  const signed = 'New keys are signed with the new secret.';
  const again = 'run "rotate-checksum-secret --yes"';
  const keys = due.step === 'replace' ? due.keys : [];
  const [first] = keys;
  const json = { ...due, keys };
  if (!first) return { json, text: `${signed} No key of the old one is left: ${again} to end that.` };
  const rows = keys.map(({ account, keyId, label, created }) => [account, keyId, label ?? '-', ago(created)]);
  const text = [
    `${signed} Replace each of the old one's keys, the first with "key rotate ${first.keyId} --account ${first.account}":`,
    table(['account', 'key id', 'label', 'created'], rows),
    `When none is left, ${again} again.`,
  ].join('\n');
  return { json, text };
}
