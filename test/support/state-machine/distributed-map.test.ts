import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startS3 } from '../s3.ts';
import { startForTests } from '../start-for-tests.ts';
import { lambdaInvoke, lambdaInvokeArn } from './lambda-invoke.ts';
import { runStateMachine } from './run-state-machine.ts';
import { invoke, tinyMachine } from './tiny-machine.ts';

type Batch = { BatchInput: unknown; Items: { n: number }[] };
type Written = { MapRunArn: string; ResultWriterDetails: { Bucket: string; Key: string } };

const s3 = startForTests(() => startS3('work'));
let runs = 0;

beforeAll(async () => {
  const objects = {
    'items.json': '[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]',
    'none.json': '[]',
    'object.json': '{"n":1}',
    'broken.json': '[{"n":1},',
  };
  for (const [Key, Body] of Object.entries(objects)) {
    await s3.client.send(new PutObjectCommand({ Bucket: 'work', Key, Body }));
  }
});

class OddError extends Error {
  override readonly name = 'OddError';
}

/** An ItemReader of an object. */
const read = (Key: string, Bucket = 'work') => ({
  Resource: 'arn:aws:states:::s3:getObject',
  ReaderConfig: { InputType: 'JSON' },
  Arguments: { Bucket, Key: `{% '${Key}' %}` },
});

const writeTo = (Bucket: string) => ({
  Resource: 'arn:aws:states:::s3:putObject',
  Arguments: { Bucket, Prefix: "{% 'runs/' & $states.input.name %}" },
});

/** A machine of one map, whose children call `F` with their input. */
function mapping(more: Record<string, unknown> = {}) {
  return tinyMachine({
    Each: {
      Type: 'Map',
      Label: 'Each',
      ItemReader: read('items.json'),
      ItemBatcher: { MaxItemsPerBatch: 1, BatchInput: { name: '{% $states.input.name %}' } },
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'Do',
        States: { Do: invoke('F', '{% $states.input %}', { Output: '{% $states.result.Payload %}' }) },
      },
      MaxConcurrency: 1,
      ResultWriter: writeTo('work'),
      End: true,
      ...more,
    },
  });
}

/** Runs such a machine with this function as `F`; the results go under the name. */
async function run(definition: unknown, F: (event: never) => unknown, name = `run-${runs++}`) {
  const integrations = { [lambdaInvokeArn]: lambdaInvoke({ F }) };
  return runStateMachine(definition, { integrations, s3: s3.client, input: { name }, functionErrors: ['OddError'] });
}

async function stored(Key: string): Promise<unknown> {
  const { Body } = await s3.client.send(new GetObjectCommand({ Bucket: 'work', Key }));
  return JSON.parse((await Body?.transformToString()) ?? '');
}

/** A function that fails for those told. */
const failing =
  (...those: number[]) =>
  ({ Items }: Batch) => {
    if (Items.some(({ n }) => those.includes(n))) throw new OddError(`no ${those}`);
    return Items.map(({ n }) => n * 2);
  };

describe('a Distributed Map', () => {
  it.each([
    [
      'items.json',
      '{% 1 + 2 %}',
      [
        [1, 2, 3],
        [4, 5],
      ],
    ],
    ['items.json', 1, [[1], [2], [3], [4], [5]]],
    ['none.json', 2, []],
  ])('gives the items of %s to its children, at most %s at once', async (key, MaxItemsPerBatch, expected) => {
    const seen: Batch[] = [];
    const ItemBatcher = { MaxItemsPerBatch, BatchInput: { of: '{% $states.input.name %}' } };
    const execution = await run(
      mapping({ ItemReader: read(key), ItemBatcher }),
      (event: Batch) => seen.push(event),
      'a',
    );
    expect(execution.status).toBe('SUCCEEDED');
    expect(seen.map(({ Items }) => Items.map(({ n }) => n))).toEqual(expected);
    for (const { BatchInput } of seen) expect(BatchInput).toEqual({ of: 'a' });
  });

  it.each([
    ['an object that is not there', read('other.json')],
    ['an object that is not JSON', read('broken.json')],
    ['an object that is not an array', read('object.json')],
    ['a bucket that is not there', read('items.json', 'other')],
  ])('fails with %s, and can be caught by that name', async (_, ItemReader) => {
    expect(await run(mapping({ ItemReader }), failing())).toMatchObject({ error: 'States.ItemReaderFailed' });
    const Catch = [{ ErrorEquals: ['States.ItemReaderFailed'], Next: 'After' }];
    const machine = mapping({ ItemReader, Catch });
    Object.assign(machine.States, { After: { Type: 'Succeed', Output: 'caught' } });
    expect(await run(machine, failing())).toMatchObject({ output: 'caught' });
  });

  it('runs each child as a separate execution', async () => {
    const machine = mapping();
    machine.States.Each.ItemProcessor.States.Do.Arguments.Payload = '{% $states.context.Execution %}';
    const seen: { Id: string; Input: Batch }[] = [];
    await run(machine, (event: (typeof seen)[number]) => seen.push(event));
    expect(seen.map(({ Input }) => Input.Items[0]?.n)).toEqual([1, 2, 3, 4, 5]);
    expect(new Set(seen.map(({ Id }) => Id)).size).toBe(5);
    for (const { Id } of seen) expect(Id).toMatch(/:execution:Machine\/Each:/);
  });

  it.each([
    [2, 2],
    ['{% 1 + 2 %}', 3],
    [0, 5],
  ])('runs up to MaxConcurrency children at once: %s', async (MaxConcurrency, peak) => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 5));
    const { events } = await run(mapping({ MaxConcurrency }), slow);
    expect(events.at(-1)).toMatchObject({ kind: 'mapped', peak });
  });

  it('fails when a child does, starts no more, and stops the running ones', async () => {
    const { events, ...execution } = await run(mapping(), failing(3));
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.ExceedToleratedFailureThreshold' });
    const counts = { items: 5, children: 5, succeeded: 2, failed: 1, pending: 2, peak: 1 };
    expect(events.at(-1)).toEqual({ kind: 'mapped', state: 'Each', ...counts });
  });

  it('is retried as a whole, and its children separately', async () => {
    let calls = 0;
    const flaky = () => {
      calls++;
      if (calls < 3) throw new OddError('not yet');
    };
    const Retry = [{ ErrorEquals: ['States.ExceedToleratedFailureThreshold'], MaxAttempts: 2 }];
    expect(await run(mapping({ Retry }), flaky)).toMatchObject({ status: 'SUCCEEDED' });
    expect(calls).toBe(7);
    calls = 0;
    const machine = mapping();
    Object.assign(machine.States.Each.ItemProcessor.States.Do, { Retry: [{ ErrorEquals: ['OddError'] }] });
    expect(await run(machine, flaky)).toMatchObject({ status: 'SUCCEEDED' });
    expect(calls).toBe(7);
  });

  it('writes a manifest and the executions, and returns their location', async () => {
    const { output } = (await run(mapping(), failing(), 'written')) as unknown as { output: Written };
    const { Bucket, Key } = output.ResultWriterDetails;
    expect(Bucket).toBe('work');
    expect(Key).toMatch(/^runs\/written\/[0-9a-f-]{36}\/manifest\.json$/);
    expect(output.MapRunArn).toMatch(/:mapRun:Machine\/Each:[0-9a-f-]{36}$/);
    const file = { Key: Key.replace('manifest', 'SUCCEEDED_0'), Size: expect.any(Number) };
    expect(await stored(Key)).toEqual({
      DestinationBucket: 'work',
      MapRunArn: output.MapRunArn,
      ResultFiles: { SUCCEEDED: [file], FAILED: [], PENDING: [] },
    });
    const executions = (await stored(file.Key)) as Record<string, unknown>[];
    expect(executions).toHaveLength(5);
    expect(executions[0]).toMatchObject({ Status: 'SUCCEEDED', Output: '[2]' });
  });

  it('writes failed and pending children separately, also when it fails', async () => {
    expect((await run(mapping(), failing(3), 'failed')).status).toBe('FAILED');
    const { Contents = [] } = await s3.client.send(
      new ListObjectsV2Command({ Bucket: 'work', Prefix: 'runs/failed/' }),
    );
    const keys = Contents.map(({ Key = '' }) => Key);
    const names = keys.map((key) => key.split('/').at(-1));
    expect(names.sort()).toEqual(['FAILED_0.json', 'PENDING_0.json', 'SUCCEEDED_0.json', 'manifest.json']);
    const failed = await stored(keys.find((key) => key.endsWith('FAILED_0.json')) ?? '');
    expect(failed).toEqual([expect.objectContaining({ Status: 'FAILED', Error: 'OddError' })]);
  });

  it("fails if it can't write its results", async () => {
    const execution = await run(mapping({ ResultWriter: writeTo('other') }), failing());
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.ResultWriterFailed' });
  });
});
