import { createApi, NoAnswerError } from './api.ts';
import { type Check, type CheckResult, Disagreement, Skip, type SmokeOptions, type Visit } from './check.ts';
import { authenticationChecks } from './check-authentication.ts';
import { everyAnswerChecks } from './check-every-answer.ts';
import { inputChecks } from './check-input.ts';
import { lookupChecks } from './check-lookups.ts';
import { pathChecks } from './check-paths.ts';
import { validationChecks } from './check-validation.ts';

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
