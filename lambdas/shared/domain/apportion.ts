/**
 * Divides `total` over shards that have used so much of it already. The shares add up to `total` exactly. As long as the
 * account has used no more than that, each shard keeps what it used and gets an even part of the rest; else none has any
 * left, and each has about its part of the use.
 */
export function apportion(total: number, used: readonly number[]): number[] {
  const sum = used.reduce((a, b) => a + b, 0);
  if (sum <= total) {
    const rest = total - sum;
    const even = Math.floor(rest / used.length);
    return used.map((units, i) => units + even + (i < rest % used.length ? 1 : 0));
  }
  let left = total;
  const shares = used.map((units) => {
    const share = Math.min(left, Math.floor(units * (total / sum)));
    left -= share;
    return share;
  });
  return shares.map((share, i) => {
    const more = Math.min(left, (used[i] ?? 0) - share);
    left -= more;
    return share + more;
  });
}
