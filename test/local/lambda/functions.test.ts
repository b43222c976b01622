import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { startPool } from '../../../local/lambda/functions.ts';
import { FunctionError, startInstance } from '../../../local/lambda/instance.ts';
import type { FunctionSettings } from '../../../local/template/local-app.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const source = `
let busy = 0;
// Computes nothing, but keeps the thread from anything else, as a computation does.
const block = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
export const handler = async (event, context) => {
  busy++;
  try {
    console.log('invoked ' + context.awsRequestId);
    if (event === 'throw') throw new TypeError('the inside');
    if (event === 'die') process.exit(1);
    if (event === 'a lot') console.log('y'.repeat(100_000));
    if (event === 'later') setTimeout(() => console.log('written after the answer'), 1);
    if (event === 'in parts') process.stdout.write('one ', () => process.stdout.write('line\\n'));
    if (event === 'crash') setImmediate(() => { throw new Error('crashed'); });
    if (event === 'hang' || event === 'crash') await new Promise((resolve) => setTimeout(resolve, 5_000));
    if (event === 'busy') {
      // Never idle: on a busy machine even a timer of 1 ms looks like waiting for a store.
      for (let step = 0; step < 2; step++) {
        block(25);
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    if (event.suspended) block(event.suspended + 100);
    if (event === 'almost') await new Promise((resolve) => setTimeout(resolve, 2_550));
    if (event === 'wait') await new Promise((resolve) => setTimeout(resolve, 1_000));
    return { event, busy, env: { ...process.env }, left: context.getRemainingTimeInMillis() };
  } finally {
    busy--;
  }
};
`;

const folder = folderForNow('pool-');
let settings: FunctionSettings;

beforeAll(async () => {
  const module = join(folder, 'index.mjs');
  await writeFile(module, source);
  settings = {
    name: 'tried',
    module,
    handler: 'handler',
    environment: { NAME: 'n' },
    timeoutMilliseconds: 400,
    memoryMegabytes: 128,
  };
});

async function withPool(
  run: (invoke: (event: unknown, id?: string) => Promise<string>, lines: string[]) => Promise<void>,
  own = settings,
) {
  const lines: string[] = [];
  const pool = await startPool(own, (line) => lines.push(line));
  try {
    await run((event, id = 'r1') => pool.invoke(JSON.stringify(event), id), lines);
  } finally {
    await pool.stop();
  }
}

describe('a function behind the gateway', () => {
  it('gets the event and a context, sees only its own environment variables, and returns JSON text', async () => {
    await withPool(async (invoke, lines) => {
      const { left, ...answer } = JSON.parse(await invoke({ a: 1 }, 'id-7'));
      expect(answer).toEqual({ event: { a: 1 }, busy: 1, env: { NAME: 'n' } });
      expect(left).toBeGreaterThan(0);
      expect(left).toBeLessThanOrEqual(400);
      // What was written before the answer comes with it.
      expect(lines).toEqual(['invoked id-7']);
    });
  });

  it('neither keeps compiled code where this process keeps none, nor loads what TypeScript needs', async () => {
    const kept = process.env.NODE_COMPILE_CACHE;
    delete process.env.NODE_COMPILE_CACHE;
    const module = join(folder, 'loaded.mjs');
    await writeFile(module, 'export const handler = async () => process.moduleLoadList;');
    try {
      await withPool(
        async (invoke) => {
          const loaded: string[] = JSON.parse(await invoke(1));
          expect(loaded.length).toBeGreaterThan(50);
          expect(loaded.filter((name) => name.includes('amaro'))).toEqual([]);
        },
        { ...settings, module },
      );
    } finally {
      if (kept !== undefined) process.env.NODE_COMPILE_CACHE = kept;
    }
    // Where a variable without a value would have it.
    expect(existsSync('undefined')).toBe(false);
  });

  it('loses no line that it writes, also after its answer, in parts or at great length', async () => {
    await withPool(async (invoke, lines) => {
      for (const event of ['later', 'a lot', 'in parts']) await invoke(event);
      const written = () => lines.filter((line) => line !== 'invoked r1');
      for (let tries = 0; written().length < 3 && tries < 500; tries++) await sleep(5);
      expect(written().sort()).toEqual(['one line', 'written after the answer', 'y'.repeat(100_000)]);
    });
  });

  it('never handles two events at once in an environment that is computing, however many arrive', async () => {
    // All environments compute beside each other, which takes long where other processes do too.
    const patient = { ...settings, timeoutMilliseconds: 20_000 };
    await withPool(async (invoke) => {
      const answers = await Promise.all(Array.from({ length: 30 }, () => invoke('busy')));
      expect(answers.map((answer) => JSON.parse(answer).busy)).toEqual(Array.from({ length: 30 }, () => 1));
    }, patient);
  });

  it('does not queue events behind events that only wait for a store', async () => {
    const patient = { ...settings, timeoutMilliseconds: 20_000 };
    await withPool(async (invoke) => {
      const begun = performance.now();
      const answers = await Promise.all(Array.from({ length: 60 }, () => invoke('wait')));
      expect(performance.now() - begun).toBeLessThan(8_000); // two at a time it would take 30 seconds
      expect(answers.map((answer) => JSON.parse(answer).event)).toEqual(Array.from({ length: 60 }, () => 'wait'));
    }, patient);
  }, 40_000);

  it('answers or refuses each of 400 events within 5 seconds while a store hangs', async () => {
    const patient = { ...settings, timeoutMilliseconds: 6_000 };
    await withPool(async (invoke) => {
      const started = performance.now();
      const ends = await Promise.all(
        Array.from({ length: 400 }, async () => {
          const end = await invoke('almost').catch((error: Error) => error.name);
          return { refused: end === 'IntegrationTimeoutError', milliseconds: performance.now() - started };
        }),
      );
      expect(ends.filter(({ refused }) => refused).length).toBeGreaterThan(200);
      expect(ends.filter(({ refused }) => !refused).length).toBeGreaterThanOrEqual(64);
      expect(Math.max(...ends.map(({ milliseconds }) => milliseconds))).toBeLessThan(5_000);
    }, patient);
  });

  it.each(['throw', 'die', 'crash', 'hang'])(
    'rejects when the handler does %s, and handles the next event',
    async (event) => {
      await withPool(async (invoke, lines) => {
        await expect(invoke(event)).rejects.toThrow(FunctionError);
        expect(JSON.parse(await invoke('fine')).event).toBe('fine');
        if (event !== 'die') expect(lines.join('\n')).toMatch(/"level":"ERROR"/);
        expect(lines.filter((line) => line === 'invoked r1')).toHaveLength(2);
      });
    },
  );

  it('fails to start when its module does not load, with the reason', async () => {
    await expect(startPool({ ...settings, module: join(folder, 'none.mjs') }, () => undefined)).rejects.toThrow(
      /none\.mjs/,
    );
    await expect(startPool({ ...settings, handler: 'other' }, () => undefined)).rejects.toThrow(
      /exports no function other/,
    );
  });

  it('rejects events after it was stopped, including queued ones', async () => {
    const pool = await startPool(settings, () => undefined);
    const waiting = Promise.allSettled(Array.from({ length: 20 }, () => pool.invoke('"hang"', 'r')));
    await pool.stop();
    expect((await waiting).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 'rejected'));
    await expect(pool.invoke('"fine"', 'r')).rejects.toThrow(FunctionError);
  });
});

describe('the memory of this process', () => {
  inSweep(
    'stays bounded over thousands of calls with large responses',
    async () => {
      const response = 'x'.repeat(40_000);
      const module = join(folder, 'large.mjs');
      await writeFile(module, `export const handler = async (event) => event + ${JSON.stringify(response)};`);
      const pool = await startPool({ ...settings, module, timeoutMilliseconds: 20_000 }, () => undefined);
      const call = (count: number) => Promise.all(Array.from({ length: count }, (_, i) => pool.invoke(`${i}`, 'r')));
      await call(100);
      const before = heapAfterCollection();
      for (let round = 0; round < (isFullSweep ? 100 : 25); round++) await call(100);
      // Holding on to the responses would take 100 MB, and 400 in a full sweep.
      expect(heapAfterCollection() - before).toBeLessThan(40_000_000);
      await pool.stop();
    },
    60_000,
  );
});

function heapAfterCollection(): number {
  setFlagsFromString('--expose-gc');
  runInNewContext('gc')();
  return process.memoryUsage().heapUsed;
}

describe('an environment', () => {
  it('finishes its other events when one times out, and accepts no new ones', async () => {
    const own = { ...settings };
    const instance = await startInstance(own, () => undefined);
    const hanging = instance.invoke('"hang"', 'r1').catch((error) => error);
    // This one has time enough on any machine.
    own.timeoutMilliseconds = 30_000;
    const other = instance.invoke('"wait"', 'r2');
    own.timeoutMilliseconds = settings.timeoutMilliseconds;
    expect(await hanging).toEqual(new FunctionError('r1 Task timed out after 0.40 seconds'));
    expect(instance.alive).toBe(false);
    await expect(instance.invoke('"fine"', 'r3')).rejects.toThrow('timed out');
    expect(JSON.parse(await other)).toMatchObject({ event: 'wait' });
  });

  it.each(sweep([450, 1_200], 1))(
    'still handles an event that timed out while this process was suspended for %i ms',
    async (suspended) => {
      const instance = await startInstance(settings, () => undefined);
      const answer = instance.invoke(JSON.stringify({ suspended }), 'r1');
      // This thread stands still, as from SIGSTOP to SIGCONT.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, suspended);
      expect(JSON.parse(await answer)).toMatchObject({ event: { suspended } });
      await instance.stop();
    },
  );
});
