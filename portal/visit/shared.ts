import { type AccountSummary, type Admin, allPages } from '../../packages/admin/index.ts';
import type { Loads, WaitingLoad } from '../../packages/admin/loads.ts';
import { cached } from './cached.ts';

/** From this share of a limit on people are told, before requests are refused. */
export const warnShare = 0.8;

/** Values that all operators see, cached for a while by this instance of the portal. */
export type Shared = {
  /**
   * The loads that wait for approval; `again` reads them now. None if the loader is not connected.
   */
  waiting: (how?: { again?: boolean }) => Promise<readonly WaitingLoad[]>;
  /** The number of accounts near a limit, and the first such accounts. */
  nearLimits: () => Promise<{ count: number; accounts: AccountSummary[] }>;
};

type Reads = {
  adminAs: (actor: string) => Admin;
  loadsAs?: (actor: string) => Promise<Loads>;
  now: () => number;
};

export function sharedBy({ adminAs, loadsAs, now }: Reads): Shared {
  return {
    waiting: cached(async () => (loadsAs ? (await loadsAs('portal')).waiting() : []), {
      milliseconds: 30_000,
      now,
    }),
    nearLimits: cached(() => nearLimits(adminAs('portal')), { milliseconds: 120_000, now }),
  };
}

/** Looks at every account: nobody is helped by a count that may be any other. */
async function nearLimits({ accounts }: Admin) {
  const list = (at: { cursor?: string }) => accounts.list({ usedShare: warnShare, ...at });
  const near = await allPages(list, (page) => page.accounts);
  return { count: near.length, accounts: near.slice(0, 20) };
}
