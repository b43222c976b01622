import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { TestS3 } from '../s3.ts';
import { double, mapping, read, runMapping, startItems } from './mapping-machine.ts';

let s3: TestS3;

beforeAll(async () => {
  s3 = await startItems();
});
afterAll(() => s3.stop());

const run = (definition: unknown, F: (event: never) => unknown, input?: unknown) =>
  runMapping(s3, definition, F, input);
const seen = (event: unknown) => event;

describe('a Distributed Map', () => {
  it.each<[string, Record<string, unknown>, (event: never) => unknown, unknown]>([
    ['reads a JSON array', { ItemReader: read('items.json') }, double(), [2, 4, 6, 8, 10]],
    ['reads JSON lines', { ItemReader: read('items.jsonl', 'JSONL') }, double(), [2, 4]],
    [
      'reads no more items than MaxItems',
      { ItemReader: { ...read('items.json'), ReaderConfig: { InputType: 'JSON', MaxItems: 2 } } },
      double(),
      [2, 4],
    ],
    ['does nothing for no items', { ItemReader: read('none.json') }, double(), []],
    ['reads items from its input', { Items: '{% $states.input.list %}' }, double(), [2, 4]],
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
      'batches with BatchInput',
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
      'batches by size, which includes BatchInput in each',
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

  it('lists objects with their S3 metadata', async () => {
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
    ['an object that is not JSON', read('broken.json')],
    ['an object that is not an array', read('object.json')],
    ['a bucket that is not there', { ...read('items.json'), Arguments: { Bucket: 'other', Key: 'items.json' } }],
  ])('fails with %s, and can be caught by that name', async (_, ItemReader) => {
    expect(await run(mapping({ ItemReader }), seen)).toMatchObject({ error: 'States.ItemReaderFailed' });
    const Catch = [{ ErrorEquals: ['States.ItemReaderFailed'], Next: 'After' }];
    const machine = mapping({ ItemReader, Catch });
    Object.assign(machine.States, { After: { Type: 'Succeed', Output: 'caught' } });
    expect(await run(machine, seen)).toMatchObject({ output: 'caught' });
  });

  it('runs each child as a separate execution', async () => {
    const machine = mapping({ ItemReader: read('items.jsonl', 'JSONL') });
    const { Do } = machine.States.Each.ItemProcessor.States;
    Do.Arguments.Payload = '{% $states.context.Execution %}';
    const { output } = (await run(machine, seen)) as unknown as { output: { Id: string; Input: unknown }[] };
    expect(output.map(({ Input }) => Input)).toEqual([{ n: 1 }, { n: 2 }]);
    expect(new Set(output.map(({ Id }) => Id)).size).toBe(2);
    for (const { Id } of output) expect(Id).toMatch(/:execution:Machine\/Each:/);
  });

  it('runs up to MaxConcurrency children at once, by default all of them', async () => {
    const slow = () => new Promise((resolve) => setTimeout(resolve, 5));
    const peak = async (more: Record<string, unknown>) => {
      const { events } = await run(mapping({ ItemReader: read('items.json'), ...more }), slow);
      return events.flatMap((event) => (event.kind === 'mapped' ? [event.peak] : []));
    };
    expect(await peak({ MaxConcurrency: 2 })).toEqual([2]);
    expect(await peak({ MaxConcurrency: '{% 1 + 2 %}' })).toEqual([3]);
    expect(await peak({})).toEqual([5]);
  });

  it('fails when the combined output of its children exceeds the payload limit', async () => {
    const letters = 'x'.repeat(100_000);
    const execution = await run(mapping({ ItemReader: read('items.json') }), () => letters);
    expect(execution).toMatchObject({ status: 'FAILED', error: 'States.DataLimitExceeded' });
  });
});
