import type { Language } from './language.ts';

/** The name of the service on every page, after the operator's name, if any. */
export const serviceName: Readonly<Record<Language, string>> = {
  en: 'Dutch addresses',
  nl: 'Nederlandse adressen',
};
