/**
 * What a client accepts, by the value of a header such as `Accept-Encoding` (RFC 9110): in lower case, the preferred
 * first, without what has the weight 0 or a weight that is no number.
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
  const accepted = ranges.filter(({ weight }) => weight > 0).toSorted((a, b) => b.weight - a.weight);
  return accepted.map(({ name }) => name);
}

/** The one of these languages that a client prefers, by its `Accept-Language`, where `nl-BE` accepts `nl`. */
export function preferredLanguage<Language extends string>(
  languages: readonly Language[],
  acceptLanguage: string | undefined,
): Language | undefined {
  const tags = acceptedBy(acceptLanguage).map((tag) => tag.split('-')[0]);
  const known = tags.map((tag) => languages.find((language) => language === tag));
  return known.find((language) => language !== undefined);
}
