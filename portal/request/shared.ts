import { type AccountSummary, type Admin, allPages } from '../../packages/admin/index.ts';
import type { Loads, WaitingLoad } from '../../packages/admin/loads.ts';
import { cached } from './cached.ts';
import { within } from './deadline.ts';

/** From this share of a limit on people are told, before requests are refused. */
export const warnShare = 0.8;

/** Values that all operators see, cached for a while by this instance of the portal. */
export type Shared = {
  /**
   * The loads that wait for approval; `again` reads them now. None if the loader is not connected.
   */
  waiting: (how?: { again?: boolean }) => Promise<readonly WaitingLoad[]>;
  /**
   * The number of accounts near a limit, and the first such accounts: of now if counting takes a
   * moment, else of the count before; `undefined` until the first count has ended.
   */
  nearLimits: () => Promise<Near | undefined>;
};

type Near = { count: number; accounts: AccountSummary[] };

type Reads = {
  adminAs: (actor: string) => Admin;
  loadsAs?: (actor: string) => Promise<Loads>;
  now: () => number;
};

/** How long a page waits for a count of all accounts, which goes on without it. */
const countMilliseconds = 1_000;

export function sharedBy({ adminAs, loadsAs, now }: Reads): Shared {
  let known: Near | undefined;
  const count = async () => {
    known = await nearLimits(adminAs('portal'));
    return known;
  };
  const counted = cached(count, { milliseconds: 120_000, now });
  return {
    waiting: cached(async () => (loadsAs ? (await loadsAs('portal')).waiting() : []), {
      milliseconds: 30_000,
      now,
    }),
    nearLimits: async () => (await within(countMilliseconds, counted())) ?? known,
  };
}

/** Looks at every account: nobody is helped by a count that may be any other. */
async function nearLimits({ accounts }: Admin): Promise<Near> {
  const list = (at: { cursor?: string }) => accounts.list({ usedShare: warnShare, ...at });
  const near = await allPages(list, (page) => page.accounts);
  return { count: near.length, accounts: near.slice(0, 20) };
}
