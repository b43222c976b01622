import type { Command } from 'commander';
import type { MemberView } from '../../lambdas/shared/accounts/members.ts';
import { type AccountsOptions, accountId, memberRole, person, useAdmin, withAccounts } from './arguments.ts';
import { type Terminal, table } from './output.ts';

type MemberOptions = AccountsOptions & { account: string };

const argument = 'the verified e-mail address, or "sub:" and the subject that the OpenID provider gives';

/** `member add`, `member remove` and `member list`. */
export function addMemberCommands(program: Command, terminal: Terminal): void {
  const member = program.command('member').description('who may sign in to the portal for an account');
  addAdd(member, terminal);
  addRemove(member, terminal);
  addList(member, terminal);
}

function addAdd(member: Command, terminal: Terminal): void {
  withAccounts(member.command('add'))
    .description('make a person a member of an account, or give a member another role')
    .argument('<person>', argument)
    .requiredOption('--account <id>', 'the account')
    .option('--role <role>', 'viewer: looks only; admin: also changes keys and members', 'viewer')
    .addHelpText(
      'after',
      '\nExample:\n  npm run bag-adres -- member add jo@example.nl --account acme --role admin --local',
    )
    .action(async (who: string, { account, role, ...options }: MemberOptions & { role: string }) => {
      const input = { account: accountId(account), person: person(who), role: memberRole(role) };
      await useAdmin(terminal, options, async (admin) => {
        const added = await admin.members.add(input);
        return { json: added, text: `${added.person} is ${added.role} of account "${input.account}".` };
      });
    });
}

function addRemove(member: Command, terminal: Terminal): void {
  withAccounts(member.command('remove'))
    .description('remove a member of an account; the next request of that person is refused')
    .argument('<person>', argument)
    .requiredOption('--account <id>', 'the account')
    .action(async (who: string, { account, ...options }: MemberOptions) => {
      const input = { account: accountId(account), person: person(who) };
      await useAdmin(terminal, options, async (admin) => {
        await admin.members.remove(input);
        return {
          json: { removed: input.person },
          text: `${input.person} was removed from account "${input.account}".`,
        };
      });
    });
}

function addList(member: Command, terminal: Terminal): void {
  withAccounts(member.command('list'))
    .description('list the members of an account')
    .requiredOption('--account <id>', 'the account')
    .action(async ({ account, ...options }: MemberOptions) => {
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
