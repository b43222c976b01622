import { counted } from './command.ts';

const units = [
  ['minute', 60],
  ['hour', 3_600],
  ['day', 86_400],
  ['month', 30 * 86_400],
  ['year', 365 * 86_400],
] as const;

/** How long ago a time or a UTC day is, for people: `3 minutes ago`, `yesterday`, `in 2 days`; `-` for none. */
export function ago(at: string | null | undefined, now = Date.now()): string {
  if (!at) return '-';
  const isDay = /^\d{4}-\d\d-\d\d$/.test(at);
  const time = Date.parse(at);
  if (Number.isNaN(time)) return at;
  const seconds = ((isDay ? Math.floor(now / 86_400_000) * 86_400_000 : now) - time) / 1000;
  const days = Math.round(seconds / 86_400);
  if (isDay && Math.abs(days) < 2) return ['tomorrow', 'today', 'yesterday'][days + 1] ?? at;
  const distance = Math.abs(seconds);
  // Days up to two months, months up to two years: with a coarser unit too much is lost.
  const [unit, length] = units.findLast(([, length]) => distance >= (length > 86_400 ? 2 : 1) * length) ?? [];
  if (unit === undefined) return seconds >= 0 ? 'just now' : 'in less than a minute';
  const text = counted(Math.floor(distance / length), unit);
  return seconds >= 0 ? `${text} ago` : `in ${text}`;
}
