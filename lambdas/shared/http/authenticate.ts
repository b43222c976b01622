import { type Caller, requireAccess } from '../accounts/account.ts';
import { type KeyClaim, readApiKey } from '../accounts/api-key.ts';
import { type AccessStore, charge } from '../accounts/charge.ts';
import { Refusal } from '../accounts/refusal.ts';
import type { Clock } from '../environment.ts';
import type { Middleware, RequestEvent } from './event.ts';

export type AuthenticateOptions = {
  store: AccessStore;
  checksumSecret: string;
  clock: Clock;
  /** Whether this request consumes quota. Then one write both authenticates and charges it; otherwise one read. */
  charges: (event: RequestEvent) => boolean;
};

/** Admits the holder of an active key of an active account on an active plan, and notes who it is on the event. */
export function authenticate({ store, checksumSecret, clock, charges }: AuthenticateOptions): Middleware {
  async function readCaller(claim: KeyClaim, signal: AbortSignal): Promise<Caller> {
    const access = requireAccess(await store.read(claim, signal), claim);
    return { account: claim.account, keyId: claim.keyId, access };
  }

  return {
    before: async ({ event }) => {
      const claim = readApiKey(event.headers['x-api-key'], checksumSecret);
      if (!claim) throw new Refusal({ code: 'unauthorized' });
      event.caller = charges(event)
        ? await charge(store, claim, clock, event.signal)
        : await readCaller(claim, event.signal);
    },
  };
}
