import { readFileSync } from 'node:fs';
import { basename } from 'node:path';
import {
  type StateMachineBench,
  startStateMachineBench,
} from '../../test/loader/state-machine-bench.ts';
import { answer, startProxy } from '../../test/support/store-proxy.ts';
import type { Benchmark, Figures } from './benchmark.ts';
import { priceList } from './cost-model.ts';
import { generatedDays } from './generator/days.ts';
import { blocksOf, generatedExtract } from './generator/generate.ts';
import { rounded } from './measure.ts';

const { currency, regions } = priceList;
const price = (name: string) => Number(regions['us-east-1']?.[name]);

/** Of the stack's steps; the price of a second follows from it. */
const lambdaMemoryGb = 2;

/**
 * What a first load, a month's refresh and a day of mutations ask of AWS, counted while the
 * deployed state machine runs with its real handlers on an S3 and a DynamoDB of this machine:
 * writes a changed key, S3 requests, Lambda calls and their seconds, and what the list's prices
 * make of it. The reference is one write a key that differs.
 */
export const benchmark: Benchmark = {
  async run({ scale }) {
    Object.assign(process.env, {
      POWERTOOLS_LOG_LEVEL: 'SILENT',
      POWERTOOLS_METRICS_DISABLED: 'true',
    });
    const first = await generatedExtract({ scale });
    const next = await generatedExtract({ scale, days: 31 });
    const bench = await startStateMachineBench({}, { s3Server: true });
    const engine = process.env.AWS_ENDPOINT_URL_DYNAMODB ?? '';
    let writes = 0;
    const proxy = await startProxy(
      () => engine,
      async ({ operation, body, forward }, response) => {
        if (operation === 'BatchWriteItem') {
          writes += Object.values<unknown[]>(JSON.parse(String(body)).RequestItems).flat().length;
        }
        const answered = await forward();
        answer(response, answered.status, answered.body);
      },
    );
    process.env.AWS_ENDPOINT_URL_DYNAMODB = proxy.endpoint; // the handlers make their clients at their first event
    try {
      const takeWrites = () => {
        const taken = writes;
        writes = 0;
        return taken;
      };
      const meters = { takeSeconds: timeSteps(bench), takeWrites };
      const { keys, listKeys } = first.truth;
      const firstLoad = await measure(
        bench,
        first.path,
        { addresses: keys, lists: listKeys },
        meters,
      );
      const { added = 0, changed = 0, removed = 0, listsChanged = 0 } = next.difference ?? {};
      const differing = { addresses: added + changed + removed, lists: listsChanged };
      const month = await measure(bench, next.path, differing, meters);
      await bench.run({ rollback: first.peildatum });
      const [day = ''] = await generatedDays({ seed: 1, blocks: blocksOf(scale), days: 1 });
      const mutations = [bench.server.serve(basename(day), readFileSync(day))];
      return {
        scale,
        first_load: firstLoad,
        month,
        day: await countedExecution(bench, { mutations }, meters),
      };
    } finally {
      await proxy.stop();
      await bench.stop();
    }
  },
};

type Measured = Figures & { writes_per_changed_key: number };

/** What was counted since each was last called. */
type Meters = { takeSeconds: () => number; takeWrites: () => number };

async function measure(
  bench: StateMachineBench,
  path: string,
  differing: { addresses: number; lists: number },
  meters: Meters,
): Promise<Measured> {
  const source = bench.server.serve('lvbag-extract-nl.zip', readFileSync(path));
  const { writes, ...asked } = await countedExecution(bench, { source }, meters);
  return {
    keys_that_differ: differing.addresses,
    lists_that_differ: differing.lists,
    writes,
    writes_per_changed_key: rounded(writes / (differing.addresses + differing.lists)),
    ...asked,
  };
}

/** Runs an execution, and gives what it asked of AWS and what that costs. */
async function countedExecution(
  bench: StateMachineBench,
  input: Record<string, unknown>,
  meters: Meters,
) {
  bench.calls.clear();
  meters.takeWrites();
  meters.takeSeconds();
  const execution = await bench.run(input);
  if (execution.status !== 'SUCCEEDED') {
    throw new Error(`the load ended: ${JSON.stringify({ ...execution, events: 0 })}`);
  }
  const calls = [...bench.calls.values()].flat();
  const count = (wanted: RegExp) => calls.filter(({ action }) => wanted.test(action)).length;
  const writes = meters.takeWrites();
  const lambdaSeconds = meters.takeSeconds();
  const s3Writes = count(/^s3:(Put|List|Abort)/);
  const s3Reads = count(/^s3:Get/);
  const transitions = execution.events.filter(({ kind }) => kind === 'entered').length;
  return {
    writes,
    s3_writes: s3Writes,
    s3_reads: s3Reads,
    lambda_calls: count(/^lambda:/),
    transitions,
    lambda_seconds: rounded(lambdaSeconds, 3),
    price: {
      currency,
      dynamodb: rounded((writes / 1e6) * price('dynamodb_per_million_write_units'), 3),
      s3: rounded(
        (s3Writes * price('s3_per_thousand_writes') + s3Reads * price('s3_per_thousand_reads')) /
          1000,
        3,
      ),
      lambda: rounded(lambdaSeconds * lambdaMemoryGb * price('lambda_arm64_per_gb_second'), 3),
      step_functions: rounded(
        (transitions * price('step_functions_per_thousand_transitions')) / 1000,
        3,
      ),
    },
  };
}

/**
 * Adds up how long each call of a step takes: an upper bound, since here all of them share two
 * cores.
 */
function timeSteps(bench: StateMachineBench): () => number {
  let total = 0;
  for (const step of new Set(Object.values(bench.functions).map(({ step }) => step))) {
    bench.replace(step, async (event, real) => {
      const startedAt = performance.now();
      try {
        return await real(event);
      } finally {
        total += (performance.now() - startedAt) / 1000;
      }
    });
  }
  return () => {
    const taken = total;
    total = 0;
    return taken;
  };
}
