import type { Caller } from '../accounts/account.ts';
import { type KeyClaim, readApiKey } from '../accounts/api-key.ts';
import { Refusal } from '../accounts/refusal.ts';
import type { Middleware, RequestEvent } from './event.ts';

export type AuthenticateOptions = {
  checksumSecret: string;
  /** Accepted as well, while a new secret replaces it. */
  previousChecksumSecret?: string | undefined;
  /** Admits the holder of an active key of an active account on an active plan. Throws `Refusal`, `StoreUnavailable`. */
  admit: (claim: KeyClaim, event: RequestEvent) => Promise<Caller>;
};

/** Finds out whose key a request carries and notes it on the event. A key that was never issued here reaches no store. */
export function authenticate({ checksumSecret, previousChecksumSecret, admit }: AuthenticateOptions): Middleware {
  return {
    before: async ({ event }) => {
      const key = event.headers['x-api-key'];
      const claim =
        readApiKey(key, checksumSecret) ?? (previousChecksumSecret ? readApiKey(key, previousChecksumSecret) : null);
      if (!claim) throw new Refusal({ code: 'unauthorized' });
      event.caller = await admit(claim, event);
    },
  };
}
