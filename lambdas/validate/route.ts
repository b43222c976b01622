import middy from '@middy/core';
import type { AccessStore } from '../shared/accounts/charge.ts';
import type { KeyLabelStore } from '../shared/accounts/key-label-store.ts';
import { limitsOf } from '../shared/accounts/quota.ts';
import type { ValidationAnswer } from '../shared/contract.ts';
import type { Clock } from '../shared/environment.ts';
import { authenticate } from '../shared/http/authenticate.ts';
import { type Answer, acceptOnly, commonHeaders, deadline, ok, type RequestEvent } from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { renderProblems } from '../shared/http/problem.ts';

export type ValidateRouteOptions = {
  accessStore: AccessStore;
  keyLabelStore: KeyLabelStore;
  checksumSecret: string;
  clock: Clock;
};

/** `GET /v1/auth/validate`: tells whether a key works and with which limits; consumes nothing. */
export function validateRoute({ accessStore, keyLabelStore, checksumSecret, clock }: ValidateRouteOptions) {
  return middy<RequestEvent, Answer>()
    .use(observe('validate'))
    .use(commonHeaders())
    .use(renderProblems())
    .use(deadline())
    .use(acceptOnly('GET', '/v1/auth/validate'))
    .use(authenticate({ store: accessStore, checksumSecret, clock, charges: () => false }))
    .handler(async ({ caller, signal }) => {
      if (!caller) throw new Error('authenticate lets no other request through');
      return ok<ValidationAnswer>({
        valid: true,
        key_label: await keyLabelStore.label(caller, signal),
        plan_code: caller.access.plan,
        limits: limitsOf(caller.access.quota),
      });
    });
}
