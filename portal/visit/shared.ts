import type { AccountPage, Admin } from '../../packages/admin/index.ts';
import type { Loads, WaitingLoad } from '../../packages/admin/loads.ts';

/** From this share of a limit on people are told, before requests are refused. */
export const warnShare = 0.8;

/** What all operators look at, remembered for a while by this instance of the portal. */
export type Shared = {
  /** The loads that wait for approval; `again` reads them now. None where the loader is not connected. */
  waiting: (how?: { again?: boolean }) => Promise<readonly WaitingLoad[]>;
  /** Accounts that have used much of a limit. */
  nearLimits: () => Promise<AccountPage>;
};

type Reads = {
  adminAs: (actor: string) => Admin;
  loadsAs?: (actor: string) => Promise<Loads>;
  now: () => number;
};

export function sharedBy({ adminAs, loadsAs, now }: Reads): Shared {
  return {
    waiting: remembered(async () => (loadsAs ? (await loadsAs('portal')).waiting() : []), 30_000, now),
    nearLimits: remembered(() => adminAs('portal').accounts.list({ usedShare: warnShare, limit: 20 }), 60_000, now),
  };
}

/** What `read` found at most so long ago; a failure is not remembered. */
function remembered<T>(read: () => Promise<T>, milliseconds: number, now: () => number) {
  let last: { found: Promise<T>; at: number } | undefined;
  return ({ again = false } = {}): Promise<T> => {
    if (last && !again && now() - last.at < milliseconds) return last.found;
    const found = read();
    last = { found, at: now() };
    found.catch(() => {
      if (last?.found === found) last = undefined;
    });
    return found;
  };
}
