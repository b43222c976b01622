import type { Language } from '../../lambdas/page/language.ts';
import { en, type Text } from './en.ts';
import { nl } from './nl.ts';

/** Every sentence of the portal in each language. */
export const texts: Readonly<Record<Language, Text>> = { en, nl };

/** Whether the portal has a language of this code. */
export function isLanguage(code: string | undefined): code is Language {
  return code !== undefined && Object.hasOwn(texts, code);
}

const formatters: Partial<Record<Language, Formatter>> = {};

/** How numbers and instants are written in a language; instants in Dutch time. */
export function formatter(language: Language): Formatter {
  formatters[language] ??= createFormatter(language); // expensive to create, for every page
  return formatters[language];
}

function createFormatter(language: Language) {
  const { locale, addressCount } = texts[language];
  const timeZone = 'Europe/Amsterdam';
  const numbers = new Intl.NumberFormat(locale);
  const plurals = new Intl.PluralRules(locale);
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  return {
    number: (value: number) => numbers.format(value),
    /** `1 address` */
    addresses: (count: number) =>
      `${numbers.format(count)} ${addressCount[plurals.select(count) === 'one' ? 'one' : 'other']}`,
    share: (value: number) => shares.format(value),
    instant: (iso: string) => instants.format(new Date(iso)),
    /** `2026-11` */
    month: (month: string) => months.format(new Date(`${month}-01`)),
    day: (iso: string) => days.format(new Date(iso)),
  };
}

export type Formatter = ReturnType<typeof createFormatter>;
