import { lambdaErrors, stateErrors } from './errors.ts';
import type { Integration } from './frame.ts';
import type { State } from './schema.ts';

/** What a definition may name. */
export type Known = {
  integrations: Readonly<Record<string, Integration>>;
  functionErrors: readonly string[];
};

/** What is wrong with one state by itself, its states within and its expressions aside. */
export function checkState(state: State, known: Known): string[] {
  const issues: string[] = [];
  if ('End' in state || ('Next' in state && state.Next !== undefined)) {
    if ((state.Next === undefined) === (state.End === undefined)) issues.push('has both Next and End');
  } else if (!['Choice', 'Succeed', 'Fail'].includes(state.Type)) issues.push('has neither Next nor End');
  if (state.Type === 'Task') {
    const integration = known.integrations[state.Resource];
    if (integration) issues.push(...integration.check(state.Arguments));
    else issues.push(`the resource ${state.Resource} is not known`);
  }
  if ('Retry' in state) {
    state.Retry.forEach(({ ErrorEquals, MaxDelaySeconds, IntervalSeconds }, index) => {
      issues.push(...checkErrors(ErrorEquals, index === state.Retry.length - 1, known));
      if (MaxDelaySeconds !== undefined && MaxDelaySeconds <= IntervalSeconds) {
        issues.push('MaxDelaySeconds must be greater than IntervalSeconds');
      }
    });
    state.Catch.forEach(({ ErrorEquals }, index) => {
      issues.push(...checkErrors(ErrorEquals, index === state.Catch.length - 1, known));
    });
  }
  return issues;
}

function checkErrors(names: string[], last: boolean, { functionErrors }: Known): string[] {
  const known: readonly string[] = [...stateErrors, ...lambdaErrors, ...functionErrors];
  const issues = names.filter((name) => !known.includes(name)).map((name) => `the error name ${name} is not known`);
  if (names.includes('States.Runtime')) issues.push('nothing retries or catches States.Runtime');
  if (names.includes('States.ALL') && (names.length > 1 || !last)) {
    issues.push('States.ALL must stand alone, in the last retrier or catcher');
  }
  return issues;
}
