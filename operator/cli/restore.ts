import { type Command, Option } from 'commander';
import { CommandError, UsageError } from '../connect/errors.ts';
import type { RecoveryInput, RecoveryReport } from '../recovery/procedure.ts';
import { placeOf } from './backup.ts';
import { callersPath, folderOf, printResult, type Result, type Terminal } from './command.ts';

/** Options of every restore. */
type RestoreOptions = { json?: true; stack: string; yes?: true; key?: string };

/** `restore`: each shows its plan; with `--yes` it carries it out, and continues one that was interrupted. */
export function addRestoreCommands(program: Command, terminal: Terminal): void {
  const restore = program
    .command('restore')
    .description('bring back what was lost: shows the plan; with --yes carries it out, or continues it');

  withRestore(restore.command('deleted-table'))
    .description('restore a table that was deleted, from the backup that DynamoDB made of it')
    .addOption(tableOption())
    .addHelpText('after', explanation('restore deleted-table --table accounts --stack bag-adres-prod'))
    .action(async ({ table, ...options }: RestoreOptions & { table: 'accounts' | 'addresses' }) => {
      const { restoreDeletedTable } = await import('../recovery/restore.ts');
      await show(terminal, options, (tools) => restoreDeletedTable({ ...tools, table }));
    });

  withRestore(restore.command('wrong-contents'))
    .description('give the accounts table the contents that it had at a time in the last 35 days')
    .requiredOption('--at <time>', 'the time, in UTC: 2026-01-31T12:00:00Z')
    .addHelpText(
      'after',
      `
Keys that were revoked since, members who were removed, and accounts that were suspended or deleted stay so; other changes since
then are listed and lost. Use it for accounts: addresses with wrong contents are repaired by "load repair".
${explanation('restore wrong-contents --at 2026-01-31T12:00:00Z --stack bag-adres-prod')}`,
    )
    .action(async ({ at, ...options }: RestoreOptions & { at: string }) => {
      const time = parseTime(at);
      const { restoreWrongContents } = await import('../recovery/restore.ts');
      await show(terminal, options, (tools) => restoreWrongContents({ ...tools, at: time }));
    });

  addFromSet(restore, terminal, 'account', 'restore accounts and secrets from a backup set into another AWS account');
  addFromSet(restore, terminal, 'region', 'restore accounts and secrets from a backup set into another region');
}

/** `rollback`: the functions of the service, in an emergency. */
export function addRollbackCommand(program: Command, terminal: Terminal): void {
  withRestore(program.command('rollback'))
    .description('in an emergency: send requests to the version of the functions before the present one')
    .option('--force', 'also to a version from before a rotation of the checksum secret, which refuses all newer keys')
    .addHelpText(
      'after',
      `
It shows which versions, and with --yes moves the aliases, in seconds and without a deployment. To go back to another snapshot
of the register: "load rollback". See docs/runbook.md#roll-back-in-an-emergency.

Example:
  npx bag-adres rollback --stack bag-adres-prod`,
    )
    .action(async ({ force, ...options }: RestoreOptions & { force?: true }) => {
      const { rollbackService } = await import('../recovery/rollback-service.ts');
      await show(terminal, options, (tools) => rollbackService({ ...tools, force: force === true }));
    });
}

function addFromSet(restore: Command, terminal: Terminal, lost: 'account' | 'region', description: string): void {
  withRestore(restore.command(`lost-${lost}`))
    .description(description)
    .option(
      '--from <set>',
      'a backup set, or a place with sets, of which the newest is taken (default: "backup" in bag-adres.json)',
    )
    .option('--private-key <file>', 'the private key of the set: RSA, PEM')
    .addHelpText(
      'after',
      `
Deploy the stacks first, empty: npx cdk deploy --all. What you have to do in between is part of the plan: the command stops
there, says what to deploy or load, and continues when you run it again.
${explanation(`restore lost-${lost} --from s3://my-sets/bag-adres-prod --private-key key.pem --stack bag-adres-prod`)}`,
    )
    .action(async (options: RestoreOptions & { from?: string; privateKey?: string }) => {
      const { privateKey, from = await configuredPlace(options.stack, terminal), ...rest } = options;
      if (from === undefined || privateKey === undefined) throw new UsageError(firstSteps(lost, options.stack, from));
      const { restoreFromSet } = await import('../recovery/restore-account.ts');
      const key = callersPath(privateKey, terminal.env);
      await show(terminal, rest, (tools) =>
        restoreFromSet({ ...tools, lost, from: placeOf(from, terminal), privateKey: key }),
      );
    });
}

/** Where the daily sets of a deployment go, by the settings in this folder. */
async function configuredPlace(stack: string, terminal: Terminal): Promise<string | undefined> {
  const [{ readSettingsFile, settingsOfStage }, { deploymentOf }] = await Promise.all([
    import('../config/settings.ts'),
    import('../../lib/config/deployment.ts'),
  ]);
  const file = readSettingsFile(folderOf(terminal));
  const stage = deploymentOf(stack).replace(/^bag-adres-/, '');
  if (!file || !(stage in file.stages)) return undefined;
  const { backup } = settingsOfStage(file, stage).record as { backup?: { bucket?: unknown } };
  return typeof backup?.bucket === 'string' ? `s3://${backup.bucket}` : undefined;
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

function withRestore(command: Command): Command {
  return command
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .option('--yes', 'carry out the plan; without it nothing is changed')
    .option('--key <key>', 'run the smoke test with it at the end (default: BAG_ADRES_KEY in the environment)')
    .requiredOption('--stack <name>', 'a deployment, like bag-adres-prod, or any of its stacks');
}

function tableOption(): Option {
  return new Option('--table <table>', 'which table').choices(['accounts', 'addresses']).makeOptionMandatory();
}

function explanation(example: string): string {
  return `
It looks at AWS for what is done already: run it again after any failure, also on another machine. See docs/recovery.md.

Example:
  npx bag-adres ${example}`;
}

function parseTime(text: string): Date {
  const date = new Date(text);
  const isTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?Z$/.test(text) && !Number.isNaN(date.getTime());
  if (!isTime) throw new UsageError(`--at takes a time in UTC, like 2026-01-31T12:00:00Z, not "${text}".`);
  if (date.getTime() < Date.now()) return date;
  throw new UsageError(`--at ${text} is in the future.`);
}

async function show(
  terminal: Terminal,
  { stack, yes, json, key = terminal.env.BAG_ADRES_KEY }: RestoreOptions,
  work: (tools: RecoveryInput) => Promise<RecoveryReport>,
): Promise<void> {
  const print = json ? () => undefined : terminal.err;
  const report = await work({ stack, execute: yes === true, key, print });
  printResult(terminal, json ? { json } : {}, render(report, yes === true));
}

function render({ summary, ...report }: RecoveryReport, executed: boolean): Result {
  const lines = [...summary];
  if (!executed && report.remaining.length > 0)
    lines.push('Nothing was changed. Run it again with --yes to carry this out.');
  return { json: { ...report, executed, summary }, text: lines.join('\n') };
}

type DrillOptions = { json?: true; stack: string; yes?: true; seed?: string };

/** `drill`: loses the accounts table of a test stage and brings it back. */
export function addDrillCommand(program: Command, terminal: Terminal): void {
  program
    .command('drill')
    .description('in a test stage: lose the accounts table, restore it, and measure minutes and loss')
    .option('--json', 'print JSON, for scripts; an error is {"error":{"code","message"}} on standard error')
    .option('--yes', 'carry it out; without it nothing is changed')
    .option('--seed <n>', 'the order and the interruptions; the same seed repeats them (default: by the time)')
    .requiredOption('--stack <name>', 'a deployment that is not production, like bag-adres-test')
    .addHelpText(
      'after',
      `
Its minutes are those of AWS with the tables of that stage: fill it as full as production. If the drill itself is interrupted,
"restore deleted-table" or "restore wrong-contents" brings the table back. See docs/recovery.md#how-long-and-how-much-is-lost.

Example:
  npx bag-adres drill --stack bag-adres-test`,
    )
    .action(async ({ seed = String(Date.now() % 100_000), yes, stack, json }: DrillOptions) => {
      if (!/^\d{1,9}$/.test(seed)) throw new UsageError(`--seed takes a whole number, not "${seed}".`);
      const { drillStage } = await import('../recovery/drill.ts');
      const print = json ? () => undefined : terminal.err;
      const report = await drillStage({ stack, execute: yes === true, seed: Number(seed), print });
      const hint = yes ? `Seed ${seed}.` : 'Nothing was changed. Run it again with --yes to carry this out.';
      printResult(terminal, json ? { json } : {}, {
        json: { ...report, executed: yes === true },
        text: report.summary.join('\n'),
        hint,
      });
      const lost = report.procedures.filter(({ lostAccounts, lostKeys }) => lostAccounts + lostKeys > 0);
      if (lost.length > 0)
        throw new CommandError('lost', `Lost accounts or keys: ${lost.map(({ procedure }) => procedure).join(', ')}.`);
    });
}
