import type { Problem } from './consumer.ts';

/** What went wrong, in a line. The compiler reports a problem that is not handled. */
export function describeProblem(problem: Problem): string {
  switch (problem.type) {
    case '/problems/invalid-input':
      return `invalid: ${problem.errors.map(({ parameter, code }) => `${parameter} ${code}`).join(', ')}`;
    case '/problems/quota-exceeded':
      return `no quota left this ${problem.violated_windows.join(' and ')}`;
    case '/problems/unauthorized':
    case '/problems/account-inactive':
    case '/problems/plan-inactive':
      return `refused: ${problem.title}`;
    case '/problems/internal-error':
    case '/problems/temporarily-unavailable':
      return `failed: ${problem.title}`;
    default:
      return problem satisfies never;
  }
}
