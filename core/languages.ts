/**
 * The name of the service, in each language of the reference and of the portal, after the
 * operator's name, if any.
 */
export const serviceName = { en: 'Dutch addresses', nl: 'Nederlandse adressen' };

export type Language = keyof typeof serviceName;
export const languages = Object.keys(serviceName) as [Language, ...Language[]];
