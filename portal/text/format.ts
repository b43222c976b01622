import { parseAccept } from 'hono/utils/accept';
import { en, type Text } from './en.ts';
import { nl } from './nl.ts';

/** A language is one file with every sentence, named here; the first one is for browsers that prefer none of them. */
const all = { nl, en } satisfies Record<string, Text>;

export type Language = keyof typeof all;

export const texts: Readonly<Record<Language, Text>> = all;

export const languages = Object.keys(all) as Language[];

/** Whether the portal has a language of this code. */
export function isLanguage(code: string | undefined): code is Language {
  return code !== undefined && Object.hasOwn(all, code);
}

/** The language of those on offer that somebody chose, else the one that the browser prefers, else the first. */
export function languageFor(
  chosen: string | undefined,
  acceptLanguage: string | undefined,
  offered: readonly Language[] = languages,
): Language {
  const isOffered = (code: string | undefined): code is Language => isLanguage(code) && offered.includes(code);
  if (isOffered(chosen)) return chosen;
  const accepted = parseAccept(acceptLanguage ?? '').filter(({ q }) => q > 0);
  return accepted.map(({ type }) => type.toLowerCase().split('-')[0]).find(isOffered) ?? offered[0] ?? 'nl';
}

const formatters: Partial<Record<Language, Formatter>> = {};

/** How numbers and instants are written in a language; instants in Dutch time. */
export function formatter(language: Language): Formatter {
  formatters[language] ??= createFormatter(language); // expensive to create, for every page
  return formatters[language];
}

function createFormatter(language: Language) {
  const { locale } = texts[language];
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
