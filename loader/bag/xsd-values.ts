/**
 * Values of the XML Schema types that Kadaster's XSDs use, which allow more forms than its files
 * have, and white space around dates and numbers.
 */

const usualDate = /^\d{4}-\d{2}-\d{2}$/;
const dateForm = /^[ \t\r\n]*(-?)(\d{4,})(-\d{2}-\d{2})(?:Z|[+-]\d{2}:\d{2})?[ \t\r\n]*$/;
const integerForm = /^[ \t\r\n]*[+-]?\d+[ \t\r\n]*$/;

/**
 * The date of an `xs:date` as `2021-10-15`, or `null` for another form. The register's dates are
 * Dutch days, so a time zone changes nothing. Years after 9999 and before 0 become the last and the
 * first day that a number can keep.
 */
export function xsdDate(value: string): string | null {
  if (usualDate.test(value)) return value;
  const [, sign, year = '', rest] = dateForm.exec(value) ?? [];
  if (rest === undefined) return null;
  if (sign === '-') return '0000-01-01';
  return Number(year) > 9999 ? '9999-12-31' : `${year.slice(-4)}${rest}`;
}

/** The number of an `xs:integer` without a fraction or an exponent, or `null` for another form. */
export function xsdInteger(value: string): number | null {
  return integerForm.test(value) && Number.isSafeInteger(Number(value)) ? Number(value) : null;
}
