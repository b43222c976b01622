import { createFormatter } from '../../packages/ui/format.ts';
import type { Language } from '../../packages/ui/language.ts';
import { en, type Text } from './en.ts';
import { nl } from './nl.ts';

export const texts: Readonly<Record<Language, Text>> = { en, nl };

export type Formatter = ReturnType<typeof createFormatter<keyof Text['counted']>>;

const formatters: Partial<Record<Language, Formatter>> = {};

/** How numbers, days and instants are written in a language; instants in Dutch time. */
export function formatter(language: Language): Formatter {
  formatters[language] ??= createFormatter(texts[language]); // expensive to create, for every page
  return formatters[language];
}
