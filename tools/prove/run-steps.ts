/** A step of a trial. */
export type Step<T> = {
  name: string;
  /** What it does and takes, which the operator agrees to first. */
  asks: string;
  /** @returns what it showed @throws Error if it showed that something does not work */
  run(trial: T): Promise<string>;
  /** Removes what `run` made, also if it ended halfway. */
  undo?(trial: T): Promise<void>;
};

export type Options = {
  /** Whether to do this; the trial ends at the first no. */
  agrees(asks: string): Promise<boolean>;
  say(line: string): void;
  /** Aborted by Ctrl-C: the step that runs is the last one. */
  signal: AbortSignal;
  /** The name of a step that fails after all it did. */
  breaks?: string;
};

/** The failure of the step that was to fail. */
class AskedFor extends Error {}

/**
 * Runs the steps up to the first that fails, then undoes those that were begun, the last one first,
 * whatever happens.
 * @returns whether every step ran, up to the one that was to fail, and was undone
 */
export async function runSteps<T>(
  trial: T,
  steps: readonly Step<T>[],
  options: Options,
): Promise<boolean> {
  const { agrees, say, signal, breaks } = options;
  const begun: Step<T>[] = [];
  let worked = true;
  const attempt = async (name: string, action: () => Promise<string>) => {
    const started = Date.now();
    const [mark, shown] = await action().then(
      (text) => ['ok', text],
      (error) => {
        if (!(error instanceof AskedFor)) worked = false;
        return ['FAILED', `${error instanceof Error ? error.message : error}`];
      },
    );
    say(`${mark} ${name} (${Math.round((Date.now() - started) / 1000)} s): ${shown}`);
    return mark === 'ok';
  };
  for (const step of steps) {
    if (!(await agrees(`${step.name}: ${step.asks}`)) || signal.aborted) {
      worked = false;
      break;
    }
    begun.push(step);
    const run = async () => {
      const shown = await step.run(trial);
      if (step.name === breaks) throw new AskedFor(`broken, as asked for, after: ${shown}`);
      return shown;
    };
    if (!(await attempt(step.name, run)) || signal.aborted) break;
  }
  if (signal.aborted) worked = false;
  for (const { name, undo } of begun.toReversed()) {
    if (undo) await attempt(`undo ${name}`, () => undo(trial).then(() => 'done'));
  }
  return worked;
}
