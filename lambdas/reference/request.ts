import type { RequestEvent } from '../http/middleware.ts';
import { preferredLanguage } from './accept.ts';

/** The languages of the pages. */
export const pageLanguages = ['en', 'nl'] as const;
export type PageLanguage = (typeof pageLanguages)[number];

/** The language of the query (`?lang=nl`), otherwise the browser's preference, otherwise the first one: English. */
export function languageOf(
  { rawQueryString = '', headers }: Pick<RequestEvent, 'rawQueryString' | 'headers'>,
  offered: readonly PageLanguage[] = pageLanguages,
): PageLanguage {
  const asked = new URLSearchParams(rawQueryString).get('lang')?.toLowerCase();
  const chosen = offered.find((language) => language === asked);
  return chosen ?? preferredLanguage(offered, headers['accept-language']) ?? offered[0] ?? 'en';
}

/** The base URL that the client used. API Gateway accepts only the host names of the deployment. */
export function baseUrlOf({ host = '', 'x-forwarded-proto': protocol }: RequestEvent['headers']): string {
  const isHost = /^[a-z0-9.-]+(:[0-9]+)?$/i.test(host);
  return isHost ? `${protocol === 'http' ? 'http' : 'https'}://${host}` : 'https://api.example.nl';
}
