import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startS3, type TestS3 } from '../support/s3.ts';
import { lambdaInvoke, lambdaInvokeArn } from '../support/state-machine/lambda-invoke.ts';
import { runStateMachine } from '../support/state-machine/run-state-machine.ts';
import { invoke, tinyMachine } from '../support/state-machine/tiny-machine.ts';

let s3: TestS3;

beforeAll(async () => {
  s3 = await startS3('work');
  await put('items.json', '[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]');
  await put('items.jsonl', '{"n":1}\n{"n":2}\n');
  await put('none.json', '[]');
  await put('object.json', '{"n":1}');
  await put('broken.json', '[{"n":1},');
  await put('listed/a', 'aa');
  await put('listed/b', 'b');
});
afterAll(() => s3.stop());

const put = (Key: string, Body: string) => s3.client.send(new PutObjectCommand({ Bucket: 'work', Key, Body }));

async function stored(Key: string): Promise<unknown> {
  const { Body } = await s3.client.send(new GetObjectCommand({ Bucket: 'work', Key }));
  return JSON.parse((await Body?.transformToString()) ?? '');
}

class OddError extends Error {
  override readonly name = 'OddError';
}

/** Doubles `n`; fails for those told. */
function double(...failing: number[]) {
  return (event: { n: number }) => {
    if (failing.includes(event.n)) throw new OddError(`no ${event.n}`);
    return event.n * 2;
  };
}

const read = (Key: string, InputType = 'JSON') => ({
  Resource: 'arn:aws:states:::s3:getObject',
  ReaderConfig: { InputType },
  Arguments: { Bucket: 'work', Key: `{% '${Key}' %}` },
});

/** A machine of one Distributed Map, whose children call `F` with their input. */
function mapping(more: Record<string, unknown>, ExecutionType = 'STANDARD') {
  const payload = { Output: '{% $states.result.Payload %}' };
  return tinyMachine({
    Each: {
      Type: 'Map',
      Label: 'Each',
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType },
        StartAt: 'Do',
        States: { Do: invoke('F', '{% $states.input %}', payload) },
      },
      End: true,
      ...more,
    },
  });
}

async function run(definition: unknown, F: (event: never) => unknown, input: unknown = {}) {
  const integrations = { [lambdaInvokeArn]: lambdaInvoke({ F }) };
  return runStateMachine(definition, { integrations, s3: s3.client, input, functionErrors: ['OddError'] });
}

const seen = (event: unknown) => event;

describe('a Distributed Map', () => {
  it.each<[string, Record<string, unknown>, (event: never) => unknown, unknown]>([
    ['reads a JSON array', { ItemReader: read('items.json') }, double(), [2, 4, 6, 8, 10]],
    ['reads JSON lines', { ItemReader: read('items.jsonl', 'JSONL') }, double(), [2, 4]],
    [
      'reads no more items than it is told',
      { ItemReader: { ...read('items.json'), ReaderConfig: { InputType: 'JSON', MaxItems: 2 } } },
      double(),
      [2, 4],
    ],
    ['does nothing for no items', { ItemReader: read('none.json') }, double(), []],
    ['takes items from its input', { Items: '{% $states.input.list %}' }, double(), [2, 4]],
    [
      'selects with the item, its place and its source',
      {
        ItemReader: read('items.jsonl', 'JSONL'),
        ItemSelector: {
          n: '{% $states.context.Map.Item.Value.n %}',
          at: '{% $states.context.Map.Item.Index %}',
          of: '{% $states.context.Map.Item.Source %}',
          name: '{% $states.input.name %}',
        },
      },
      seen,
      [
        { n: 1, at: 0, of: 'S3://work/items.jsonl', name: 'Weesp' },
        { n: 2, at: 1, of: 'S3://work/items.jsonl', name: 'Weesp' },
      ],
    ],
    [
      'batches with what is common to all',
      {
        ItemReader: read('items.json'),
        ItemBatcher: { MaxItemsPerBatch: '{% 1 + 2 %}', BatchInput: { name: '{% $states.input.name %}' } },
      },
      seen,
      [
        { BatchInput: { name: 'Weesp' }, Items: [{ n: 1 }, { n: 2 }, { n: 3 }] },
        { BatchInput: { name: 'Weesp' }, Items: [{ n: 4 }, { n: 5 }] },
      ],
    ],
    [
      'batches by size: what is common counts in each',
      {
        ItemReader: read('items.json'),
        ItemBatcher: { MaxInputBytesPerBatch: '{"BatchInput":1,"Items":[{"n":1},{"n":2}]}'.length + 1, BatchInput: 1 },
      },
      ({ Items }: { Items: unknown[] }) => Items.length,
      [2, 2, 1],
    ],
    [
      'flattens what its children give',
      { ItemReader: read('items.jsonl', 'JSONL'), ResultWriter: { WriterConfig: { Transformation: 'FLATTEN' } } },
      ({ n }: { n: number }) => [n, n],
      [1, 1, 2, 2],
    ],
  ])('%s', async (_, more, F, output) => {
    const input = { name: 'Weesp', list: [{ n: 1 }, { n: 2 }] };
    expect(await run(mapping(more), F, input)).toMatchObject({ status: 'SUCCEEDED', output });
  });

  it('lists objects, with what S3 knows of them', async () => {
    const ItemReader = {
      Resource: 'arn:aws:states:::s3:listObjectsV2',
      Arguments: { Bucket: 'work', Prefix: 'listed/' },
    };
    const { output } = (await run(mapping({ ItemReader }), seen)) as { output?: unknown };
    const object = { Etag: expect.any(String), LastModified: expect.any(Number), StorageClass: 'STANDARD' };
    expect(output).toEqual([
      { ...object, Key: 'listed/a', Size: 2 },
      { ...object, Key: 'listed/b', Size: 1 },
    ]);
  });

  it.each([
    ['an object that is not there', read('other.json')],
    ['an object that is no JSON', read('broken.json')],
    ['an object that is no array', read('object.json')],
    ['a bucket that is not there', { ...read('items.json'), Arguments: { Bucket: 'other', Key: 'items.json' } }],
  ])('fails by %s, and can be caught by that', async (_, ItemReader) => {
    expect(await run(mapping({ ItemReader }), seen)).toMatchObject({ error: 'States.ItemReaderFailed' });
    const Catch = [{ ErrorEquals: ['States.ItemReaderFailed'], Next: 'After' }];
    const machine = mapping({ ItemReader, Catch });
    Object.assign(machine.States, { After: { Type: 'Succeed', Output: 'caught' } });
    expect(await run(machine, seen)).toMatchObject({ output: 'caught' });
  });

  it('runs each child as an execution of its own', async () => {
    const machine = mapping({ ItemReader: read('items.jsonl', 'JSONL') });
    const { Do } = machine.States.Each.ItemProcessor.States;
    Do.Arguments.Payload = '{% $states.context.Execution %}';
    const { output } = (await run(machine, seen)) as unknown as { output: { Id: string; Input: unknown }[] };
    expect(output.map(({ Input }) => Input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(new Set(output.map(({ Id }) => Id)).size).toBe(2);
    for (const { Id } of output) expect(Id).toMatch(/:execution:Machine\/Each:/);
  });

  it('runs as many children at once as it may, by default all of them', async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 5));
    const peak = async (more: Record<string, unknown>) => {
      const { events } = await run(mapping({ ItemReader: read('items.json'), ...more }), slow);
      return events.flatMap((event) => (event.kind === 'mapped' ? [event.peak] : []));
    };
    expect(await peak({ MaxConcurrency: 2 })).toEqual([2]);
    expect(await peak({ MaxConcurrency: '{% 1 + 2 %}' })).toEqual([3]);
    expect(await peak({})).toEqual([5]);
  });

  it('fails when its children together give more than the payload limit', async () => {
    const letters = 'x'.repeat(100_000);
    const execution = await run(mapping({ ItemReader: read('items.json') }), () => letters);
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });
});

describe('a Distributed Map whose children fail', () => {
  const one = { MaxConcurrency: 1, ItemReader: read('items.json') };

  it.each<[string, Record<string, unknown>, number[], string]>([
    ['none is tolerated unless it is said', {}, [2], 'FAILED'],
    ['as many as tolerated', { ToleratedFailureCount: 2 }, [2, 4], 'SUCCEEDED'],
    ['one more than tolerated', { ToleratedFailureCount: 1 }, [2, 4], 'FAILED'],
    ['as large a share as tolerated', { ToleratedFailurePercentage: 40 }, [2, 4], 'SUCCEEDED'],
    ['a larger share than tolerated', { ToleratedFailurePercentage: 39 }, [2, 4], 'FAILED'],
    ['within the count but not the share', { ToleratedFailureCount: 5, ToleratedFailurePercentage: 10 }, [2], 'FAILED'],
    ['within the share but not the count', { ToleratedFailureCount: 0, ToleratedFailurePercentage: 90 }, [2], 'FAILED'],
    ['all, and all are tolerated', { ToleratedFailurePercentage: '{% 100 %}' }, [1, 2, 3, 4, 5], 'SUCCEEDED'],
  ])('%s', async (_, more, failing, status) => {
    const execution = await run(mapping({ ...one, ...more }), double(...failing));
    expect(execution.status).toBe(status);
    if (execution.status === 'FAILED') expect(execution.error).toBe('States.ExceedToleratedFailureThreshold');
  });

  it('counts every item of a batch that failed', async () => {
    const failing = ({ Items }: { Items: { n: number }[] }) => double(1)(Items[0] ?? { n: 0 });
    const more = { ...one, ItemBatcher: { MaxItemsPerBatch: 3 } };
    expect(await run(mapping({ ...more, ToleratedFailureCount: 2 }), failing)).toMatchObject({ status: 'FAILED' });
    expect(await run(mapping({ ...more, ToleratedFailureCount: 3 }), failing)).toMatchObject({ status: 'SUCCEEDED' });
  });

  it('begins no more children once too many failed, nor goes on in those that run', async () => {
    const { events } = await run(mapping(one), double(3));
    expect(events.at(-1)).toEqual({
      kind: 'mapped',
      state: 'Each',
      items: 5,
      children: 5,
      succeeded: 2,
      failed: 1,
      pending: 2,
      peak: 1,
    });
  });

  it('hands on how a tolerated child failed, in its place', async () => {
    const { output } = (await run(mapping({ ...one, ToleratedFailureCount: 1 }), double(2))) as { output?: unknown };
    const failed = { Status: 'FAILED', Error: 'OddError', Cause: expect.stringContaining('no 2'), Input: '{"n":2}' };
    expect(output).toEqual([2, expect.objectContaining(failed), 6, 8, 10]);
  });

  it('retries all of the map, and its children by themselves', async () => {
    let calls = 0;
    const flaky = ({ n }: { n: number }) => {
      calls++;
      if (calls < 3) throw new OddError('not yet');
      return n;
    };
    const Retry = [{ ErrorEquals: ['States.ExceedToleratedFailureThreshold'], MaxAttempts: 2 }];
    expect(await run(mapping({ ...one, Retry }), flaky)).toMatchObject({ output: [1, 2, 3, 4, 5] });
    expect(calls).toBe(7);
    calls = 0;
    const machine = mapping(one);
    Object.assign(machine.States.Each.ItemProcessor.States.Do, { Retry: [{ ErrorEquals: ['OddError'] }] });
    expect(await run(machine, flaky)).toMatchObject({ output: [1, 2, 3, 4, 5] });
    expect(calls).toBe(7);
  });
});

describe('a ResultWriter', () => {
  const Resource = 'arn:aws:states:::s3:putObject';
  const ResultWriter = { Resource, Arguments: { Bucket: 'work', Prefix: "{% 'runs/' & $states.input.name %}" } };
  const more = { ItemReader: read('items.json'), MaxConcurrency: 1, ResultWriter };
  type Written = { MapRunArn: string; ResultWriterDetails: { Bucket: string; Key: string } };

  it('writes a manifest and the executions, and hands on where they are', async () => {
    const { output } = (await run(mapping(more), double(), { name: 'a' })) as unknown as { output: Written };
    const { Bucket, Key } = output.ResultWriterDetails;
    expect(Bucket).toBe('work');
    expect(Key).toMatch(/^runs\/a\/[0-9a-f-]{36}\/manifest\.json$/);
    expect(output.MapRunArn).toMatch(/:mapRun:Machine\/Each:[0-9a-f-]{36}$/);
    const file = { Key: Key.replace('manifest', 'SUCCEEDED_0'), Size: expect.any(Number) };
    expect(await stored(Key)).toEqual({
      DestinationBucket: 'work',
      MapRunArn: output.MapRunArn,
      ResultFiles: { SUCCEEDED: [file], FAILED: [], PENDING: [] },
    });
    const executions = (await stored(file.Key)) as Record<string, unknown>[];
    expect(executions).toHaveLength(5);
    expect(executions[0]).toMatchObject({ Status: 'SUCCEEDED', Input: '{"n":1}', Output: '2' });
  });

  it('writes apart what failed and what did not begin, also when the map fails', async () => {
    expect((await run(mapping(more), double(3), { name: 'b' })).status).toBe('FAILED');
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: 'work', Prefix: 'runs/b/' }));
    const keys = Contents.map(({ Key = '' }) => Key);
    const names = keys.map((key) => key.split('/').at(-1));
    expect(names.sort()).toEqual(['FAILED_0.json', 'PENDING_0.json', 'SUCCEEDED_0.json', 'manifest.json']);
    const failed = (await stored(keys.find((key) => key.endsWith('FAILED_0.json')) ?? '')) as unknown[];
    expect(failed).toEqual([expect.objectContaining({ Status: 'FAILED', Error: 'OddError' })]);
  });

  it('fails the map where it can not write', async () => {
    const elsewhere = { Resource, Arguments: { Bucket: 'other', Prefix: 'p' } };
    const execution = await run(mapping({ ...more, ResultWriter: elsewhere }), double());
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.ResultWriterFailed' });
  });
});
