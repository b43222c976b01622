import type { Language } from '../../look/language.ts';
import { english, type ReferenceText, type TranslatedText } from './en.ts';
import { dutch } from './nl.ts';

export const referenceTexts: { en: ReferenceText } & Record<Exclude<Language, 'en'>, TranslatedText> = {
  en: english,
  nl: dutch,
};
