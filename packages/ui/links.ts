import * as z from 'zod/mini';

const text = z.optional(z.string());

/** The operator's own pages that every page links to, as fields of a schema. */
export const linkFields = {
  contactUrl: text,
  contactEmail: text,
  terms: text,
  privacy: text,
  accessibility: text,
};

export type OperatorLinks = { [Name in keyof typeof linkFields]?: string | undefined };

type LinkNames = Readonly<Record<'contact' | 'terms' | 'privacy' | 'accessibility', string>>;

/** The address and the name of each link that is configured. */
export function namedLinks(
  links: OperatorLinks,
  names: LinkNames,
): { url: string; name: string }[] {
  const { contactUrl, contactEmail, terms, privacy, accessibility } = links;
  const all: [url: string | undefined, name: string][] = [
    [contactUrl, names.contact],
    [contactEmail && `mailto:${contactEmail}`, contactEmail ?? ''],
    [terms, names.terms],
    [privacy, names.privacy],
    [accessibility, names.accessibility],
  ];
  return all.flatMap(([url, name]) => (url ? [{ url, name }] : []));
}
