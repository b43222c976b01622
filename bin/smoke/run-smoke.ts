import { table } from '../cli/output.ts';
import { createApi, NoAnswerError } from './api.ts';
import { type Check, type CheckResult, Disagreement, Skip, type SmokeOptions, type Visit } from './check.ts';
import { authenticationChecks, validationChecks } from './check-authentication.ts';
import { everyAnswerChecks } from './check-every-answer.ts';
import { inputChecks, pathChecks } from './check-input.ts';
import { lookupChecks } from './check-lookups.ts';

/** All checks in their order: what costs nothing first, what looks at all answers last. */
export const checks: readonly Check[] = [
  ...validationChecks,
  ...authenticationChecks,
  ...pathChecks,
  ...inputChecks,
  ...lookupChecks,
  ...everyAnswerChecks,
];

/** What a run found, and what it cost. */
export type SmokeReport = { results: CheckResult[]; requests: number; lookups: number };

/** Runs every check, or those chosen, against an interface. @throws NoAnswerError when nothing answers */
export async function runSmoke(baseUrl: string, options: SmokeOptions, chosen = checks): Promise<SmokeReport> {
  const api = createApi(baseUrl, options.key);
  const visit: Visit = { api, options, limits: null, left: null };
  const results: CheckResult[] = [];
  for (const check of chosen) results.push(await resultOf(check, visit));
  return { results, requests: api.answers.length, lookups: api.charged() };
}

async function resultOf({ section, title, run }: Check, visit: Visit): Promise<CheckResult> {
  try {
    await run(visit);
    return { section, title, state: 'passed', reason: null };
  } catch (error) {
    if (error instanceof Disagreement) return { section, title, state: 'failed', reason: error.message };
    // One that never comes is a fault like another; where none has come yet there is nothing to test.
    const isMissing = error instanceof NoAnswerError && visit.api.answers.length > 0;
    if (isMissing) return { section, title, state: 'failed', reason: `no answer to ${error.message}` };
    if (error instanceof Skip) return { section, title, state: 'skipped', reason: error.message };
    throw error;
  }
}

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
