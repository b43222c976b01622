/** The languages of the reference and of the portal. */
export const languages = ['en', 'nl'] as const;
export type Language = (typeof languages)[number];
