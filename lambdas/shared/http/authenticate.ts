import type { Caller } from '../accounts/account.ts';
import { type KeyClaim, readApiKey } from '../accounts/api-key.ts';
import { Refusal } from '../accounts/refusal.ts';
import type { Middleware, RequestEvent } from './event.ts';

export type AuthenticateOptions = {
  checksumSecret: string;
  /** Admits the holder of an active key of an active account on an active plan. Throws `Refusal`, `StoreUnavailable`. */
  admit: (claim: KeyClaim, event: RequestEvent) => Promise<Caller>;
};

/** Finds out whose key a request carries and notes it on the event. A key that was never issued here reaches no store. */
export function authenticate({ checksumSecret, admit }: AuthenticateOptions): Middleware {
  return {
    before: async ({ event }) => {
      const claim = readApiKey(event.headers['x-api-key'], checksumSecret);
      if (!claim) throw new Refusal({ code: 'unauthorized' });
      event.caller = await admit(claim, event);
    },
  };
}
