import type { RequestEvent } from '../shared/http/middleware.ts';

/** The languages of the pages. */
export const languages = ['en', 'nl'] as const;
export type Language = (typeof languages)[number];

/** The language of the query (`?lang=nl`), else the one that the browser prefers, else English. */
export function languageOf({
  rawQueryString = '',
  headers,
}: Pick<RequestEvent, 'rawQueryString' | 'headers'>): Language {
  const asked = new URLSearchParams(rawQueryString).get('lang')?.toLowerCase();
  return languages.find((language) => language === asked) ?? preferred(headers['accept-language']);
}

function preferred(acceptLanguage = ''): Language {
  const ranges = acceptLanguage.split(',').map((range) => {
    const [tag = '', weight] = range
      .trim()
      .toLowerCase()
      .split(/\s*;\s*q=/);
    return { primary: tag.split('-')[0], weight: weight === undefined ? 1 : Number(weight) };
  });
  const [best] = ranges
    .filter(({ primary, weight }) => weight > 0 && languages.some((language) => language === primary))
    .sort((a, b) => b.weight - a.weight);
  return languages.find((language) => language === best?.primary) ?? 'en';
}
