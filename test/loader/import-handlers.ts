import type { DeployedLoader } from './deployed-loader.ts';

/** A Lambda of the loader as it is called: by its event. */
export type Step = (event: never, ...more: unknown[]) => unknown;

/**
 * The real handlers, by step, each imported with the environment that the stack gives its Lambda and no other: one that
 * reads more than it is given fails here. `but` leaves out variables.
 */
export async function importHandlers(
  functions: DeployedLoader['functions'],
  but: readonly string[],
): Promise<Record<string, Step>> {
  const given = new Set(Object.values(functions).flatMap(({ environment }) => Object.keys(environment)));
  const steps: Record<string, Step> = {};
  for (const { step, environment } of Object.values(functions)) {
    for (const name of given) delete process.env[name];
    Object.assign(process.env, environment);
    for (const name of but) delete process.env[name];
    const { handler } = (await import(`../../loader/steps/handlers/${step}.ts`)) as { handler: Step };
    steps[step] = handler;
  }
  // What a step reads only when it runs is the same for all that are given it.
  for (const { environment } of Object.values(functions)) Object.assign(process.env, environment);
  return steps;
}
