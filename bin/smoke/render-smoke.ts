import { table } from '../output/table.ts';
import type { CheckResult } from './check.ts';
import type { SmokeReport } from './run-smoke.ts';

/** The checks as a table, then what did not pass with its reason, then what it cost. */
export function renderSmoke({ results, requests, lookups }: SmokeReport): string {
  const rows = results.map(({ section, title, state }) => [state, section, title]);
  const others = results.filter(({ state }) => state !== 'passed');
  const of = (wanted: CheckResult['state']) => results.filter(({ state }) => state === wanted).length;
  return [
    table(['', 'section', 'guarantee'], rows),
    ...others.map(({ state, title, reason }) => `${state}: ${title}\n  ${reason}`),
    `${of('passed')} passed, ${of('failed')} failed, ${of('skipped')} skipped; ` +
      `${requests} requests, of which ${lookups} lookups were charged.`,
  ].join('\n');
}
