import type { Amount } from '../../loader/progress.ts';

/** What of a stage is done, of how much, since when. */
export type Tally = { bytes: number; rows: number; total: Amount; seconds: number };

/** From 0 to 1, by bytes where their total is known, else by rows; `null` when neither is. */
export function shareOf({ bytes, rows, total }: Tally): number | null {
  if (total.bytes) return Math.min(1, bytes / total.bytes);
  return total.rows ? Math.min(1, rows / total.rows) : null;
}

/** `12.3 of 305 MB, 1,234,567 rows`. */
export function amountText({ bytes, rows, total }: Tally): string {
  const parts: string[] = [];
  if (total.bytes) parts.push(`${megabytes(bytes)} of ${megabytes(total.bytes)} MB`);
  else if (bytes > 0) parts.push(`${megabytes(bytes)} MB`);
  if (total.rows) parts.push(`${thousands(rows)} of ${thousands(total.rows)} rows`);
  else if (rows > 0) parts.push(`${thousands(rows)} rows`);
  return parts.join(', ');
}

/** `8.3 MB/s, 4,100 rows/s`; nothing before there is anything to measure. */
export function rateText({ bytes, rows, seconds }: Tally): string {
  if (seconds < 0.1) return '';
  const parts: string[] = [];
  if (bytes > 0) parts.push(`${megabytes(bytes / seconds)} MB/s`);
  if (rows > 0) parts.push(`${thousands(rows / seconds)} rows/s`);
  return parts.join(', ');
}

/** `1:05 left`; nothing while that can't be told. */
export function leftText(tally: Tally): string {
  const share = shareOf(tally);
  if (share === null || share < 0.01 || tally.seconds < 0.5) return '';
  return `${clock((tally.seconds / share) * (1 - share))} left`;
}

/** `0:07`, `1:02:03`. */
export function clock(seconds: number): string {
  const whole = Math.round(seconds);
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (parts[0] === 0) parts.shift();
  return parts.map((part, index) => (index === 0 ? `${part}` : String(part).padStart(2, '0'))).join(':');
}

function megabytes(bytes: number): string {
  const megabytes = bytes / 1e6;
  return megabytes < 100 ? megabytes.toFixed(1) : thousands(megabytes);
}

function thousands(count: number): string {
  return Math.round(count).toLocaleString('en');
}
