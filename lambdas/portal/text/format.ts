import { en, type Text } from './en.ts';
import { nl } from './nl.ts';

export type Language = 'nl' | 'en';

export const texts: Readonly<Record<Language, Text>> = { nl, en };

/** The language of a person who chose none: the one of the two that the browser prefers, else Dutch. */
export function preferredLanguage(chosen: string | undefined, acceptLanguage: string | undefined): Language {
  if (chosen === 'nl' || chosen === 'en') return chosen;
  const wishes = (acceptLanguage ?? '').split(',').map((wish) => {
    const [range = '', ...parameters] = wish
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { language: range.split('-')[0], weight: weight === undefined ? 1 : Number(weight) || 0 };
  });
  const known = wishes.filter(({ language, weight }) => (language === 'nl' || language === 'en') && weight > 0);
  const [best] = known.toSorted((a, b) => b.weight - a.weight);
  return best?.language === 'en' ? 'en' : 'nl';
}

/** How numbers and instants are written in a language; instants in Dutch time. */
export function formatter(language: Language) {
  const locale = language === 'nl' ? 'nl-NL' : 'en-GB';
  const timeZone = 'Europe/Amsterdam';
  const numbers = new Intl.NumberFormat(locale);
  const shares = new Intl.NumberFormat(locale, { style: 'percent', maximumFractionDigits: 1 });
  const instants = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short', timeZone });
  const days = new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone });
  return {
    number: (value: number) => numbers.format(value),
    share: (value: number) => shares.format(value),
    instant: (iso: string) => instants.format(new Date(iso)),
    day: (iso: string) => days.format(new Date(iso)),
  };
}

export type Formatter = ReturnType<typeof formatter>;
