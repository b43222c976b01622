import { CommandError } from '../connect/errors.ts';

/** One step of a recovery. Each looks at AWS itself for what is done, so a procedure continues wherever it stopped. */
export type Step = {
  /** What it does, as an imperative: "Delete the table x". */
  what: string;
  /** A step that can't be undone is marked in the plan. */
  destroys?: boolean;
  isDone(): Promise<boolean>;
  run(): Promise<void>;
};

/** How far a procedure is: the steps that are done, and those that remain. */
export type ProcedureReport = {
  done: string[];
  remaining: string[];
  /** Milliseconds that each step of this run took. */
  took: { step: string; milliseconds: number }[];
};

export type ProcedureOptions = {
  /** Without it nothing is changed: the report is the plan. */
  execute: boolean;
  print: (line: string) => void;
};

/**
 * Looks at each step in order, and runs those that are not done. A step may depend on the one before it, so in a plan
 * nothing after the first step that is not done counts as done.
 * @throws CommandError naming the step that failed, after which the same command continues there
 */
export async function runProcedure(
  steps: readonly Step[],
  { execute, print }: ProcedureOptions,
): Promise<ProcedureReport> {
  const report: ProcedureReport = { done: [], remaining: [], took: [] };
  for (const [index, step] of steps.entries()) {
    const { what } = step;
    const label = `${index + 1}/${steps.length}`;
    if (report.remaining.length === 0 && (await step.isDone())) {
      report.done.push(what);
      print(`${label}  done      ${what}`);
    } else if (!execute) {
      report.remaining.push(what);
      print(`${label}  ${step.destroys ? 'DESTROYS' : 'to do   '}  ${what}`);
    } else {
      print(`${label}  now       ${what}`);
      report.took.push(await timed(step, label));
      report.done.push(what);
    }
  }
  return report;
}

async function timed(step: Step, label: string): Promise<{ step: string; milliseconds: number }> {
  const startedAt = performance.now();
  try {
    await step.run();
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const message = `Step ${label} failed (${step.what}): ${error.message} Resolve that and run the same command again: it continues there.`;
    throw new CommandError('step_failed', message, { cause: error, details: { step: step.what } });
  }
  return { step: step.what, milliseconds: Math.round(performance.now() - startedAt) };
}
