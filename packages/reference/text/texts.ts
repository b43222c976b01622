import type { IncludeName } from '../../../core/place-fields.ts';
import type { Language } from '../../ui/language.ts';
import { english, type ReferenceText, type TranslatedText } from './en.ts';
import { dutch } from './nl.ts';

/** The texts as they are written, with placeholders for a deployment's fields. */
export const referenceTexts: { en: ReferenceText } & Record<
  Exclude<Language, 'en'>,
  TranslatedText
> = {
  en: english,
  nl: dutch,
};

/**
 * The texts of the reference in a language, for a deployment whose `include` can name
 * the `available` fields.
 */
export function textsIn<L extends Language>(
  language: L,
  available: readonly IncludeName[],
): (typeof referenceTexts)[L] {
  return filled(referenceTexts[language], {
    '{availableIncludes}': available.map((name) => `\`${name}\``).join(', '),
    '{includeMeanings}': meaningsOf(available, language),
  });
}

/** The meanings of names of `include`, as one list. */
export function meaningsOf(available: readonly IncludeName[], language: Language): string {
  const { includeMeanings } = referenceTexts[language];
  return available.map((name) => `\`${name}\`, ${includeMeanings[name]}`).join('; ');
}

/** The value with each placeholder in its texts replaced. */
function filled<Value>(value: Value, placeholders: Record<string, string>): Value {
  if (typeof value === 'string') {
    return value.replace(
      /\{(?:availableIncludes|includeMeanings)\}/g,
      (name) => placeholders[name] ?? name,
    ) as Value;
  }
  if (Array.isArray(value)) return value.map((part) => filled(part, placeholders)) as Value;
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, part]) => [name, filled(part, placeholders)]),
  ) as Value;
}
