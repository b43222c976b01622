/** Where the people are for whom pages write times. */
export const timeZone = 'Europe/Amsterdam';

const hours = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', hourCycle: 'h23' });
const dates = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short' });

/** The instant at which a date, `2026-12-31`, has passed in the Netherlands; `undefined` for what is no date. */
export function endOfDay(date: string): Date | undefined {
  const midnight = Date.parse(`${date}T24:00:00Z`);
  if (Number.isNaN(midnight)) return undefined;
  // One hour ahead of UTC, in summer two.
  const [winter, summer] = [1, 2].map((offset) => new Date(midnight - offset * 3_600_000)) as [Date, Date];
  return hours.format(winter) === '00' ? winter : summer;
}

/** The date that ends at an instant in the Netherlands, if one does. */
export function dateEndingAt(iso: string): string | undefined {
  const date = dates.format(new Date(Date.parse(iso) - 1000));
  return endOfDay(date)?.getTime() === Date.parse(iso) ? date : undefined;
}
