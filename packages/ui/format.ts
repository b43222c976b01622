import { dutchTime } from '../../core/dutch-time.ts';

/**
 * How numbers and dates are written in a language: its locale, its percent sign, and the nouns
 * after numbers.
 */
type Ways<Noun extends string> = {
  locale: string;
  percent: string;
  counted: Readonly<Record<Noun, { one: string; other: string }>>;
};

/** How numbers and instants are written in a language; instants in Dutch time, which they name. */
export function createFormatter<Noun extends string>({ locale, percent, counted }: Ways<Noun>) {
  const timeZone = dutchTime.zone;
  const numbers = new Intl.NumberFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  // The parts of `dateStyle: 'medium'` and `timeStyle: 'short'`, which can't be given a zone.
  const date = { day: 'numeric', month: 'short' } as const;
  const time = { hour: '2-digit', minute: '2-digit', timeZoneName: 'short' } as const;
  const instants = new Intl.DateTimeFormat(locale, { ...date, year: 'numeric', ...time, timeZone });
  const months = new Intl.DateTimeFormat(locale, {
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  const shortDays = new Intl.DateTimeFormat(locale, { ...date, timeZone });
  const shortMonths = new Intl.DateTimeFormat(locale, {
    month: 'short',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const ages = new Intl.RelativeTimeFormat(locale);
  return {
    number: (value: number) => numbers.format(value),
    /** `1 address` */
    count: (count: number, what: Noun) =>
      `${numbers.format(count)} ${counted[what][plurals.select(count) === 'one' ? 'one' : 'other']}`,
    /** `3 days ago` */
    ago: (milliseconds: number) => {
      const minutes = Math.max(0, Math.floor(milliseconds / 60_000));
      if (minutes < 120) return ages.format(-minutes, 'minute');
      const hours = Math.floor(minutes / 60);
      return hours < 48 ? ages.format(-hours, 'hour') : ages.format(-Math.floor(hours / 24), 'day');
    },
    share: (value: number) => shares.format(value).replace('%', percent),
    instant: (iso: string) => instants.format(new Date(iso)),
    /** `2026-11` */
    month: (month: string) => months.format(new Date(`${month}-01`)),
    day: (iso: string) => days.format(new Date(iso)),
    /** `23-29 Nov 2026`, from and to a UTC date */
    days: (from: string, to: string) => days.formatRange(new Date(from), new Date(to)),
    shortDay: (date: string) => shortDays.format(new Date(date)),
    shortMonth: (date: string) => shortMonths.format(new Date(date)),
  };
}
