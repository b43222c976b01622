import type { LoadReport } from '../../loader/guard/load-report.ts';
import type { LoadRequest } from '../../loader/steps/step.ts';
import { sourceLocation } from '../../loader/storage/source.ts';
import type { RepairReport } from '../../local/load/repair.ts';
import type { LoadDecision, WaitingLoad } from '../../packages/admin/load-approvals.ts';
import { CommandError, UsageError } from '../deployment/errors.ts';
import type { LoadCommands } from '../deployment/open-loads.ts';
import { addLoadCalls, argument, type CommandRow, call, type LoadTools, option } from './calls.ts';
import {
  type CliCommand,
  callersPath,
  checkNewFile,
  type Result,
  type Tell,
  writeNewFile,
} from './command.ts';
import { explain } from './explain-commands.ts';
import { counted, thousands } from './terminal-text.ts';

type ExtractOptions = { extract?: string; mutations?: string[]; again?: true };

/**
 * `load`: the commands that load and roll back, and that show, compare and repair the live data.
 */
export function addLoadCommands(program: CliCommand): void {
  const { env } = program.terminal;
  const sources = [
    option(
      '--extract <where>',
      "the extract: a file, a URL or s3://BUCKET/KEY (default: the deployment's source, else the country from PDOK)",
      (named) => locationOf('--extract takes a file', named, env),
    ),
    option(
      '--mutations <where...>',
      'days of mutations that follow: a list (bestanden.json), a folder or zips; without --extract nothing else is loaded',
      (named, others: string[] = []) => [
        ...others,
        locationOf('--mutations takes a file or folder', named, env),
      ],
    ),
    option('--again', 'also an extract or mutations that are live already, or were rolled back'),
  ];
  addLoadCalls(
    program
      .command('load')
      .description('the address dataset: load an extract, check it, roll back'),
    {
      plan: {
        description: 'show the changes of a load, with examples; changes nothing',
        takes: [
          ...sources,
          option(
            '--csv <file>',
            'write every change to this new file: key, before, after, BAG ids',
            (csv) => callersPath(csv, env),
          ),
        ],
        examples: [
          'load plan --extract lvbag-extract-nl.zip --local',
          'load plan --extract lvbag-extract-nl.zip --csv changes.csv --local',
        ],
        check: ({ csv }: { csv?: string }) => csv && checkNewFile(csv),
        async run(commands, { csv, ...options }: ExtractOptions & { csv?: string }) {
          const report = await commands.start({ ...requestOf(options), planOnly: true });
          if (csv !== undefined) await writeChanges(csv, commands, report);
          const { refusalText } = await import('../../loader/guard/load-report.ts');
          const { renderReport } = await import('./render-load.ts');
          const { objections, approved, load } = report;
          const isRefused = objections.length > 0 && !approved && load !== null;
          const hint = isRefused
            ? refusalText(
                { ...report, proposal: await proposalOf(commands, load) },
                '',
                '"load run" would be refused',
              )
            : undefined;
          return { json: report, text: renderReport(report), hint };
        },
      },
      run: {
        description: 'sync the table to a BAG extract; only the difference is written',
        takes: [
          ...sources,
          option(
            '--finish',
            'only finish the load that was interrupted while it wrote; it needs no extract',
          ).conflicts(['extract', 'mutations', 'again']),
        ],
        notes: `An interrupted load continues where it stopped when it is run again. A load that changes more than usual is refused
before its first write (exit code 1, code "refused"); "load approve" runs it anyway.`,
        examples: [
          'load run --stage prod',
          'load run --mutations BAGNLDM-13112021-14112021.zip --local',
        ],
        run: (loads, { finish, ...options }: ExtractOptions & { finish?: true }) =>
          run(loads, async () =>
            loads.start(finish ? await requestToFinish(loads) : requestOf(options)),
          ),
      },
      approve: decision('approve', 'approve a refused load and run it'),
      reject: decision(
        'reject',
        'reject a refused load: its extract or day of mutations is not loaded again',
        `The live dataset stays as it is. A corrected day or a newer extract is loaded as usual; "load run --again" loads the
rejected one after all.`,
      ),
      rollback: {
        description: 'make an earlier snapshot live again; only the difference is written',
        takes: [
          argument(
            '<snapshot>',
            'its peildatum, like 2026-01-08, or its load; "load history" lists the snapshots',
          ),
        ],
        notes: `Also undoes a half-written load: name the snapshot that was live before it. The daily check does not load the undone
data again; "load run --again" does.`,
        examples: ['load rollback 2026-01-08 --local'],
        run: rollBack,
      },
      follow: {
        description: 'follow a running load of a deployment; Ctrl-C stops following, not the load',
        takes: [
          argument('[execution]', 'the execution of the state machine (default: the running one)'),
        ],
        run: (loads, { execution }: { execution?: string }) =>
          run(loads, () => loads.follow(execution)),
      },
      status: {
        description:
          'show the live snapshot and its age, how the last loads ended, and loads that need your decision',
        async run({ context, loads, mutations: list, lastRuns }) {
          const { loadStatus } = await import('../../loader/storage/stored-loads.ts');
          const { renderStatus } = await import('./render-load.ts');
          const { mutationStatus } = await import('../deployment/open-loads.ts');
          const [found, refused, running, runs] = await Promise.all([
            loadStatus(context),
            loads.waiting(),
            loads.running(),
            lastRuns(),
          ]);
          const shown = {
            ...found,
            running,
            runs,
            refused,
            mutations: await mutationStatus(found.published, list),
          };
          return { json: shown, text: renderStatus(shown) };
        },
      },
      history: {
        description:
          'list earlier loads, the newest first, and the snapshots that a rollback can use',
        async run({ context }) {
          const { loadHistory } = await import('../../loader/storage/stored-loads.ts');
          const { renderHistory } = await import('./render-load.ts');
          const entries = await loadHistory(context);
          return { json: entries, text: renderHistory(entries) };
        },
      },
      check: {
        description:
          'compare every address in the table with the live snapshot; the exit code is 1 when they differ',
        notes: `Changes nothing; "load repair" does. It reads the whole table in this command: with --stage about 1 GB and two minutes
for the country. Loads wait until it ends.`,
        examples: ['load check --stage prod'],
        async run(loads) {
          const compared = await repaired(loads, true);
          const failure =
            (await halfWritten(loads)) ?? differenceIn(compared.json) ?? compared.failure;
          return { ...compared, failure };
        },
      },
      repair: {
        description:
          'compare every address in the table with the live snapshot and repair the differences',
        takes: [option('--plan', 'only show the differences')],
        notes: `For a table that something else has written to, or that was restored from a backup. It runs in this command, which reads
the whole table and the snapshot: with --stage about 1 GB and two minutes for the country. Loads wait until it ends.`,
        examples: ['load repair --plan --stage prod'],
        async run(loads) {
          const intent = `Compares every address with ${await liveRegister(loads)}, and writes each address that differs.`;
          // The plan is the comparison itself.
          return loads.carryOut(
            intent,
            () => repaired(loads, false),
            () => repaired(loads, true),
          );
        },
      },
      discard: call({
        description: 'remove the work of a load that was not published, such as a refused one',
        takes: [argument('<load>', 'the load, as its error and "load status" name it')],
        notes:
          'The live dataset stays as it is. The next load of the same extract starts from scratch.',
        async plan({ context }: LoadTools, { load }: { load: string }) {
          // It compresses, with packages that `--help` does not need.
          const { workToDiscard } = await import('../../local/load/repair.ts');
          const work = await workToDiscard(context.storage, load);
          return `Removes the work of load ${load}, ${counted(work.length, 'object')}. The addresses stay as they are; the next load of the same extract starts from scratch.`;
        },
        call: ({ discard }, { load }) => discard(load),
        text: ({ objects, bytes }, { load }) =>
          `Removed the work of ${load}: ${counted(objects, 'object')}, ${thousands(Math.ceil(bytes / 1e6))} MB.`,
      }),
      unlock: {
        description: 'remove the lock that an interrupted load left on the table',
        takes: [
          option(
            '--force',
            'also of a load that may still be running; it stops before its next write',
          ),
        ],
        async run({ lockHolder, unlock, carryOut }, { force }: { force?: true }) {
          const held = await lockHolder({ force: force === true });
          if (!held) return { json: { owner: null }, text: 'The table is not locked.' };
          const { owner, untilSeconds, isGone } = held;
          const effect = isGone
            ? 'That load has ended.'
            : 'That load may be running: it stops before its next write.';
          const until = new Date(untilSeconds * 1000).toISOString();
          const intent = `Removes the lock of ${owner}, which would end at ${until}. ${effect} Addresses stay as they are.`;
          return carryOut(intent, async () => {
            await unlock(held);
            return { json: { owner }, text: `Removed the lock of ${owner}.` };
          });
        },
      },
      explain,
    },
  );
}

/** @throws UsageError */
function locationOf(takes: string, named: string, env: NodeJS.ProcessEnv): string {
  const location = sourceLocation(named, callersPath('.', env));
  if (location !== null) return location;
  throw new UsageError(`${takes}, an http(s) URL or s3://BUCKET/KEY, not "${named}".`);
}

function requestOf({ extract, mutations, again }: ExtractOptions): LoadRequest {
  return {
    ...(again && { again }),
    ...(extract && { source: extract }),
    ...(mutations && { mutations }),
  };
}

/** Writes all changes of a proposal as CSV. @throws CommandError */
async function writeChanges(
  file: string,
  { context }: LoadCommands,
  { outcome, load }: LoadReport,
): Promise<void> {
  const { changesCsvHead, changesCsvLine } = await import('../../loader/guard/load-counts.ts');
  const { differences } = await import('../../loader/storage/stored-loads.ts');
  async function* lines() {
    yield changesCsvHead;
    if (outcome !== 'planned' || load === null) return;
    for await (const change of differences(context.storage, load)) yield changesCsvLine(change);
  }
  await writeNewFile(file, lines());
}

/**
 * Names the load that is half written, so that no other load is started. @throws CommandError if no
 * load is
 */
async function requestToFinish({ context }: LoadCommands): Promise<LoadRequest> {
  const { loadStatus } = await import('../../loader/storage/stored-loads.ts');
  const { pending } = await loadStatus(context);
  if (pending) return { approve: pending.load };
  throw new CommandError(
    'not_found',
    'No load is half written; nothing to finish. See "load status".',
  );
}

/**
 * Runs a load and returns its report.
 * @throws CommandError `refused` with the reasons, after printing the changes that the load would
 * have made
 */
async function run(
  commands: LoadCommands & { tell: Tell },
  start: () => Promise<LoadReport>,
): Promise<Result> {
  const { RefusedLoadError, refusalText } = await import('../../loader/guard/load-report.ts');
  const { renderChanges, renderReport } = await import('./render-load.ts');
  try {
    const report = await start();
    return { json: report, text: renderReport(report) };
  } catch (error) {
    if (!(error instanceof RefusedLoadError)) throw error;
    commands.tell(renderChanges(error.report));
    const { load, peildatum, objections } = error.report;
    const details = {
      load,
      proposal: await proposalOf(commands, `${load}`),
      peildatum,
      objections,
    };
    throw new CommandError('refused', refusalText(details), { details });
  }
}

/**
 * The proposal that a decision is about, from the storage alone, so that it works without the
 * accounts table.
 */
async function proposalOf({ context }: LoadCommands, load: string): Promise<string | undefined> {
  const { findRefusedProposal } = await import('../../loader/storage/stored-loads.ts');
  const { proposalName } = await import('../../loader/guard/load-report.ts');
  const found = await findRefusedProposal(context.storage, load);
  return found ? proposalName(found) : undefined;
}

function decision(verb: LoadDecision, description: string, notes?: string): CommandRow<LoadTools> {
  return {
    description,
    takes: [
      argument('[load]', 'the load, as its error names it (default: the only refused one)'),
      option(
        '--proposal <id>',
        'what you saw of it, as its error names it: refused if it would change anything else now',
      ),
    ],
    ...(notes !== undefined && { notes }),
    examples: [`load ${verb} 2026-03-08-0123456789 --stage prod`],
    async run(commands, { load, proposal }: { load?: string; proposal?: string }) {
      const waiting = choose(await commands.loads.waiting(), load, verb);
      const seen = { load: waiting.load, proposal: proposal ?? waiting.proposal };
      const decide = () => run(commands, () => commands.decide(verb, seen));
      return verb === 'reject' ? decide() : commands.carryOut(renderApproval(waiting), decide);
    },
  };
}

function renderApproval(waiting: WaitingLoad): string {
  const {
    load,
    livePeildatum,
    peildatum,
    addresses,
    added,
    changed,
    removed,
    objecten,
    objections,
  } = waiting;
  const now = livePeildatum === null ? 'nothing' : `the register of ${livePeildatum}`;
  const objects = objecten?.changed
    ? `, the objects of ${counted(objecten.changed, 'address')}`
    : '';
  return [
    `Puts the register of ${peildatum} (load ${load}, ${counted(addresses, 'address')}) in the place of ${now}: ${thousands(added)} added, ${thousands(changed)} changed, ${thousands(removed)} removed${objects}.`,
    ...objections.map(({ message }) => `It was refused: ${message}`),
  ].join('\n');
}

/** The named load, or the only one. @throws CommandError */
function choose(
  refused: WaitingLoad[],
  id: string | undefined,
  decision: LoadDecision,
): WaitingLoad {
  const names = refused.map(({ load }) => load).join(', ');
  if (id !== undefined) {
    const named = refused.find(({ load }) => load === id);
    if (named) return named;
    const others = names === '' ? 'No load is refused' : `Refused loads: ${names}`;
    throw new CommandError(
      'not_found',
      `Load "${id}" is not refused. ${others}. See "load status".`,
    );
  }
  const [only, ...more] = refused;
  if (!only) throw new CommandError('not_found', `No load is refused; nothing to ${decision}.`);
  if (more.length > 0) {
    throw new CommandError('ambiguous', `Several loads are refused. Name one of: ${names}.`);
  }
  return only;
}

type RollbackOptions = { snapshot: string; plan?: true; yes?: true };

async function rollBack(
  loads: LoadTools,
  { snapshot: rollback, plan, yes }: RollbackOptions,
): Promise<Result> {
  const { snapshotNamed } = await import('../../loader/storage/stored-loads.ts');
  // Refuses a snapshot that is not kept, before anything is started.
  const { target, published, pending } = await snapshotNamed(loads.context, rollback);
  const isLive = target.snapshot.id === (pending ?? published).snapshot.id;
  const work = () => run(loads, () => loads.start({ rollback }));
  const nothing = `The snapshot of ${target.peildatum} (load ${target.load}) is live already.`;
  if (isLive && !pending) return loads.carryOut({ nothing }, work);
  const instead = pending
    ? `the snapshot of ${pending.peildatum} (load ${pending.load}), which started writing at ${pending.at} and has not finished`
    : await liveRegister(loads);
  const register = `the register of ${target.peildatum} (load ${target.load}, ${counted(target.addresses, 'address')})`;
  const intent =
    pending && isLive
      ? `Finishes load ${pending.load}, which puts back ${register} and started writing at ${pending.at}.`
      : `Puts ${register} in the place of ${instead}.`;
  // The steps of a load make the preview and keep its files, so not with --plan, which changes
  // nothing at all.
  const isShown = !plan && !yes && !isLive;
  const objections = isShown ? await objectionsTo(loads, rollback) : [];
  return loads.carryOut([intent, ...objections].join('\n'), work);
}

/** The changes of a rollback, and the guard's objections. */
async function objectionsTo(loads: LoadCommands, rollback: string): Promise<string[]> {
  const { added, changed, removed, objecten, overruled } = await loads.start({
    rollback,
    planOnly: true,
  });
  const objects = objecten?.changed
    ? `, and change the objects of ${thousands(objecten.changed)}`
    : '';
  return [
    `It would add ${thousands(added)}, change ${thousands(changed)} and remove ${thousands(removed)} addresses${objects}.`,
    ...overruled.map(({ message }) => `The guard would ask: ${message}`),
  ];
}

/**
 * The live register by the storage alone, and its age: a repair is for a table that holds another
 * one. While a load is half written, the register that it writes.
 */
async function liveRegister({ context }: LoadCommands): Promise<string> {
  const { ageInDays, readManifest } = await import('../../loader/storage/stored-loads.ts');
  const { published, pending } = await readManifest(context.storage);
  const entry = pending ?? published;
  if (!entry) return 'nothing';
  const state = pending
    ? `of load ${pending.load}, which is half written`
    : `${counted(ageInDays(entry), 'day')} old`;
  return `the snapshot of ${entry.peildatum} (${counted(entry.addresses, 'address')}, ${state})`;
}

/** While a load is half written, its end is the remedy for any difference, and not a repair. */
async function halfWritten({ context }: LoadCommands): Promise<CommandError | undefined> {
  const { readManifest } = await import('../../loader/storage/stored-loads.ts');
  const { nameOfLoad, waysToEnd } = await import('../../loader/dataset/load.ts');
  const { published, pending } = await readManifest(context.storage);
  if (!pending) return undefined;
  const message = `${nameOfLoad(pending)} is half written, so the table is between two snapshots: ${waysToEnd(pending, published)}`;
  return new CommandError('pending', message, { details: { load: pending.load } });
}

function differenceIn({
  added,
  changed,
  removed,
  rebuilt,
  unusable,
}: RepairReport): CommandError | undefined {
  const differences = added + changed + removed;
  if (rebuilt.length > 0) {
    const message = `The snapshot is damaged in the segments ${rebuilt.join(', ')}. Rebuild them: "load repair".`;
    return new CommandError('storage_damaged', message, {
      details: { differences, damaged: rebuilt },
    });
  }
  if (differences === 0 || unusable.length > 0) return undefined;
  const message = `The table differs from the snapshot in ${counted(differences, 'address')}. Repair it: "load repair".`;
  return new CommandError('differs', message, { details: { differences } });
}

/** Objects behind the snapshot are damaged, which neither the table nor a repair can restore. */
function unusableIn({ unusable }: RepairReport): CommandError | undefined {
  if (unusable.length === 0) return undefined;
  const message = `The addresses are right, but ${counted(unusable.length, 'object')} behind the snapshot can't be read, so no mutations can be applied. Load a full extract with "load run --again", which makes a new snapshot.`;
  return new CommandError('storage_damaged', message, { details: { unusable } });
}

async function repaired(loads: LoadTools, planOnly: boolean) {
  const { renderRepair } = await import('./render-load.ts');
  const report = await loads.repair({ planOnly });
  const isPending = report.pending && !planOnly;
  const hint = isPending
    ? 'That load is not published yet: run "load run --finish" now.'
    : undefined;
  return { json: report, text: renderRepair(report), hint, failure: unusableIn(report) };
}
