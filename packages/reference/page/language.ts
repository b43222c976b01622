import { type Language, languages } from '../../../core/names.ts';

export { type Language, languages };

/** What a header such as `Accept-Encoding` accepts (RFC 9110), in lower case, the preferred first. */
export function acceptedBy(header = ''): string[] {
  const ranges = header.split(',').map((range) => {
    const [name = '', ...parameters] = range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*/);
    const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
    return { name, weight: weight ? Number(weight) || 0 : 1 };
  });
  const accepted = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  return accepted.map(({ name }) => name);
}

/** The language of those on offer that somebody chose, else the one that the client prefers, else the first. */
export function languageFor(
  chosen: string | null | undefined,
  acceptLanguage: string | undefined,
  offered: readonly Language[] | undefined,
  otherwise: Language,
): Language {
  // A client that accepts `nl-BE` accepts `nl`.
  const accepted = acceptedBy(acceptLanguage).map((tag) => tag.split('-')[0]);
  const known = [chosen?.toLowerCase(), ...accepted].map((code) =>
    (offered ?? languages).find((language) => language === code),
  );
  return known.find((language) => language !== undefined) ?? offered?.[0] ?? otherwise;
}
