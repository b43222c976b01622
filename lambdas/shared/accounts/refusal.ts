import type { InputFault } from '../contract.ts';
import type { QuotaState, WindowName } from './quota.ts';

/** Why a request is refused, with what the caller may know about it. */
export type RefusalReason =
  | { code: 'unauthorized' }
  | { code: 'account-inactive' }
  | { code: 'plan-inactive' }
  | { code: 'not-found' }
  | { code: 'method-not-allowed' }
  | { code: 'invalid-input'; faults: InputFault[] }
  | { code: 'quota-exceeded'; violated: WindowName[]; retryAfterSeconds: number; quota: QuotaState }
  | { code: 'temporarily-unavailable'; retryAfterSeconds: number };

export type RefusalCode = RefusalReason['code'];

/** An expected refusal: thrown where it is decided, rendered once at the edge. Anything else thrown is a 500. */
export class Refusal extends Error {
  override name = 'Refusal';
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, options?: ErrorOptions) {
    super(reason.code, options);
    this.reason = reason;
  }
}
