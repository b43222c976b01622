import { allPages } from '../../core/pages.ts';
import type { MemberView } from '../../packages/admin/accounts/account-members.ts';
import type { KeySearch } from '../../packages/admin/accounts/find-keys.ts';
import type { KeyView } from '../../packages/admin/accounts/keys.ts';
import type { SessionScope, SessionView } from '../../packages/admin/accounts/sessions.ts';
import type { RotationStep } from '../deployment/checksum-rotation.ts';
import { UsageError } from '../deployment/errors.ts';
import {
  addCalls,
  argument,
  type CallTools,
  type CommandRow,
  type CommandRows,
  call,
  type OfAccount,
  ofAccount,
  option,
  required,
} from './calls.ts';
import type { CliCommand, Intent, Result } from './command.ts';
import { ago, counted, lines, table } from './terminal-text.ts';
import {
  accountId,
  type KeyLimit,
  keyId,
  keyLimit,
  label,
  memberRole,
  person,
  until,
} from './values.ts';

type OfKey = OfAccount & { keyId: string };

const aKey = [
  argument('<key-id>', 'the key id, as "key list" shows it; never the key itself', keyId),
  ofAccount('the account of the key'),
];

/**
 * Access to accounts: `key`, `member`, `session`, and the rotation of the secret of the checksums
 * of keys.
 */
export function addAccessCommands(program: CliCommand): void {
  addCalls(program.command('key').description('API keys of an account'), keyCommands);
  addCalls(
    program.command('member').description('who may sign in to the portal for an account'),
    memberCommands,
  );
  addCalls(
    program.command('session').description('who is signed in to the portal'),
    sessionCommands,
  );
  addCalls(program, { 'rotate-checksum-secret': rotation });
}

const keyCommands: CommandRows = {
  create: call({
    description: 'create a key and print it; shown once, it is not stored',
    takes: [
      ofAccount('the account whose quota its requests count against'),
      required(
        '--label <text>',
        'the use of the key, like "webshop"; the owner of the key can read it',
        label,
      ),
      option(
        '--expires <date>',
        'the last day that it works, in Dutch time: 2027-01-31; or until 2027-01-31T12:00:00Z',
        until('--expires'),
      ),
      option(
        '--limit <day=number>',
        'the most requests in a UTC day, beside the limits of the account: day=500',
        keyLimit,
      ),
    ],
    notes:
      'To replace a key without a refused request: key rotate. Only the key is on standard output.',
    examples: ['key create --account acme --label webshop --local'],
    call: ({ admin }, given: OfAccount & { label: string; expires?: Date; limit?: KeyLimit }) => {
      const { account, label, expires, limit } = given;
      return admin.keys.create({ account, label, expires, limitPerDay: limit?.day });
    },
    text: ({ key }) => key,
    hint: ({ keyId }) => `Save it now: it is not shown again. Its key id is ${keyId}.`,
  }),
  list: call({
    description: 'list the keys of an account, also revoked ones; never the key itself',
    takes: [ofAccount()],
    call: ({ admin }, { account }: OfAccount) => admin.keys.list(account),
    text: (keys, { account }) => renderKeys(keys, account),
  }),
  find: call({
    description: 'find the account of a key that leaked, by the key or its id',
    takes: [
      argument(
        '[key-id]',
        'the id; leave it out to give the whole key on standard input',
        idToFind,
      ),
    ],
    notes:
      'Nothing keeps the key that it reads. Without an id it asks for it, or reads it: key find --local < leaked.txt',
    examples: ['key find b9uDEGM7 --local'],
    // A key in an argument would stay in the history of the shell, and others would see it in the
    // list of processes.
    async call({ admin, terminal: { ask, read } }, { keyId }: { keyId?: string }) {
      const text = keyId ?? (await (read ?? (() => ask?.('The key, or its id: ')))());
      if (!text) throw new UsageError('Give the id of a key, or the whole key on standard input.');
      return admin.keys.find(text);
    },
    text: renderFound,
  }),
  rename: call({
    description: 'give a key another label; requests with it are not touched',
    takes: [...aKey, required('--label <text>', 'the new label', label)],
    call: ({ admin }, { account, keyId, label }: OfKey & { label: string }) =>
      admin.keys.rename({ account, keyId, label }),
    text: (renamed, { account }) => renderKeys([renamed], account),
  }),
  set: call({
    description:
      'set the most requests of a key in a day; its next request is the first that it can refuse',
    takes: [
      ...aKey,
      required(
        '--limit <day=number>',
        'the most requests in a UTC day: day=500, or day=unlimited for the limits of the account alone',
        keyLimit,
      ),
    ],
    notes:
      'The limit protects an account from one of its keys: whoever manages the keys can change it. Limits of the account: account set.',
    examples: ['key set b9uDEGM7 --account acme --limit day=500 --stage prod'],
    call: ({ admin }, { account, keyId, limit }: OfKey & { limit: KeyLimit }) =>
      admin.keys.set({ account, keyId, limitPerDay: limit.day }),
    text: (changed, { account }) => renderKeys([changed], account),
  }),
  rotate: call({
    description: 'replace a key and print the new one; the old one goes on working until its end',
    takes: [
      ...aKey,
      option('--label <text>', 'of the new key (default: the old label with a number)', label),
      option(
        '--ends <date>',
        'the last day that the old key works, or a time, as for "key create" (default: 24 hours from now)',
        until('--ends'),
      ),
    ],
    call: ({ admin }, { account, keyId, label, ends }: OfKey & { label?: string; ends?: Date }) =>
      admin.keys.rotate({ account, keyId, label, ends }),
    text: ({ key }) => key,
    hint: ({ keyId, replaced }) =>
      `Save it now: it is not shown again. Its key id is ${keyId}. Key ${replaced.keyId} works until ${replaced.ends}.`,
  }),
  revoke: call({
    description: 'revoke a key permanently; its next request is refused',
    takes: aKey,
    plan: planOfRevocation,
    call: ({ admin }, { account, keyId }: OfKey) => admin.keys.revoke({ account, keyId }),
    text: (_, { account, keyId }) => `Key ${keyId} of account "${account}" is revoked.`,
  }),
};

/**
 * Reads an id as `keyId` does. Whoever gives a whole key is told to pass it on standard input.
 * @throws UsageError
 */
function idToFind(given: string): string {
  try {
    return keyId(given);
  } catch (error) {
    const advice = 'Leave it out: the key is then asked for, or read from standard input.';
    throw new UsageError(`${(error as Error).message} ${advice}`);
  }
}

function renderFound({ given, keys }: KeySearch): string {
  const mistyped = 'A character of this key is wrong or missing: its checksum does not match.';
  const [first] = keys;
  if (!first) {
    return given === 'mistyped' ? `${mistyped} No key has its id.` : 'No key has this id.';
  }
  const named = `${first.keyId} --account ${first.account}`;
  return lines(
    given === 'mistyped' && `${mistyped} This is the key with its id.`,
    table(['account', 'key id', 'label', 'state', 'created by', 'last used'], keys, (key) => {
      return [key.account, key.keyId, key.label, key.state, key.createdBy, ago(key.lastUsed)];
    }),
    first.state === 'active' &&
      `Replace it: "key rotate ${named}". Or revoke it: "key revoke ${named}".`,
  );
}

async function planOfRevocation({ admin }: CallTools, { account, keyId }: OfKey): Promise<Intent> {
  const key = (await admin.keys.list(account)).find(
    (key) => key.keyId === keyId && key.state !== 'revoked',
  );
  const nothing = `Account "${account}" has no active key ${keyId}. List its keys: "key list --account ${account}".`;
  if (key === undefined) return { nothing };
  const label = key.label === null ? '' : `, "${key.label}"`;
  const used =
    key.lastUsed === null ? 'never used' : `last used ${ago(key.lastUsed)}, on ${key.lastUsed}`;
  return `Revokes key ${keyId}${label}, of account "${account}", ${used}, for good. Its next request is refused with 401; the other keys go on.`;
}

export function renderKeys(keys: KeyView[], account: string): string {
  if (keys.length === 0) {
    return `There are no keys yet. Create one: "key create --account ${account} --label webshop".`;
  }
  return table(
    ['key id', 'label', 'state', 'created', 'last used', 'today', 'expires', 'revoked'],
    keys,
    (key) => {
      return [
        key.keyId,
        key.label,
        key.state,
        ago(key.created),
        ago(key.lastUsed),
        usedToday(key),
        key.expires,
        ago(key.revoked),
      ];
    },
  );
}

/** `123`, or `123 of 500` for a key with a limit. */
function usedToday({ usedToday, limitPerDay, state }: KeyView): string | null {
  if (limitPerDay !== null) return `${usedToday} of ${limitPerDay}`;
  return state === 'revoked' ? null : String(usedToday);
}

const personArgument =
  'the verified e-mail address, or "sub:" and the subject that the OpenID provider gives';

const memberCommands: CommandRows = {
  add: call({
    description: 'make a person a member of an account, or give a member another role',
    takes: [
      argument('<person>', personArgument, person),
      ofAccount(),
      option(
        '--role <role>',
        'finance: usage and statements only; viewer: looks only; admin: also changes keys and members',
        memberRole,
      ).default('viewer'),
    ],
    examples: ['member add jo@example.nl --account acme --role admin --local'],
    call: (
      { admin },
      { person, account, role }: OfAccount & { person: string; role: MemberView['role'] },
    ) => admin.members.add({ account, person, role }),
    text: ({ person, role }, { account }) => `${person} is ${role} of account "${account}".`,
  }),
  remove: call({
    description: 'remove a member of an account; the next request of that person is refused',
    takes: [argument('<person>', personArgument), ofAccount()],
    async call({ admin }, { person, account }: OfAccount & { person: string }) {
      await admin.members.remove({ account, person });
      return { removed: person };
    },
    text: ({ removed }, { account }) => `${removed} was removed from account "${account}".`,
  }),
  list: call({
    description: 'list the members of an account',
    takes: [ofAccount()],
    call: ({ admin }, { account }: OfAccount) => admin.members.list(account),
    text: (members, { account }) => renderMembers(members, account),
  }),
};

function renderMembers(members: MemberView[], account: string): string {
  if (members.length === 0) {
    return `There are no members yet. Add one: "member add jo@example.nl --account ${account}".`;
  }
  return table(['member', 'role', 'added'], members, ({ person, role, added }) => [
    person,
    role,
    ago(added),
  ]);
}

type ScopeOptions = { person?: string; account?: string; all?: true };

const scope = [
  option('--person <person>', 'of this e-mail address, or "sub:" and a subject', person).conflicts([
    'account',
    'all',
  ]),
  option('--account <id>', 'of the members of this account', accountId).conflicts([
    'person',
    'all',
  ]),
  option('--all', 'of everybody, operators too').conflicts(['person', 'account']),
];

const sessionCommands: CommandRows = {
  list: call({
    description: 'list open sessions: person, start, last use, browser',
    takes: scope,
    examples: ['session list --account acme --local'],
    check: scopeIn,
    async call({ admin }, options: ScopeOptions) {
      const found = await allPages(
        (page) => admin.sessions.list(scopeIn(options), page),
        ({ sessions }) => sessions,
      );
      // The id of a session is half of what signs somebody in.
      return found.map(({ id: _, ...session }) => session);
    },
    text: renderSessions,
  }),
  end: call({
    description: 'end open sessions: the next request with one leads to the sign-in page',
    takes: scope,
    examples: ['session end --person jo@example.nl --local'],
    check: scopeIn,
    call: async ({ admin }, options: ScopeOptions) => ({
      ended: await admin.sessions.endAll(scopeIn(options)),
    }),
    text: ({ ended }) => `${counted(ended, 'session')} ended.`,
  }),
};

/** @throws UsageError */
function scopeIn({ person, account, all }: ScopeOptions): SessionScope {
  if (person !== undefined) return { person };
  if (account !== undefined) return { account };
  if (all) return 'all';
  throw new UsageError('Name whose sessions: --person, --account or --all.');
}

function renderSessions(sessions: readonly Omit<SessionView, 'id'>[]): string {
  if (sessions.length === 0) return 'There are no open sessions.';
  return table(['person', 'since', 'last used', 'expires', 'browser'], sessions, (session) => {
    const { people, started, seen, expires, browser } = session;
    return [people.join(', '), ago(started), ago(seen), ago(expires), browser];
  });
}

/**
 * Each call does the step of a rotation that is due, or lists the keys that must be replaced before
 * it.
 */
const rotation: CommandRow = {
  description: 'replace the checksum secret without one refused request; then end the old one',
  notes: `The service accepts keys of both secrets until you have replaced the old keys and run this again. An interrupted rotation
continues. See docs/runbook.md#rotate-the-checksum-secret.`,
  examples: ['rotate-checksum-secret --stage prod'],
  async run({ admin, store, carryOut }): Promise<Result> {
    const { checksumRotation } = await import('../deployment/checksum-rotation.ts');
    const rotation = checksumRotation(store, admin);
    const due = await rotation.step();
    if (due.step === 'replace') return renderRotation(due);
    const isStart = due.step === 'start';
    const intent = isStart
      ? 'Creates another checksum secret, and signs new keys with it after 10 seconds. The service accepts keys of both.'
      : 'Ends the old checksum secret, which signs no active key any more, after 10 seconds.';
    return carryOut(intent, async () => {
      await rotation[due.step]();
      if (isStart) return renderRotation(await rotation.step());
      return {
        json: { step: 'done', keys: [] },
        text: 'The rotation is over: only the new secret is accepted.',
      };
    });
  },
};

function renderRotation(due: RotationStep): Result {
  const signed = 'New keys are signed with the new secret.';
  const again = 'run "rotate-checksum-secret --yes"';
  const keys = due.step === 'replace' ? due.keys : [];
  const [first] = keys;
  const json = { ...due, keys };
  if (!first) {
    return { json, text: `${signed} No key of the old one is left: ${again} to end that.` };
  }
  const text = lines(
    `${signed} Replace each of the old one's keys, the first with "key rotate ${first.keyId} --account ${first.account}":`,
    table(['account', 'key id', 'label', 'created'], keys, (key) => [
      key.account,
      key.keyId,
      key.label,
      ago(key.created),
    ]),
    `When none is left, ${again} again.`,
  );
  return { json, text };
}
