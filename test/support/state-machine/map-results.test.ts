import { GetObjectCommand, ListObjectsV2Command } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestS3 } from '../s3.ts';
import { double, mapping, OddError, read, runMapping, startItems } from './mapping-machine.ts';

let s3: TestS3;

beforeAll(async () => {
  s3 = await startItems();
});
afterAll(() => s3.stop());

const run = (definition: unknown, F: (event: never) => unknown, input?: unknown) =>
  runMapping(s3, definition, F, input);

async function stored(Key: string): Promise<unknown> {
  const { Body } = await s3.client.send(new GetObjectCommand({ Bucket: 'work', Key }));
  return JSON.parse((await Body?.transformToString()) ?? '');
}

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

  it('starts no more children after too many have failed, and stops the running ones', async () => {
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

  it('returns the error of a tolerated child in its position', async () => {
    const { output } = (await run(mapping({ ...one, ToleratedFailureCount: 1 }), double(2))) as { output?: unknown };
    const failed = { Status: 'FAILED', Error: 'OddError', Cause: expect.stringContaining('no 2'), Input: '{"n":2}' };
    expect(output).toEqual([2, expect.objectContaining(failed), 6, 8, 10]);
  });

  it('retries the whole map, and its children separately', async () => {
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

  it('writes a manifest and the executions, and returns their location', async () => {
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

  it('writes failed and pending children separately, also when the map fails', async () => {
    expect((await run(mapping(more), double(3), { name: 'b' })).status).toBe('FAILED');
    const { Contents = [] } = await s3.client.send(new ListObjectsV2Command({ Bucket: 'work', Prefix: 'runs/b/' }));
    const keys = Contents.map(({ Key = '' }) => Key);
    const names = keys.map((key) => key.split('/').at(-1));
    expect(names.sort()).toEqual(['FAILED_0.json', 'PENDING_0.json', 'SUCCEEDED_0.json', 'manifest.json']);
    const failed = (await stored(keys.find((key) => key.endsWith('FAILED_0.json')) ?? '')) as unknown[];
    expect(failed).toEqual([expect.objectContaining({ Status: 'FAILED', Error: 'OddError' })]);
  });

  it("fails the map if it can't write", async () => {
    const elsewhere = { Resource, Arguments: { Bucket: 'other', Prefix: 'p' } };
    const execution = await run(mapping({ ...more, ResultWriter: elsewhere }), double());
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.ResultWriterFailed' });
  });
});
