import { randomBytes } from 'node:crypto';
import { documents, type Item, orUnavailable, type StoreClient } from '../dynamodb.ts';
import { itemKey } from './account-item.ts';

/**
 * The secret of the checksum of API keys: one item, in a partition of its own. It admits nobody
 * (decision 0102). A rotation writes `next`, waits until every instance accepts it, then makes it
 * `current` and keeps the old one as `previous`.
 */
export const checksumSecret = {
  key: itemKey('checksum#', 'secret'),
  /** Signs new keys. */
  current: 'current',
  /** Accepted, and about to sign new keys. */
  next: 'next',
  /** Accepted until the keys that it signed are replaced. */
  previous: 'previous',
  /**
   * When the first secret had existed long enough to show a key, in seconds since 1970; absent
   * until then.
   */
  settled: 'settled',
} as const;

/** 384 random bits. */
export const newChecksumSecret = (): string => randomBytes(48).toString('base64url');

/** The item of a table that no instance reads yet. */
export const settledSecret = (current = newChecksumSecret()): Item => ({
  ...checksumSecret.key,
  [checksumSecret.current]: current,
  [checksumSecret.settled]: Math.floor(Date.now() / 1000),
});

/** The secrets in the item whose keys are accepted, the signing secret first. */
export function acceptedSecrets({ current, next, previous }: Item): string[] {
  return [current, next, previous].filter((secret) => secret !== undefined);
}

/** The secrets whose keys an instance accepts. */
export type ChecksumSecrets = {
  /** The secrets that it has read; none until its first read ends. */
  readonly known: readonly string[];
  /**
   * For a well-formed key that fits no known secret: the secrets as they were when it came, or
   * shortly before.
   * @throws StoreUnavailable
   */
  reread(signal: AbortSignal): Promise<readonly string[]>;
};

/**
 * How long a read counts as up to date; a failed read counts as long as an empty one. A
 * rotation waits for twice as long, and the first key is shown after twice as long, so that no
 * instance refuses a key that somebody can have.
 */
const freshMilliseconds = { some: 5000, none: 1000 };

/** How long a rotation waits, and how long the first secret exists before a key is shown. */
export const settlesAfterMilliseconds = {
  next: 2 * freshMilliseconds.some,
  first: 2 * freshMilliseconds.none,
};

/** Begins to read the secrets at once, so that a cold start does not wait for them. */
export function createChecksumSecrets(
  client: StoreClient,
  table: string,
  now = Date.now,
): ChecksumSecrets {
  const { get } = documents(client);
  const secrets = { known: [] as readonly string[], reread };
  let begunAt: number;
  let hasFailed = false;
  let reading = read();

  function read(): Promise<readonly string[]> {
    begunAt = now();
    const found = get({ TableName: table, Key: checksumSecret.key, ConsistentRead: true }).then(
      (item) => {
        if (item) secrets.known = acceptedSecrets(item);
        return secrets.known;
      },
    );
    hasFailed = false;
    // Whoever waits for it gets the error.
    found.catch(() => {
      if (found === reading) hasFailed = true;
    });
    return found;
  }

  function reread(signal: AbortSignal): Promise<readonly string[]> {
    // A failed read says nothing about the secrets, so a short outage stays short.
    const isKnown = secrets.known.length > 0 && !hasFailed;
    const fresh = isKnown ? freshMilliseconds.some : freshMilliseconds.none;
    // By the wall clock, which goes on while an instance is frozen, and may be set back.
    if (Math.abs(now() - begunAt) >= fresh) reading = read();
    return orUnavailable(reading, signal);
  }

  return secrets;
}
