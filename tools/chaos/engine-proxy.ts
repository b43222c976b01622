import { setTimeout as sleep } from 'node:timers/promises';
import { answer, answerFailure, startProxy } from '../../test/support/store-proxy.ts';
import type { Random } from '../bench/generator/random.ts';

/** Stands between a client and the engine, and can be told to misbehave. */
export type EngineProxy = {
  readonly endpoint: string;
  /** Where requests go from now on. */
  target(endpoint: string): void;
  misbehave(mode: EngineFault): void;
  stop(): Promise<void>;
};

export const engineFaults = ['none', 'slow', 'cut', 'lose answers', 'fail', 'late'] as const;
export type EngineFault = (typeof engineFaults)[number];

/** Starts a proxy before no engine yet. */
export async function startEngineProxy(random: Random): Promise<EngineProxy> {
  let engine = 'http://127.0.0.1:1';
  let mode: EngineFault = 'none';

  const proxy = await startProxy(
    () => engine,
    async ({ forward }, response) => {
      const fault = mode !== 'slow' && random.chance(0.7) ? 'none' : mode;
      if (fault === 'cut') return void response.destroy();
      if (fault === 'fail') return answerFailure(response);
      if (fault === 'slow') await sleep(random.int(150));
      if (fault === 'late') await sleep(500 + random.int(6_000));
      const answered = await forward();
      if (fault === 'lose answers') return void response.destroy();
      answer(response, answered.status, answered.body);
    },
  );

  return {
    ...proxy,
    target(endpoint) {
      engine = endpoint;
    },
    misbehave(chosen) {
      mode = chosen;
    },
  };
}
