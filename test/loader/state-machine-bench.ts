import { loaderEnvironment } from '../../loader/names.ts';
import { s3Client } from '../../loader/storage/s3.ts';
import { integrations } from '../support/state-machine/integrations.ts';
import { type Execution, machineOf, runMachine } from '../support/state-machine/run-machine.ts';
import { StateError } from '../support/state-machine/state-error.ts';
import { writeExtract } from '../support/write-extract.ts';
import { deployedLoader } from './deployed-loader.ts';
import { importHandlers, type Step } from './import-handlers.ts';
import { startLoadPlaces } from './load-places.ts';
import { recordCalls } from './record-calls.ts';
import { type Month, voorkomensOf, withObjecten } from './steps/months.ts';

export type StateMachineBench = Awaited<ReturnType<typeof startStateMachineBench>>;

/** Stands in for a step: `real` is the step itself. */
type Instead = (event: never, real: Step) => unknown;

const configuration = { guard: { minimumAddresses: 1 }, snapshotsKept: 2 };

/** Of the few addresses of a bench; the settings of a guard don't have all of these. */
const benchThresholds = { maximumShare: 0.3, alwaysAllowed: 1 };

/**
 * The loader's state machine as it is deployed, with the real handlers. These keep the environment
 * that they are first imported with: one bench to a test file. `more` goes into its configuration;
 * with a `dataset`, that has objects. The thresholds are those of its `guard`, else `thresholds`.
 */
export async function startStateMachineBench(
  { thresholds = benchThresholds, ...more }: Record<string, unknown> & { thresholds?: object } = {},
  { s3Server = false } = {},
) {
  const places = await startLoadPlaces({ s3Server });
  try {
    return await assemble(places, more, 'guard' in more ? {} : thresholds);
  } catch (error) {
    await places.stop();
    throw error;
  }
}

async function assemble(
  places: Awaited<ReturnType<typeof startLoadPlaces>>,
  more: Record<string, unknown>,
  thresholds: object,
) {
  const { s3, server, names, executions } = places;
  const { name, definition, functions, permissions } = await deployedLoader(
    { ...configuration, ...more },
    names,
  );
  for (const { environment } of Object.values(functions)) {
    const { [loaderEnvironment.thresholds]: settings } = environment;
    if (settings) {
      environment[loaderEnvironment.thresholds] = JSON.stringify({
        ...JSON.parse(settings),
        ...thresholds,
      });
    }
  }
  const before = { ...process.env };
  Object.assign(process.env, places.environment);
  // A thousand writes a second are for a table in the cloud; a test would wait for them.
  const steps = await importHandlers(functions, [loaderEnvironment.writesPerSecond]);

  const execution = `arn:aws:states:eu-central-1:123456789012:execution:${name}:any`;
  const record = recordCalls({ table: names.table, execution });
  places.connect(s3Client());
  for (const client of [s3Client(), s3.client]) record.watch(client);
  const replaced = new Map<string, Instead>();
  const handlers: Record<string, Step> = {};
  for (const [id, { step }] of Object.entries(functions)) {
    const real: Step = (event) => record.during(step, () => steps[step]?.(event));
    handlers[id] = (event) => {
      record.add('lambda:InvokeFunction', id);
      const instead = replaced.get(step);
      return instead ? instead(event, real) : real(event);
    };
  }
  let readQuota = () => 1000;
  const quota = () => {
    record.add('lambda:GetAccountSettings', '*');
    return readQuota();
  };
  let takesEvents = true;
  const take: typeof places.take = (event) => {
    if (!takesEvents) throw new StateError('EventBridge.AccessDeniedException', 'denied');
    places.take(event);
  };
  const options = { name, integrations: integrations(handlers, take, quota), s3: s3.client };
  const machine = machineOf(definition);

  return {
    ...places,
    definition,
    functions,
    permissions,
    calls: record.calls,
    takeOperations: record.takeOperations,
    async run(input: Record<string, unknown> = {}): Promise<Execution> {
      const told = places.messages.length;
      const execution = await record.during('machine', () =>
        runMachine(machine, { ...options, input }),
      );
      executions.end(execution);
      for (const _ of places.messages.slice(told)) {
        record.add(
          'events:PutEvents',
          'arn:aws:events:eu-central-1:123456789012:event-bus/default',
          'machine',
        );
      }
      return execution;
    },
    /**
     * From now on the account can run as many functions at once as this returns, beside reserved
     * ones.
     */
    allow(functions: () => number): void {
      readQuota = functions;
    },
    /** From now on EventBridge takes no event. */
    refuseEvents(): void {
      takesEvents = false;
    },
    /** From now on this is called for a step; without it the step is itself again. */
    replace(step: string, by?: Instead): void {
      if (!steps[step]) throw new Error(`There is no step ${step}.`);
      if (by) replaced.set(step, by);
      else {
        replaced.delete(step);
      }
    },
    async serve(month: Month): Promise<string> {
      const voorkomens =
        'dataset' in more ? withObjecten(voorkomensOf(month)) : voorkomensOf(month);
      return server.serve('lvbag-extract-nl.zip', await writeExtract(month.peildatum, voorkomens));
    },
    /**
     * What several tests begin with: `make` works on a bench on which nothing was loaded, once;
     * after that each call restores, on such a bench, what it left behind.
     */
    startingPoint<T>(make: () => Promise<T>): () => Promise<T> {
      let kept: { made: T; restore: () => Promise<void> } | undefined;
      return async () => {
        if (kept) await kept.restore();
        else {
          kept = { made: await make(), restore: await places.keep() };
        }
        record.takeOperations();
        return kept.made;
      };
    },
    /** As if nothing had ever been loaded. */
    async reset(): Promise<void> {
      replaced.clear();
      takesEvents = true;
      readQuota = () => 1000;
      await places.reset();
      record.takeOperations();
    },
    async stop(): Promise<void> {
      process.env = before;
      record.stop();
      await places.stop();
    },
  };
}
