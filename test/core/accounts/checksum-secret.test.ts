import { marshall } from '@aws-sdk/util-dynamodb';
import { beforeEach, describe, expect, it } from '@jest/globals';
import { checksumSecret, createChecksumSecrets } from '../../../core/accounts/checksum-secret.ts';

type Answer = { Item?: unknown };

let clock: number;
let reads: PromiseWithResolvers<Answer>[];
let inputs: unknown[];

beforeEach(() => {
  clock = 1_000_000;
  reads = [];
  inputs = [];
});

const client = {
  send: (command: { input: unknown }) => {
    const read = Promise.withResolvers<Answer>();
    inputs.push(command.input);
    reads.push(read);
    return read.promise;
  },
};
const start = () => createChecksumSecrets(client as never, 'accounts', () => clock);
const answer = (read: number, item?: object) =>
  reads[read]?.resolve(item ? { Item: marshall(item) } : {});
const signal = () => AbortSignal.timeout(20_000);

describe('the checksum secrets of an instance', () => {
  it('are read as it starts, consistently, and all of them are accepted', async () => {
    const secrets = start();
    expect(inputs).toEqual([
      { TableName: 'accounts', Key: marshall(checksumSecret.key), ConsistentRead: true },
    ]);
    const reading = secrets.reread(signal());
    answer(0, { current: 'b', next: 'c', previous: 'a' });
    expect([await reading, secrets.known]).toEqual([
      ['b', 'c', 'a'],
      ['b', 'c', 'a'],
    ]);
    expect(reads).toHaveLength(1);
  });

  it.each([
    ['some are known', { current: 'a' }, 5000],
    ['none is known', undefined, 1000],
  ])('are read again at most once in a while, if %s', async (_, item, pause) => {
    const secrets = start();
    answer(0, item);
    await secrets.reread(signal());
    clock += pause - 1;
    for (let i = 0; i < 20; i++) await secrets.reread(signal());
    expect(reads).toHaveLength(1);
    clock += 1;
    const junk = Array.from({ length: 20 }, () => secrets.reread(signal()));
    answer(1, { current: 'b' });
    expect(new Set((await Promise.all(junk)).flat())).toEqual(new Set(['b']));
    expect(reads).toHaveLength(2);
  });

  it('are read again at once after the clock was set back', async () => {
    const secrets = start();
    answer(0, { current: 'a' });
    await secrets.reread(signal());
    clock -= 3_600_000;
    const reading = secrets.reread(signal());
    answer(1, { current: 'b' });
    expect(await reading).toEqual(['b']);
  });

  it('are not taken from a read that began too long ago, and its late answer changes nothing', async () => {
    const secrets = start();
    clock += 1000;
    const reading = secrets.reread(signal());
    answer(1, { current: 'a', next: 'b' });
    expect(await reading).toEqual(['a', 'b']);
    answer(0);
    expect(await secrets.reread(signal())).toEqual(['a', 'b']);
    expect(secrets.known).toEqual(['a', 'b']);
  });

  it('that can not be read are an error, and the known ones stay', async () => {
    const secrets = start();
    answer(0, { current: 'a' });
    await secrets.reread(signal());
    clock += 5000;
    const reading = secrets.reread(signal());
    reads[1]?.reject(new Error('no connection'));
    await expect(reading).rejects.toMatchObject({ name: 'StoreUnavailable' });
    await expect(secrets.reread(signal())).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(secrets.known).toEqual(['a']);
  });

  it('are read again a second after a read that failed, and no earlier', async () => {
    const secrets = start();
    answer(0, { current: 'a' });
    await secrets.reread(signal());
    clock += 5000;
    const reading = secrets.reread(signal());
    reads[1]?.reject(new Error('no connection'));
    await expect(reading).rejects.toMatchObject({ name: 'StoreUnavailable' });
    clock += 999;
    await expect(secrets.reread(signal())).rejects.toMatchObject({ name: 'StoreUnavailable' });
    expect(reads).toHaveLength(2);
    clock += 1;
    const again = secrets.reread(signal());
    answer(2, { current: 'a', next: 'b' });
    expect(await again).toEqual(['a', 'b']);
    clock += 4999;
    await secrets.reread(signal());
    expect(reads).toHaveLength(3);
  });
});
