import { isDate } from './calendar.ts';

const zone = 'Europe/Amsterdam';
const hours = new Intl.DateTimeFormat('en-GB', {
  timeZone: zone,
  hour: '2-digit',
  hourCycle: 'h23',
});
const dates = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' });

/**
 * Days as people in the Netherlands have them: a key with a last day works through that day there.
 */
export const dutchTime = {
  zone,

  /**
   * The instant at which a date, `2026-12-31`, has passed in the Netherlands; `undefined` if it is
   * no date.
   */
  endOfDay(date: string): Date | undefined {
    if (!isDate(date)) return undefined;
    const midnight = Date.parse(`${date}T24:00:00Z`);
    // One hour ahead of UTC, in summer two.
    const [winter, summer] = [1, 2].map((offset) => new Date(midnight - offset * 3_600_000)) as [
      Date,
      Date,
    ];
    return hours.format(winter) === '00' ? winter : summer;
  },

  /** The date that ends at an instant in the Netherlands, if one does. */
  dateEndingAt(iso: string): string | undefined {
    const date = dates.format(new Date(Date.parse(iso) - 1000));
    return dutchTime.endOfDay(date)?.getTime() === Date.parse(iso) ? date : undefined;
  },
};
