import { hostname, userInfo } from 'node:os';

/**
 * Whom the audit names for a change by command line: `ann@laptop`. The operator's machine says so, and nothing proves
 * it; CloudTrail has the AWS identity behind each write where its data events are on.
 */
export function operator(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a user id without a name, as in some containers
  }
}
