import middy from '@middy/core';
import { type Caller, requireCaller } from '../../core/accounts/account.ts';
import type { KeyClaim } from '../../core/accounts/api-key.ts';
import type { ChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import type { KeyStore } from '../../core/accounts/key-record.ts';
import { limitsOf } from '../../core/accounts/quota.ts';
import { type Clock, keyDay } from '../../core/calendar.ts';
import type { ValidationAnswer } from '../../core/contract.ts';
import {
  type Answer,
  acceptOnly,
  authenticate,
  commonHeaders,
  deadline,
  ok,
  type RequestEvent,
  rateLimitHeaders,
} from '../http/middleware.ts';
import { observe, type RequestLog } from '../http/observe.ts';
import { renderProblems } from '../http/problem.ts';

export type ValidateRouteOptions = {
  keyStore: KeyStore;
  checksumSecrets: ChecksumSecrets;
  clock: Clock;
  /** As in `deadline`. */
  deadlineMilliseconds?: number;
  /** Without it no line is written. */
  log?: RequestLog | undefined;
};

/**
 * `GET /v1/auth/validate`: whether a key is valid, and which limits apply. Does not count against
 * the quota.
 */
export function validateRoute({
  keyStore,
  checksumSecrets,
  clock,
  deadlineMilliseconds,
  log,
}: ValidateRouteOptions) {
  async function admit(claim: KeyClaim, { signal }: RequestEvent): Promise<Caller> {
    // By the time before the read: the item lacks the counts of a window that began since.
    const now = clock();
    const { access, label } = await keyStore.read(claim, signal);
    return { ...requireCaller(access, claim, now), label };
  }

  return middy<RequestEvent, Answer>()
    .use(observe('validate', log))
    .use(commonHeaders())
    .use(rateLimitHeaders(clock))
    .use(renderProblems())
    .use(deadline(deadlineMilliseconds))
    .use(acceptOnly('GET', '/v1/auth/validate'))
    .use(authenticate({ checksumSecrets, admit }))
    .handler(async ({ caller }) => {
      if (!caller) throw new Error('authenticate lets no other request through');
      const keyLimit = caller.quota[keyDay]?.limit;
      return ok<ValidationAnswer>({
        valid: true,
        key_label: caller.label ?? '',
        plan_code: caller.access.plan,
        limits: limitsOf(caller.access.quota),
        ...(typeof keyLimit === 'number' && { key_limit_per_day: keyLimit }),
      });
    });
}
