import type { DeployedStep, Invocation } from './deployed-step.ts';
import type { Step, StepInput, StepOfItems } from './step.ts';

/** The default for an event that does not come from Lambda. */
const unlimited: Invocation = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

type Handler<Result> = (event: unknown, invocation?: Invocation) => Promise<Result>;

/** The state machine's events: the load, or items of it from an ItemBatcher. */
type Events = { load: StepInput; items: { Items: never[]; BatchInput: StepInput } };

export function lambdaStep<Result>(name: string, { run }: Step<Result>): Handler<Result> {
  return lambda(name, 'load', (input, deployment, invocation) =>
    run(deployment.context(input.owner, invocation), input),
  );
}

/**
 * The Lambda of a step that runs for each item: an event has some items. Their shared input is kept
 * for one load.
 */
export function lambdaOfItems<Item, Result, Shared>(
  name: string,
  { share, each }: StepOfItems<Item, Result, Shared>,
): Handler<Result[]> {
  let held: { load: string; shared: Shared } | undefined;
  return lambda(name, 'items', async ({ Items, BatchInput: input }, deployment, invocation) => {
    const context = deployment.context(input.owner, invocation);
    if (held?.load !== input.load) {
      held = { load: input.load, shared: await share(context.storage, input.load) };
    }
    const results: Result[] = [];
    for (const item of Items) results.push(await each(context, input, item, held.shared));
    return results;
  });
}

/**
 * A Lambda of the loader: validates its event, does its work, and logs both in one line. Errors are
 * thrown unchanged: the state machine matches them by name. The first event loads a deployment's
 * settings, clients and logger, so a load on one machine, whose threads import the steps too, never
 * loads them.
 */
export function lambda<Kind extends keyof Events, Result>(
  name: string,
  kind: Kind,
  work: (input: Events[Kind], deployment: DeployedStep, invocation: Invocation) => Promise<Result>,
): Handler<Result> {
  let started: ReturnType<typeof start> | undefined;
  return async (event, invocation = unlimited) => {
    started ??= start(name, { ...process.env });
    const { parseEvent, deployment } = await started;
    const { logger } = deployment;
    const input = parseEvent(kind, event) as Events[Kind];
    const startedAt = performance.now();
    try {
      const result = await work(input, deployment, invocation);
      logger.info('done', { input, result, seconds: secondsSince(startedAt) });
      return result;
    } catch (error) {
      logger.error('failed', { input, error: error as Error, seconds: secondsSince(startedAt) });
      throw error;
    }
  };
}

async function start(name: string, environment: NodeJS.ProcessEnv) {
  const { DeployedStep, parseEvent } = await import('./deployed-step.ts');
  return { deployment: new DeployedStep(name, environment), parseEvent };
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
