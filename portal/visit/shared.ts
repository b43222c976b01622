import type { AccountPage, AccountSummary, Admin } from '../../packages/admin/index.ts';
import type { Loads, WaitingLoad } from '../../packages/admin/loads.ts';

/** From this share of a limit on people are told, before requests are refused. */
export const warnShare = 0.8;

/** Values that all operators see, cached for a while by this instance of the portal. */
export type Shared = {
  /** The loads that wait for approval; `again` reads them now. None if the loader is not connected. */
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
    waiting: remembered(async () => (loadsAs ? (await loadsAs('portal')).waiting() : []), 30_000, now),
    nearLimits: remembered(() => nearLimits(adminAs('portal')), 120_000, now),
  };
}

/** Looks at every account: nobody is helped by a count that may be any other. */
async function nearLimits({ accounts }: Admin) {
  const near: AccountSummary[] = [];
  let cursor: string | null = null;
  do {
    const page: AccountPage = await accounts.list({ usedShare: warnShare, ...(cursor && { cursor }) });
    near.push(...page.accounts);
    cursor = page.cursor;
  } while (cursor !== null);
  return { count: near.length, accounts: near.slice(0, 20) };
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
