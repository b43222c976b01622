import type { BatchProblem, Problem } from './consumer.ts';

/** What went wrong, in a line. The compiler reports a problem that is not handled. */
export function describeProblem(problem: Problem | BatchProblem): string {
  switch (problem.type) {
    case '/problems/invalid-input':
      return `invalid: ${problem.errors.map(describeFault).join(', ')}`;
    case '/problems/quota-exceeded':
      return `no quota left this ${problem.violated_windows.join(' and ')}`;
    case '/problems/unauthorized':
    case '/problems/account-inactive':
    case '/problems/plan-inactive':
      return `refused: ${problem.title}`;
    case '/problems/content-too-large':
    case '/problems/unsupported-media-type':
      return `not sent as the service takes it: ${problem.title}`;
    case '/problems/internal-error':
    case '/problems/temporarily-unavailable':
      return `failed: ${problem.title}`;
    default:
      return problem satisfies never;
  }
}

/** A fault in a query names the parameter; one in a body has a JSON pointer to the member. */
function describeFault(
  fault: { parameter: string; code: string } | { pointer: string; code: string },
): string {
  return `${'pointer' in fault ? fault.pointer : fault.parameter} ${fault.code}`;
}
