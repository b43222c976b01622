import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, expect, it } from '@jest/globals';
import { loadDefaults } from '../../loader/names.ts';
import { loadSteps, type StepName, stepOf, stepsFrom } from '../../loader/steps/load-steps.ts';
import type { LoadRequest, StepInput } from '../../loader/steps/step.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { runLoad } from '../../local/load/run-load.ts';
import type { Step } from '../loader/import-handlers.ts';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { startLoadBench } from '../loader/steps/load-bench.ts';
import { february, january, march, voorkomensOf, withObjecten } from '../loader/steps/months.ts';
import { writeMutationDelivery } from '../support/mutation-delivery.ts';
import { startForTests } from '../support/start-for-tests.ts';

const thresholds = { maximumShare: 0.3, alwaysAllowed: 2 };
const dayAfter = '2026-02-09';

const loader = startForTests(() =>
  startStateMachineBench({ thresholds, dataset: { objecten: true } }),
);
const local = startForTests(startLoadBench);
let onOneMachine: (request: LoadRequest) => Promise<Call[]>;
let mutations: string;

beforeAll(async () => {
  mutations = local.newFolder();
  const { NUM, VBO = [] } = withObjecten(voorkomensOf(february));
  const [num] = NUM;
  const [vbo] = VBO;
  if (!num || !vbo) throw new Error('a month has addresses and objects');
  const changes = [
    { was: num, wordt: { ...num, eind: dayAfter } },
    { wordt: { ...num, volgnummer: 2, huisnummer: 99_999, begin: dayAfter } },
  ];
  await writeFile(
    join(mutations, 'BAGNLDM-08022026-09022026.zip'),
    await writeMutationDelivery(february.peildatum, dayAfter, [
      { kind: 'NUM', changes },
      { kind: 'VBO', changes: [{ was: vbo, wordt: { ...vbo, eind: dayAfter } }] },
    ]),
  );
  const options = {
    storage: local.newFolder(),
    addresses: dynamoDbAddressTable(local.client, await local.newTable()),
    thresholds: { ...loadDefaults.guard, minimumAddresses: 1, ...thresholds },
    workers: 0,
    keep: 2,
    objecten: true,
  };
  onOneMachine = async (request) => {
    const calls: Call[] = [];
    const onStep = (step: StepName, input: StepInput, result: unknown) =>
      calls.push(callOf(step, input, [result].flat()));
    await runLoad({ ...options, ...request, onStep }).catch((error) => {
      if (error.name !== 'RefusedLoadError') throw error;
    });
    return calls;
  };
});

/**
 * What a step was asked, and what it returned for each of its items, without what differs from run
 * to run.
 */
type Call = { step: string; input: unknown; results: unknown[] };

function callOf(step: StepName, { owner: _, ...input }: StepInput, results: unknown[]): Call {
  const plain = JSON.parse(
    JSON.stringify({ input: stepOf(step).each ? { load: input.load } : input, results }),
  );
  for (const result of plain.results) delete result.at;
  return { step, ...plain };
}

/** The calls that an execution makes, those of the batches of a map as one. */
async function byStateMachine(request: LoadRequest): Promise<Call[]> {
  const calls: Call[] = [];
  for (const step of Object.keys(loadSteps) as StepName[]) {
    loader.replace(step, async (event: StepInput & { BatchInput?: StepInput }, real: Step) => {
      const result = (await real(event as never)) as unknown;
      const call = callOf(step, event.BatchInput ?? event, [result].flat());
      const last = calls.at(-1);
      if (event.BatchInput && last?.step === step) last.results.push(...call.results);
      else if (step !== 'release') calls.push(call);
      return result;
    });
  }
  await loader.run(request);
  return calls;
}

const inOrder = (calls: Call[]) =>
  calls.map(({ results, ...call }) => ({
    ...call,
    results: results.map((one) => JSON.stringify(one)).sort(),
  }));

it.each<[string, () => Promise<LoadRequest>, StepName[]]>([
  ['a first load', async () => ({ source: await loader.serve(january) }), stepsFrom('load')],
  [
    'the plan of a month',
    async () => ({ source: await loader.serve(february), planOnly: true }),
    stepsFrom('load').slice(0, stepsFrom('load').indexOf('apply')),
  ],
  ['a month', async () => ({ source: await loader.serve(february) }), stepsFrom('load')],
  ['a day of mutations', async () => ({ mutations: [mutations] }), stepsFrom('mutations')],
  [
    'a load that is refused',
    async () => ({ source: await loader.serve({ ...march, peildatum: '2026-03-08' }) }),
    stepsFrom('load').slice(0, stepsFrom('load').indexOf('apply')),
  ],
  ['a rollback', async () => ({ rollback: february.peildatum }), stepsFrom('rollback')],
])(
  '%s takes the same steps, with the same results, as an execution and on one machine',
  async (_, request, steps) => {
    const wanted = { again: false, ...(await request()) };
    const executed = await byStateMachine(wanted);
    expect(executed.map(({ step }) => step)).toEqual(['discover', ...steps]);
    expect(inOrder(await onOneMachine(wanted))).toEqual(inOrder(executed));
  },
);
