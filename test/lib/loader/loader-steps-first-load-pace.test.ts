import { expect, it } from '@jest/globals';
import { simulateFirstLoad } from '../../../tools/bench/first-load.ts';
import { ofType, templates } from '../synthesized.ts';

it('the pace of the writers of a load is such that a new table throttles almost no writes, unlike at the full rate', async () => {
  const apply = Object.values(ofType((await templates()).loader, 'AWS::Lambda::Function')).find(
    ({ Properties }) => Properties?.Description === 'Writes changes to the table',
  );
  const environment = apply?.Properties?.Environment as { Variables?: Record<string, string> } | undefined;
  const pace = Number(environment?.Variables?.WRITES_PER_SECOND);
  expect(pace).toBeGreaterThan(500);
  expect(simulateFirstLoad(pace, false, { writes: 400_000 }).throttled_share).toBeLessThan(0.001);
  expect(simulateFirstLoad(1000, false, { writes: 400_000 }).throttled_share).toBeGreaterThan(0.005);
}, 60_000);
