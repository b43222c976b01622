import type { DeployedLoader } from './deployed-loader.ts';

/** A Lambda of the loader as it is called: by its event. */
export type Step = (event: never, ...more: unknown[]) => unknown;

/**
 * The real handlers, by step. Each is called with the environment that the stack gives its Lambda
 * and no other: one that reads more than it is given fails. `but` leaves out variables.
 */
export async function importHandlers(
  functions: DeployedLoader['functions'],
  but: readonly string[],
): Promise<Record<string, Step>> {
  const given = new Set(
    Object.values(functions).flatMap(({ environment }) => Object.keys(environment)),
  );
  const steps: Record<string, Step> = {};
  for (const { step, environment } of Object.values(functions)) {
    const { handler } = (await import(`../../loader/steps/${step}.ts`)) as { handler: Step };
    steps[step] = (...event) => {
      for (const name of given) delete process.env[name];
      Object.assign(process.env, environment);
      for (const name of but) delete process.env[name];
      return handler(...event); // reads its environment before it returns
    };
  }
  return steps;
}
