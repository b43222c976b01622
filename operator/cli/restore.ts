import { Option } from 'commander';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { RecoveryInput, RecoveryReport } from '../recovery/procedure.ts';
import { placeOf } from './backup.ts';
import { type CliCommand, callersPath, folderOf, type Result, type Terminal } from './command.ts';

type RestoreOptions = { json?: true; stack: string; yes?: true; into?: string; key?: string };

type RollbackOptions = RestoreOptions & { force?: boolean; further?: boolean };

/** `restore`: each shows its plan; with `--yes` it carries it out, and continues one that was interrupted. */
export function addRestoreCommands(program: CliCommand): void {
  const restore = program
    .command('restore')
    .description('bring back what was lost: shows the plan; with --yes carries it out, or continues it');

  withRestore(restore.command('deleted-table'))
    .description('restore a table that was deleted, from the backup that DynamoDB made of it')
    .addOption(new Option('--table <table>', 'which table').choices(['accounts', 'addresses']).makeOptionMandatory())
    .notes(untilDone)
    .examples('restore deleted-table --table accounts --stack bag-adres-prod')
    .does(async ({ table, ...options }: RestoreOptions & { table: 'accounts' | 'addresses' }) => {
      const { restoreDeletedTable } = await import('../recovery/restore.ts');
      return shown(program, options, (tools) => restoreDeletedTable({ ...tools, table }));
    });

  withRestore(restore.command('wrong-contents'))
    .description('give the accounts table the contents that it had at a time in the last 35 days')
    .requiredOption('--at <time>', 'the time, in UTC: 2026-01-31T12:00:00Z', parseTime)
    .notes(
      `Keys that were revoked since, members who were removed, and accounts that were suspended or deleted stay so; other changes since
then are listed and lost. Use it for accounts: addresses with wrong contents are repaired by "load repair".`,
    )
    .notes(untilDone)
    .examples('restore wrong-contents --at 2026-01-31T12:00:00Z --stack bag-adres-prod')
    .does(async ({ at: time, ...options }: RestoreOptions & { at: Date }) => {
      const { restoreWrongContents } = await import('../recovery/restore.ts');
      return shown(program, options, (tools) => restoreWrongContents({ ...tools, at: time }));
    });

  addFromSet(restore, 'account', 'restore accounts and secrets from a backup set into another AWS account');
  addFromSet(restore, 'region', 'restore accounts and secrets from a backup set into another region');
}

/** `rollback`: the functions of the service, in an emergency. */
export function addRollbackCommand(program: CliCommand): void {
  withRestore(program.command('rollback'))
    .description('in an emergency: send requests to the version of the functions before the present one')
    .option('--force', 'also to a version from before a rotation of the checksum secret, which refuses all newer keys')
    .option('--further', 'where they were rolled back already: to the version before that')
    .notes(
      `It shows which versions, and with --yes moves the aliases, in seconds and without a deployment. To go back to another snapshot
of the register: "load rollback". See docs/runbook.md#roll-back-in-an-emergency.`,
    )
    .examples('rollback --stack bag-adres-prod')
    .does(async ({ force = false, further = false, ...options }: RollbackOptions) => {
      const { rollbackService } = await import('../recovery/rollback-service.ts');
      return shown(program, options, (tools) => rollbackService({ ...tools, force, further }));
    });
}

function addFromSet(restore: CliCommand, lost: 'account' | 'region', description: string): void {
  const { terminal } = restore;
  withRestore(restore.command(`lost-${lost}`))
    .description(description)
    .option(
      '--from <set>',
      'a backup set, or a place with sets, of which the newest is taken (default: "backup" in bag-adres.json)',
    )
    .option('--private-key <file>', 'the private key of the set: RSA, PEM')
    .notes(
      `Deploy the stacks first, empty: npx cdk deploy --all. What you have to do in between is part of the plan: the command stops
there, says what to deploy or load, and continues when you run it again.`,
    )
    .notes(untilDone)
    .examples(`restore lost-${lost} --from s3://my-sets/bag-adres-prod --private-key key.pem --stack bag-adres-prod`)
    .does(async (options: RestoreOptions & { from?: string; privateKey?: string }) => {
      const { privateKey, from = await configuredPlace(options.stack, terminal), ...rest } = options;
      if (from === undefined || privateKey === undefined) throw new UsageError(firstSteps(lost, options.stack, from));
      const { restoreFromSet } = await import('../recovery/restore-account.ts');
      const key = callersPath(privateKey, terminal.env);
      return shown(restore, rest, (tools) =>
        restoreFromSet({ ...tools, lost, from: placeOf(from, terminal), privateKey: key }),
      );
    });
}

/** Where the daily sets of a deployment go, by the settings in this folder. */
async function configuredPlace(stack: string, terminal: Terminal): Promise<string | undefined> {
  const [{ settingsOfDeployment }, { deploymentOf }] = await Promise.all([
    import('../config/settings.ts'),
    import('../../lib/config/deployment.ts'),
  ]);
  const bucket = settingsOfDeployment(folderOf(terminal), deploymentOf(stack))?.backup;
  return bucket && `s3://${bucket}`;
}

/** What to do first, for somebody who does not know what the command needs. */
function firstSteps(lost: 'account' | 'region', stack: string, from: string | undefined): string {
  const elsewhere =
    lost === 'region' ? 'another region (set "region" in bag-adres.json, and AWS_REGION)' : 'the new account';
  const missing = from === undefined ? '--from, where the backup sets are, and --private-key' : '--private-key';
  return [
    `Give ${missing}, the file that opens them.`,
    `1. Deploy the stacks into ${elsewhere}: npx cdk deploy --all.`,
    '2. Find the sets: "backup" in bag-adres.json names their bucket; "backup list --from s3://BUCKET/PREFIX/" lists them.',
    '3. Get the private key from where you keep it, outside AWS. Without it no set can be opened.',
    `4. restore lost-${lost} --from s3://BUCKET/PREFIX/ --private-key FILE --stack ${stack}: shows the plan. See docs/recovery.md#a-lost-account-or-region.`,
  ].join(' ');
}

function withRestore(command: CliCommand): CliCommand {
  return command
    .option('--key <key>', 'run the smoke test with it at the end (default: BAG_ADRES_KEY in the environment)')
    .requiredOption('--stack <name>', 'a deployment, like bag-adres-prod, or any of its stacks');
}

const untilDone =
  'It looks at AWS for what is done already: run it again after any failure, also on another machine. See docs/recovery.md.';

function parseTime(text: string): Date {
  const date = new Date(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) && !Number.isNaN(date.getTime());
  if (!isTime) throw new UsageError(`--at takes a time in UTC, like 2026-01-31T12:00:00Z, not "${text}".`);
  if (date.getTime() < Date.now()) return date;
  throw new UsageError(`--at ${text} is in the future.`);
}

const nothingChanged = 'Nothing was changed. Run it again with --yes to carry this out.';

/** Prints what is being done; nothing for a script. */
const printer = ({ terminal }: CliCommand, json?: true) => (json ? () => undefined : terminal.err);

async function shown(
  command: CliCommand,
  { stack, yes, into, json, key = command.terminal.env.BAG_ADRES_KEY }: RestoreOptions,
  work: (tools: RecoveryInput) => Promise<RecoveryReport>,
): Promise<Result> {
  const executed = yes === true;
  const { summary, ...report } = await work({ stack, execute: executed, into, key, print: printer(command, json) });
  const more = !executed && report.remaining.length > 0 ? [nothingChanged] : [];
  return { json: { ...report, executed, summary }, text: [...summary, ...more].join('\n') };
}

/** `take-down`: the end of a trial. */
export function addTakeDownCommand(program: CliCommand): void {
  program
    .command('take-down')
    .description('delete a trial with everything in it: shows the plan and what stays; with --yes carries it out')
    .requiredOption('--stack <name>', 'a deployment with "removalPolicy": "destroy", like bag-adres-trial')
    .notes(
      'A deployment that is protected from deletion is refused. Run it again after any failure: it continues there.',
    )
    .examples('take-down --stack bag-adres-test')
    .does(async (options: RestoreOptions) => {
      const { takeDown } = await import('../recovery/take-down.ts');
      return shown(program, options, takeDown);
    });
}

type DrillOptions = { json?: true; stack: string; yes?: true; into?: string; seed?: number };

/** `drill`: loses the accounts table of a test stage and brings it back. */
export function addDrillCommand(program: CliCommand): void {
  program
    .command('drill')
    .description('in a test stage: lose the accounts table, restore it, and measure minutes and loss')
    .option('--seed <n>', 'the order and the interruptions; the same seed repeats them (default: by the time)', seedIn)
    .requiredOption('--stack <name>', 'a deployment that is not production, like bag-adres-test')
    .notes(
      `Its minutes are those of AWS with the tables of that stage: fill it as full as production. If the drill itself is interrupted,
"restore deleted-table" or "restore wrong-contents" brings the table back. See docs/recovery.md#how-long-and-how-much-is-lost.`,
    )
    .examples('drill --stack bag-adres-test')
    .does(async ({ seed = Date.now() % 100_000, yes, into, stack, json }: DrillOptions) => {
      const { drillStage } = await import('../recovery/drill.ts');
      const executed = yes === true;
      const report = await drillStage({ stack, execute: executed, into, seed, print: printer(program, json) });
      const lost = report.procedures.filter(({ lostAccounts, lostKeys }) => lostAccounts + lostKeys > 0);
      const message = `Lost accounts or keys: ${lost.map(({ procedure }) => procedure).join(', ')}.`;
      return {
        json: { ...report, executed },
        text: report.summary.join('\n'),
        hint: executed
          ? `Seed ${seed}.`
          : `Nothing was changed. To carry it out: --yes --into ${report.target.deployment}.`,
        failure: lost.length > 0 ? new CommandError('lost', message) : undefined,
      };
    });
}

function seedIn(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`--seed takes a whole number, not "${text}".`);
}
