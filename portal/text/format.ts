import { parseAccept } from 'hono/utils/accept';
import { en, type Text } from './en.ts';
import { nl } from './nl.ts';

export type Language = 'nl' | 'en';

export const texts: Readonly<Record<Language, Text>> = { nl, en };

/** The language that somebody chose, else the one of the two that the browser prefers, else Dutch. */
export function languageFor(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  if (chosen === 'nl' || chosen === 'en') return chosen;
  const accepted = parseAccept(acceptLanguage ?? '').filter(({ q }) => q > 0);
  const languages = accepted.map(({ type }) => type.toLowerCase().split('-')[0]);
  return languages.find((language) => language === 'nl' || language === 'en') ?? 'nl';
}

const formatters: Partial<Record<Language, Formatter>> = {};

/** How numbers and instants are written in a language; instants in Dutch time. */
export function formatter(language: Language): Formatter {
  formatters[language] ??= createFormatter(language); // expensive to create, for every page
  return formatters[language];
}

function createFormatter(language: Language) {
  const locale = language === 'nl' ? 'nl-NL' : 'en-GB';
  const timeZone = 'Europe/Amsterdam';
  const numbers = new Intl.NumberFormat(locale);
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const months = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  return {
    number: (value: number) => numbers.format(value),
    share: (value: number) => shares.format(value),
    instant: (iso: string) => instants.format(new Date(iso)),
    /** `2026-11` */
    month: (month: string) => months.format(new Date(`${month}-01`)),
    day: (iso: string) => days.format(new Date(iso)),
  };
}

export type Formatter = ReturnType<typeof createFormatter>;
