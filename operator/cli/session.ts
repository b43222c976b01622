import { type Command, Option } from 'commander';
import type { SessionScope, SessionView } from '../../packages/admin/sessions.ts';
import { UsageError } from '../connect/errors.ts';
import {
  type AccountsOptions,
  accountId,
  allPages,
  counted,
  person,
  type Terminal,
  useAdmin,
  withAccounts,
} from './command.ts';
import { table } from './table.ts';

type ScopeOptions = AccountsOptions & { person?: string; account?: string; all?: true };

/** Who is signed in to the portal: listing and ending sessions. */
export function addSessionCommands(program: Command, terminal: Terminal): void {
  const session = program.command('session').description('who is signed in to the portal');
  withScope(session.command('list'))
    .description('list open sessions: whose, since when, last used, with which browser')
    .addHelpText('after', '\nExample:\n  npx bag-adres session list --account acme --local')
    .action(async (options: ScopeOptions) => {
      const scope = readScope(options);
      await useAdmin(terminal, options, async ({ sessions }) => {
        const found = await allPages(
          (page) => sessions.list(scope, page),
          (page) => page.sessions,
        );
        // The id of a session is half of what signs somebody in.
        return { json: found.map(({ id: _, ...session }) => session), text: renderSessions(found) };
      });
    });
  withScope(session.command('end'))
    .description('end open sessions: the next request with one leads to the sign-in page')
    .addHelpText('after', '\nExample:\n  npx bag-adres session end --person jo@example.nl --local')
    .action(async (options: ScopeOptions) => {
      const scope = readScope(options);
      await useAdmin(terminal, options, async ({ sessions }) => {
        const ended = await sessions.endAll(scope);
        return { json: { ended }, text: `${counted(ended, 'session')} ended.` };
      });
    });
}

function withScope(command: Command): Command {
  return withAccounts(command)
    .addOption(
      new Option('--person <person>', 'of this e-mail address, or "sub:" and a subject').conflicts(['account', 'all']),
    )
    .addOption(new Option('--account <id>', 'of the members of this account').conflicts(['person', 'all']))
    .addOption(new Option('--all', 'of everybody, operators too').conflicts(['person', 'account']));
}

function readScope({ person: who, account, all }: ScopeOptions): SessionScope {
  if (who !== undefined) return { person: person(who) };
  if (account !== undefined) return { account: accountId(account) };
  if (all) return 'all';
  throw new UsageError('Name whose sessions: --person, --account or --all.');
}

function renderSessions(sessions: readonly SessionView[]): string {
  if (sessions.length === 0) return 'There are no open sessions.';
  return table(
    ['person', 'since', 'last used', 'expires', 'browser'],
    sessions.map(({ people, started, seen, expires, browser }) => [people.join('\n'), started, seen, expires, browser]),
  );
}
