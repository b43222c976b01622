import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { type Instance, startInstance } from '../../../local/lambda/instance.ts';
import { startPool } from '../../../local/lambda/pool.ts';
import type { FunctionSettings } from '../../../local/template/local-app.ts';

const source = `
const handled = [];
export const handler = async (event, context) => {
  handled.push(event);
  const left = context.getRemainingTimeInMillis();
  if (event === 'die') setImmediate(() => process.exit(1));
  if (event === 'crash') setImmediate(() => { throw new Error('crashed'); });
  if (['die', 'crash', 'hang'].includes(event)) await new Promise((resolve) => setTimeout(resolve, 60_000));
  if (event === 'slow') await new Promise((resolve) => setTimeout(resolve, 1_000));
  return { event, left, handled };
};
`;

let folder: string;
let settings: FunctionSettings;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'hand-over-'));
  const module = join(folder, 'index.mjs');
  await writeFile(module, source);
  settings = {
    name: 'f',
    module,
    handler: 'handler',
    environment: {},
    timeoutMilliseconds: 20_000,
    memoryMegabytes: 128,
  };
});
afterAll(() => rm(folder, { recursive: true }));

describe('an event that is handed to an environment in advance', () => {
  let instance: Instance;
  const invoke = async (event: string) => JSON.parse(await instance.invoke(JSON.stringify(event), event));
  const handOver = (event: string) => instance.handOver(JSON.stringify(event), event);
  beforeAll(async () => {
    instance = await startInstance(settings, () => undefined);
  });
  afterAll(() => instance.stop());

  it('is begun once the one before is answered, and has all of its time from then on', async () => {
    const before = invoke('slow');
    const handed = handOver('next');
    expect((await before).handled).not.toContain('next');
    const answer = JSON.parse((await handed?.answer()) ?? '');
    expect(answer).toMatchObject({ event: 'next' });
    // A second less if its time had begun when it was handed over.
    expect(answer.left).toBeGreaterThan(19_500);
    expect(handed?.takeBack()).toBe(false);
  });

  it('is never begun when it has been taken back, however often that is asked', async () => {
    const before = invoke('slow');
    const handed = handOver('taken');
    expect([handed?.takeBack(), handed?.takeBack()]).toEqual([true, true]);
    await before;
    expect((await invoke('last')).handled).not.toContain('taken');
  });

  it('is the only one that is', async () => {
    const before = invoke('slow');
    const handed = handOver('one');
    expect(handOver('two')).toBeUndefined();
    await before;
    await handed?.answer();
    const between = invoke('slow');
    const following = handOver('two');
    await between;
    expect(JSON.parse((await following?.answer()) ?? '').event).toBe('two');
  });
});

describe('a function with more events than environments', () => {
  it('answers all of them in time, each once', async () => {
    const pool = await startPool(settings, () => undefined);
    const events = Array.from({ length: 500 }, (_, index) => `${index}`);
    const answers = await Promise.all(events.map((event) => pool.invoke(event, event)));
    expect(answers.map((answer) => `${JSON.parse(answer).event}`)).toEqual(events);
    const last = answers.map((answer): number[] => JSON.parse(answer).handled);
    // Each environment lists what it handled; the longest list of each holds the others.
    const all = [...new Set(last.map(([first]) => first))].flatMap((first) =>
      last.filter((handled) => handled[0] === first).reduce((a, b) => (a.length > b.length ? a : b)),
    );
    expect(all.sort((a, b) => a - b)).toEqual(events.map(Number));
    await pool.stop();
  });

  it('lets an idle environment handle what waits behind a slow event of another', async () => {
    const pool = await startPool(settings, () => undefined);
    // So that nothing else takes events back: the check of the queue, every 100 ms.
    const check = jest.spyOn(globalThis, 'setInterval').mockImplementation(() => ({ unref: () => 0 }) as never);
    const order: string[] = [];
    const invoke = (event: string) =>
      pool.invoke(JSON.stringify(event), event).then((answer) => order.push(JSON.parse(answer).event));
    await Promise.all(['slow', 'a', 'b', 'c'].map(invoke));
    expect(order.at(-1)).toBe('slow');
    check.mockRestore();
    await pool.stop();
  });

  it.each(['die', 'crash', 'hang'])('handles what waits behind an event that does %s in another one', async (event) => {
    const short = event === 'hang' ? { ...settings, timeoutMilliseconds: 400 } : settings;
    const pool = await startPool(short, () => undefined);
    await pool.invoke('"warm"', 'r');
    const ends = Promise.allSettled([event, 'a', 'b', 'c'].map((sent) => pool.invoke(JSON.stringify(sent), 'r')));
    expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled', 'fulfilled']);
    await pool.stop();
  });

  it('rejects what was handed over when it is stopped', async () => {
    const pool = await startPool(settings, () => undefined);
    const ends = Promise.allSettled(['hang', 'hang', 'a', 'b'].map((event) => pool.invoke(JSON.stringify(event), 'r')));
    await sleep(10);
    await pool.stop();
    expect((await ends).map(({ status }) => status)).toEqual(Array(4).fill('rejected'));
  });
});
