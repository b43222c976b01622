import { CommandError, UsageError } from '../connect/errors.ts';
import type { RefusedChange } from '../recovery/carry-over.ts';
import { type CliCommand, counted } from './command.ts';

type CarryOverOptions = { from: string; since: Date; yes?: true };

/** `restore carry-over`: what AWS's restore of the accounts table gives back although it was withdrawn since. */
export function addRestoreCommands(program: CliCommand): void {
  program
    .command('restore')
    .description('after AWS has restored the accounts table')
    .command('carry-over')
    .description(
      'repeat withdrawals from the old accounts table in the restored one: shows the plan; --yes carries it out',
    )
    .requiredOption('--from <table>', 'the accounts table from before, which is only read')
    .requiredOption('--since <time>', 'the time that was restored, in UTC: 2026-01-31T12:00:00Z', parseTime)
    .notes(
      `Repeats revoked keys, suspended and deleted accounts, limits, removed members, ended sessions and erased persons, each as the old
table has it now. Later creations are listed, and stay lost. Run it on the restored table before a deployment puts that table to
use, and again afterwards. See docs/runbook.md#restore-a-table.`,
    )
    .examples(
      'restore carry-over --from OLD --since 2026-01-31T12:00:00Z --accounts-table RESTORED',
      'restore carry-over --from OLD --since 2026-01-31T12:00:00Z --stage prod --yes',
    )
    .onAccounts(async ({ admin, client, table, actor, ...command }, options: CarryOverOptions) => {
      const { from, since, yes } = options;
      const { carryOver, planCarryOver } = await import('../recovery/carry-over.ts');
      command.tell(`Into: ${await command.target()}`);
      const { repeated, lost } = await planCarryOver({ client, admin, table, from, since });
      const changes = repeated.map(({ what }) => what);
      const lines = [
        ...changes,
        ...lost.map(({ time, action, partition, actor }) => `Stays lost: ${action} ${partition} (${time}, ${actor})`),
      ];
      if (!yes)
        return {
          json: { changes, lost, executed: false },
          text: [...lines, `Would repeat ${counted(changes.length, 'change')}; ${lost.length} stay lost.`].join('\n'),
          ...(changes.length > 0 && { hint: 'Nothing was changed. Run it again with --yes to do it.' }),
        };
      const refused = await carryOver(repeated, { client, table, actor, from, since });
      return {
        json: { changes, lost, refused, executed: true },
        text: [
          ...lines,
          `Repeated ${counted(changes.length - refused.length, 'change')}; ${lost.length} stay lost.`,
        ].join('\n'),
        failure: refused.length === 0 ? undefined : notRepeated(refused),
      };
    });
}

function notRepeated(refused: readonly RefusedChange[]): CommandError {
  const each = refused.map(({ what, reason }) => `${what}: ${reason}`).join(' ');
  return new CommandError('not_repeated', `${each} Resolve that, then run the same command again.`, {
    details: { refused },
  });
}

function parseTime(text: string): Date {
  const date = new Date(text);
  if (!/^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) || Number.isNaN(date.getTime()))
    throw new UsageError(`--since takes a time in UTC, like 2026-01-31T12:00:00Z, not "${text}".`);
  if (date.getTime() < Date.now()) return date;
  throw new UsageError(`--since ${text} is in the future.`);
}
