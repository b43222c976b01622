import type { Access } from '../domain/access.ts';

/** Accounts that an instance keeps a hint for; those with one shard need none. */
const mostHints = 10_000;

/**
 * Where an instance sends its next charge of an account: to any of the shards that it last saw the account to have. A
 * hint says nothing of who may do what. One that is out of date costs a further write, and the item met corrects it.
 */
export function createShardHints() {
  const shardsOf = new Map<string, number>();

  return {
    pick: (account: string): number => {
      const shards = shardsOf.get(account);
      return shards === undefined ? 0 : Math.floor(Math.random() * shards);
    },
    learn: (account: string, { shards }: Access): void => {
      if (shards === (shardsOf.get(account) ?? 1)) return;
      shardsOf.delete(account);
      if (shards === 1) return;
      if (shardsOf.size >= mostHints) shardsOf.delete(shardsOf.keys().next().value as string);
      shardsOf.set(account, shards);
    },
  };
}
