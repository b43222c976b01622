import type { Command } from 'commander';
import { UsageError } from '../connect/errors.ts';
import type { PersonalKind } from '../connect/person.ts';
import { type AccountsOptions, checkLocation, printResult, type Terminal, withAccounts } from './command.ts';

/** `person`: what a person may ask of whoever keeps their data (AVG, articles 15 and 17). */
export function addPersonCommands(program: Command, terminal: Terminal): void {
  const person = program.command('person').description("a person's own data: export and erasure");
  withAccounts(person.command('export'))
    .description('print everything that the accounts table has about an e-mail address')
    .argument('<email>', 'the e-mail address')
    .addHelpText('after', '\nExample:\n  npx bag-adres person export jo@example.nl --local')
    .action(async (email: string, options: AccountsOptions) => {
      const address = emailIn(email);
      await withTable(options, terminal, async ({ client, table }) => {
        const { personalData } = await import('../connect/person.ts');
        const found = await personalData(client, table, address);
        const count = (kind: PersonalKind) => found.filter((one) => one.kind === kind).length;
        const text = [
          `${address}: ${count('membership')} items on memberships, ${count('details')} on details of accounts, ${count('session')} on sessions, ${count('audit')} entries of the audit, ${count('other')} other.`,
          ...found.map(({ kind, item }) => `${kind}: ${JSON.stringify(item)}`),
        ];
        // The items as they are stored: names in them are not ours to change.
        if (options.json) terminal.out(JSON.stringify(found, null, 2));
        else terminal.out(text.join('\n'));
      });
    });

  withAccounts(person.command('erase'))
    .description(
      'remove the memberships and sessions of a person, and the address from details of accounts and the audit',
    )
    .argument('<email>', 'the e-mail address')
    .option('--yes', 'carry it out; without it nothing is changed')
    .addHelpText(
      'after',
      `
The audit keeps what was changed and when; "erased-" and a hash take the place of the address. Logs name no members. Backups
keep it until they expire: point-in-time recovery after 35 days, backup sets as the rules of their bucket say.

Example:
  npx bag-adres person erase jo@example.nl --local`,
    )
    .action(async (email: string, { yes, ...options }: AccountsOptions & { yes?: true }) => {
      const address = emailIn(email);
      await withTable(options, terminal, async ({ admin, client, table }) => {
        const { erasePerson, personalData } = await import('../connect/person.ts');
        const before = await personalData(client, table, address);
        if (!yes) {
          const text = `Would erase ${address} from ${before.length} items; "person export" lists them. Run it again with --yes to carry this out.`;
          printResult(terminal, options, { json: { items: before.length, executed: false }, text });
          return;
        }
        const erasure = await erasePerson(admin, client, table, address);
        const { memberships, details, sessions, audit, left } = erasure;
        const text = [
          `Removed ${memberships} memberships and ${sessions} items on sessions, and the address from the details of ${details} accounts and ${audit} entries of the audit.`,
          ...left.map((line) => `Left: ${line}`),
        ].join('\n');
        printResult(terminal, options, { json: { ...erasure, executed: true }, text });
      });
    });
}

function emailIn(text: string): string {
  if (/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(text)) return text.toLowerCase();
  throw new UsageError(`"${text}" is no e-mail address.`);
}

async function withTable(
  options: AccountsOptions,
  terminal: Terminal,
  work: (opened: Awaited<ReturnType<typeof import('../connect/admin.ts')['openAdmin']>>) => Promise<void>,
): Promise<void> {
  checkLocation(options);
  const { openAdmin } = await import('../connect/admin.ts');
  const opened = await openAdmin(options, terminal.env);
  try {
    await work(opened);
  } finally {
    opened.close();
  }
}
