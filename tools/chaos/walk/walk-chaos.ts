import { isDeepStrictEqual } from 'node:util';
import { startStateMachineBench } from '../../../test/loader/state-machine-bench.ts';
import '../../../test/support/quiet.js';
import { dateAfter } from '../../../test/support/register.ts';
import { walkConfiguration, walkDays } from './walk-days.ts';

/** A walk over the last `days` days, with its findings on standard output. */
export async function walkChaos(days: number, objects: number, seed: number): Promise<void> {
  const begin = performance.now();
  const start = dateAfter(new Date().toISOString().slice(0, 10), -days - 1);
  const loader = await startStateMachineBench(walkConfiguration);
  try {
    const onDay = (day: number) => {
      if (day % 10 === 0)
        console.log(`day ${day} of ${days}, ${Math.round((performance.now() - begin) / 1000)} seconds`);
    };
    const { happened, found, expected } = await walkDays(loader, { seed, start, days, objects, onDay });
    console.log(JSON.stringify(happened));
    const differing = [...new Set([...found.keys(), ...expected.keys()])].filter(
      (key) => !isDeepStrictEqual(found.get(key), expected.get(key)),
    );
    if (differing.length === 0) return console.log(`Seed ${seed}: ${expected.size} addresses, no finding.`);
    console.log(`Seed ${seed}: ${differing.length} addresses differ from the last extract: ${differing.slice(0, 10)}`);
    process.exitCode = 1;
  } finally {
    await loader.stop();
  }
}
