import { type Language, languages, serviceName } from '../../core/languages.ts';

export { type Language, languages, serviceName };

/**
 * The values that a header such as `Accept-Encoding` accepts (RFC 9110), in lower case, the
 * preferred first.
 */
export function acceptedBy(header = ''): string[] {
  const ranges = header.split(',').map((range) => {
    const [name = '', ...parameters] = range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { name, weight: weight ? Number(weight) || 0 : 1 };
  });
  const accepted = ranges
    .filter(({ weight }) => weight > 0)
    .toSorted((a, b) => b.weight - a.weight);
  return accepted.map(({ name }) => name);
}

/**
 * The language on offer that a tag (BCP 47) begins with, in letters of either case: `nl` for
 * `NL-be`.
 */
export function languageIn(
  tag = '',
  offered: readonly Language[] = languages,
): Language | undefined {
  const [code] = tag.trim().toLowerCase().split('-');
  return offered.find((language) => language === code);
}

/**
 * The language on offer that somebody chose, else the client's preferred language, else the first.
 */
export function languageFor(
  chosen: string | null | undefined,
  acceptLanguage: string | undefined,
  offered: readonly Language[] | undefined,
  otherwise: Language,
): Language {
  const known = [chosen ?? '', ...acceptedBy(acceptLanguage)].map((tag) =>
    languageIn(tag, offered),
  );
  return known.find((language) => language !== undefined) ?? offered?.[0] ?? otherwise;
}
