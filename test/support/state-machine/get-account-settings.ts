import type { Integration } from './frame.ts';
import { serviceCall } from './service-call.ts';

/** The resource that `getAccountSettings` stands for. */
export const getAccountSettingsArn = 'arn:aws:states:::aws-sdk:lambda:getAccountSettings';

/**
 * Answers as Lambda does for an account. @param unreserved the functions that it can run at once beside reserved ones;
 * may throw
 */
export function getAccountSettings(unreserved: () => number): Integration {
  return serviceCall({}, async () => ({ AccountLimit: { UnreservedConcurrentExecutions: unreserved() } }));
}
