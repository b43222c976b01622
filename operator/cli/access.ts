import type { Command } from 'commander';
import type { KeyView } from '../../core/accounts/admin/key-views.ts';
import type { MemberView } from '../../core/accounts/admin/members.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import type { openChecksumSecret, RotationStep } from '../connect/checksum-rotation.ts';
import {
  type AccountsOptions,
  accountId,
  carryOut,
  keyId,
  label,
  memberRole,
  type Planned,
  parseInstant,
  person,
  planOption,
  type Result,
  type Terminal,
  useAdmin,
  withAccounts,
} from './command.ts';
import { addRotateKey } from './rotate-key.ts';
import { table } from './table.ts';

type ChecksumSecret = Awaited<ReturnType<typeof openChecksumSecret>>;

type OfAccount = AccountsOptions & { account: string };

/** Access to accounts: `key`, `member`, and the rotation of the secret of the checksums of keys. */
export function addAccessCommands(program: Command, terminal: Terminal): void {
  const key = program.command('key').description('API keys of an account');
  addCreateKey(key, terminal);
  addListKeys(key, terminal);
  addRenameKey(key, terminal);
  addRotateKey(key, terminal);
  addRevokeKey(key, terminal);
  const member = program.command('member').description('who may sign in to the portal for an account');
  addAddMember(member, terminal);
  addRemoveMember(member, terminal);
  addListMembers(member, terminal);
  addRotation(program, terminal);
}

function addCreateKey(key: Command, terminal: Terminal): void {
  withAccounts(key.command('create'))
    .description('create a key and print it; shown once, it is not stored')
    .requiredOption('--account <id>', 'the account whose quota its requests count against')
    .requiredOption('--label <text>', 'what the key is for, like "webshop"; the owner of the key can read it')
    .option('--expires <date>', 'refuse it from then on: 2027-01-31, or 2027-01-31T12:00:00Z; both are UTC')
    .addHelpText(
      'after',
      `
To replace a key without a refused request: key rotate.

Example, with only the key on standard output:
  npx bag-adres key create --account acme --label webshop --local`,
    )
    .action(async ({ account, label: text, expires, ...options }: OfAccount & { label: string; expires?: string }) => {
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

function addListKeys(key: Command, terminal: Terminal): void {
  withAccounts(key.command('list'))
    .description('list the keys of an account, also revoked ones; never the key itself')
    .requiredOption('--account <id>', 'the account')
    .action(async ({ account, ...options }: OfAccount) => {
      const id = accountId(account);
      await useAdmin(terminal, options, async (admin) => {
        const keys = await admin.keys.list(id);
        return { json: keys, text: renderKeys(keys) };
      });
    });
}

function addRenameKey(key: Command, terminal: Terminal): void {
  withAccounts(key.command('rename'))
    .description('give a key another label; requests with it are not touched')
    .argument('<key-id>', 'the key id, as "key list" shows it; never the key itself')
    .requiredOption('--account <id>', 'the account of the key')
    .requiredOption('--label <text>', 'the new label')
    .action(async (id: string, { account, label: text, ...options }: OfAccount & { label: string }) => {
      const input = { account: accountId(account), keyId: keyId(id), label: label(text) };
      await useAdmin(terminal, options, async (admin) => {
        const renamed = await admin.keys.rename(input);
        return { json: renamed, text: renderKeys([renamed]) };
      });
    });
}

function addRevokeKey(key: Command, terminal: Terminal): void {
  withAccounts(key.command('revoke'))
    .description('revoke a key permanently; its next request is refused')
    .argument('<key-id>', 'the key id, as "key list" shows it; never the key itself')
    .requiredOption('--account <id>', 'the account of the key')
    .option(...planOption)
    .action(async (id: string, { account, plan, ...options }: OfAccount & Planned) => {
      const input = { account: accountId(account), keyId: keyId(id) };
      await useAdmin(terminal, options, async (admin) => {
        const known = (await admin.keys.list(input.account)).some((key) => key.keyId === input.keyId);
        const intent =
          known &&
          `Revokes key ${input.keyId} of account "${input.account}", for good. Its next request is refused with 401; the other keys go on.`;
        return carryOut(terminal, { ...options, plan }, intent, async () => {
          const revoked = await admin.keys.revoke(input);
          return { json: revoked, text: `Key ${input.keyId} of account "${input.account}" is revoked.` };
        });
      });
    });
}

/** Keys as a table, by their ids. */
export function renderKeys(keys: KeyView[]): string {
  if (keys.length === 0) return 'There are no keys yet. Create one with "key create --account ID --label TEXT".';
  return table(
    ['key id', 'label', 'state', 'created', 'last used', 'expires', 'revoked'],
    keys.map(({ keyId, label, state, created, lastUsed, expires, revoked }) => [
      keyId,
      label ?? '-',
      state,
      created ?? '-',
      lastUsed ?? '-',
      expires ?? '-',
      revoked ?? '-',
    ]),
  );
}

/** Walks through a rotation: each call does the step that is due, or says what has to be done before it. */
function addRotation(program: Command, terminal: Terminal): void {
  program
    .command('rotate-checksum-secret')
    .description('replace the checksum secret of a deployment step by step, without one refused request')
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .option('--start', 'start a rotation; without it only one that is under way continues')
    .requiredOption('--stack <name>', 'a deployment, like bag-adres-prod, or any of its stacks')
    .addHelpText(
      'after',
      `
Run it after each step that it asks for: start; deploy the service with both versions; replace the old keys; deploy the
service with the new version only. See docs/runbook.md#rotate-the-checksum-secret.

Example:
  npx bag-adres rotate-checksum-secret --stack bag-adres-prod`,
    )
    .action(async ({ start, ...options }: { json?: true; start?: true; stack: string }) => {
      // Imported here because the AWS clients load slower than `--help` should print.
      const { openChecksumSecret } = await import('../connect/checksum-rotation.ts');
      const secret = await openChecksumSecret(options.stack, terminal.err);
      try {
        await useAdmin(terminal, options, (admin) => rotate(secret, admin, start === true));
      } finally {
        secret.close();
      }
    });
}

async function rotate(secret: ChecksumSecret, admin: Admin, start: boolean): Promise<Result> {
  const { rotationStep } = await import('../connect/checksum-rotation.ts');
  let state = await secret.state();
  let due = rotationStep(state);
  if (due.step === 'start' && start) {
    const next = await secret.addVersion(state.current);
    due = { step: 'deploy', versions: [next, state.current] };
  }
  if (due.step === 'switch') {
    await secret.makeCurrent(due.next, state.current);
    state = await secret.state();
    due = rotationStep(state);
  }
  const keys = due.step === 'replace' ? await keysOfOther(admin, await secret.fingerprint()) : [];
  return { json: { ...due, keys }, text: renderRotation(due, keys, secret) };
}

type OldKey = { account: string; keyId: string; label: string | null; created: string | null };

/**
 * The active keys that were not issued with the current secret, at whatever time: a portal that was given the old one
 * as a text goes on issuing keys with it. Keys of which it is not known, as a version up to 1.0 issued them, may be
 * among these.
 */
async function keysOfOther(admin: Admin, fingerprint: string): Promise<OldKey[]> {
  const { accounts } = await admin.backup.export();
  return accounts.flatMap(({ id: account, keys }) =>
    keys
      .filter(({ hash, secret }) => hash !== null && secret !== fingerprint)
      .map(({ keyId, label, created }) => ({
        account,
        keyId,
        label,
        created: created === null ? null : new Date(created * 1000).toISOString(),
      })),
  );
}

function renderRotation(due: RotationStep, keys: readonly OldKey[], { serviceStack, name }: ChecksumSecret): string {
  const again = `run "rotate-checksum-secret --stack ${name}" again`;
  const deploy = (versions: readonly string[]) =>
    [
      'Set this in bag-adres.json, in the stage (in a former cdk.json: in "bagAdres"):',
      `  "checksumSecretVersions": ${JSON.stringify(versions)}`,
      `Deploy it: npx cdk deploy ${serviceStack}`,
    ].join('\n');
  switch (due.step) {
    case 'start':
      return 'No rotation is under way. Start one with --start.';
    case 'wait':
      return `${serviceStack} is being deployed. When that has ended, ${again}.`;
    case 'deploy':
      return `The service has to accept both versions of the secret first.\n${deploy(due.versions)}\nThen ${again}.`;
    case 'switch':
      return `The new version is not current yet; ${again}.`;
    case 'replace': {
      const issued = 'New keys are issued with the new version of the secret; the service accepts both.';
      const end = `${deploy(due.versions)}\nThat ends the rotation: keys of the old version are refused from then on.`;
      if (keys.length === 0) return `${issued} No key of the old version is left.\n${end}`;
      const rows = keys.map(({ account, keyId, label, created }) => [account, keyId, label ?? '-', created ?? '-']);
      return [
        `${issued} Replace these keys ("key create", then "key revoke"):`,
        table(['account', 'key id', 'label', 'created'], rows),
        'A portal of your own that passes the secret as a text issues keys with the old version until it is restarted: restart it first.',
        `When none is left, ${again}.`,
      ].join('\n');
    }
  }
}

const personArgument = 'the verified e-mail address, or "sub:" and the subject that the OpenID provider gives';

function addAddMember(member: Command, terminal: Terminal): void {
  withAccounts(member.command('add'))
    .description('make a person a member of an account, or give a member another role')
    .argument('<person>', personArgument)
    .requiredOption('--account <id>', 'the account')
    .option('--role <role>', 'viewer: looks only; admin: also changes keys and members', 'viewer')
    .addHelpText('after', '\nExample:\n  npx bag-adres member add jo@example.nl --account acme --role admin --local')
    .action(async (who: string, { account, role, ...options }: OfAccount & { role: string }) => {
      const input = { account: accountId(account), person: person(who), role: memberRole(role) };
      await useAdmin(terminal, options, async (admin) => {
        const added = await admin.members.add(input);
        return { json: added, text: `${added.person} is ${added.role} of account "${input.account}".` };
      });
    });
}

function addRemoveMember(member: Command, terminal: Terminal): void {
  withAccounts(member.command('remove'))
    .description('remove a member of an account; the next request of that person is refused')
    .argument('<person>', personArgument)
    .requiredOption('--account <id>', 'the account')
    .action(async (who: string, { account, ...options }: OfAccount) => {
      // Not checked: somebody whom an earlier version accepted must be removable.
      const input = { account: accountId(account), person: who };
      await useAdmin(terminal, options, async (admin) => {
        await admin.members.remove(input);
        return {
          json: { removed: input.person },
          text: `${input.person} was removed from account "${input.account}".`,
        };
      });
    });
}

function addListMembers(member: Command, terminal: Terminal): void {
  withAccounts(member.command('list'))
    .description('list the members of an account')
    .requiredOption('--account <id>', 'the account')
    .action(async ({ account, ...options }: OfAccount) => {
      const id = accountId(account);
      await useAdmin(terminal, options, async (admin) => {
        const members = await admin.members.list(id);
        return { json: members, text: renderMembers(members) };
      });
    });
}

function renderMembers(members: MemberView[]): string {
  if (members.length === 0) return 'There are no members yet. Add one with "member add PERSON --account ID".';
  return table(
    ['member', 'role', 'added'],
    members.map(({ person, role, added }) => [person, role, added]),
  );
}
