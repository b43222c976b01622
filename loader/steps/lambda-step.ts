import type { DeployedStep, Invocation } from './deployed-step.ts';
import type { StepInput, StepName } from './step-inputs.ts';

/** For an event outside of Lambda. */
const unlimited: Invocation = { getRemainingTimeInMillis: () => Number.POSITIVE_INFINITY };

/**
 * The Lambda of one step: validates its event, does its work, and logs both in one line. Errors are thrown unchanged:
 * the state machine matches them by name. The first event loads what a deployment needs (settings, clients, logger), so
 * a load on one machine, whose threads import the steps too, never loads it.
 */
export function lambdaStep<Name extends StepName, R>(
  name: Name,
  work: (input: StepInput<Name>, deployment: DeployedStep, invocation: Invocation) => Promise<R>,
): (event: unknown, invocation?: Invocation) => Promise<R> {
  let started: ReturnType<typeof start> | undefined;
  return async (event, invocation = unlimited) => {
    started ??= start(name, { ...process.env });
    const { parseInput, deployment } = await started;
    const { logger } = deployment;
    const input = parseInput(name, event);
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

async function start(name: StepName, environment: NodeJS.ProcessEnv) {
  const [{ DeployedStep }, { parseInput }] = await Promise.all([
    import('./deployed-step.ts'),
    import('./step-inputs.ts'),
  ]);
  return { deployment: new DeployedStep(name, environment), parseInput };
}

function secondsSince(startedAt: number): number {
  return Math.round(performance.now() - startedAt) / 1000;
}
