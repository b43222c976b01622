import type { Language } from './language.ts';

/** What every page calls the service, behind the name of the operator if there is one. */
export const serviceName: Readonly<Record<Language, string>> = {
  en: 'Dutch addresses',
  nl: 'Nederlandse adressen',
};
