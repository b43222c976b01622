import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Branding } from './branding.ts';
import { escaped, htmlDocument } from './html.ts';
import { type PageLanguage, pageLanguages } from './request.ts';

/** What every page for people has around its contents, in a language. */
const words = {
  en: {
    name: 'English',
    title: 'Dutch addresses',
    languages: 'Language',
    portal: 'My keys and usage',
    contact: 'Contact',
    terms: 'Terms of service',
    privacy: 'Privacy',
    accessibility: 'Accessibility',
    about: 'About this service',
  },
  nl: {
    name: 'Nederlands',
    title: 'Nederlandse adressen',
    languages: 'Taal',
    portal: 'Mijn sleutels en verbruik',
    contact: 'Contact',
    terms: 'Voorwaarden',
    privacy: 'Privacy',
    accessibility: 'Toegankelijkheid',
    about: 'Over deze dienst',
  },
};

export type PageContent = {
  language: PageLanguage;
  branding: Branding;
  /** HTML, like `body`. */
  title: string;
  /** Where the name of the service in the header leads. */
  home: string;
  /** Beside the name of the service. */
  version?: string;
  /** Whether the page has the script, which no page needs; it uses these attributes of `body`. */
  script?: { attributes: string };
  body: string;
};

/** A page in the style and with the branding of all pages. It loads nothing. */
export async function brandedPage(content: PageContent): Promise<{ html: string; policy: string }> {
  const { language, branding, title, script, body } = content;
  const [style = '', code] = await Promise.all(
    ['style.css', ...(script ? ['script.js'] : [])].map((name) =>
      readFile(join(import.meta.dirname, 'page', name), 'utf8'),
    ),
  );
  return htmlDocument({
    language,
    title: branding.name ? `${title} - ${escaped(branding.name)}` : title,
    icon: branding.logo ?? icon,
    style: `:root{--brand:${branding.colour}}${style}`,
    ...(script && code !== undefined && { script: code, attributes: script.attributes }),
    body: `${header(content)}\n${body}\n${footer(content)}`,
  });
}

function header({ language, branding, home, version }: PageContent): string {
  const { title, portal } = words[language];
  const logo = branding.logo ? `<img src="${branding.logo}" alt="">` : '';
  const name = branding.name ? `${escaped(branding.name)} <span>${title}</span>` : title;
  const portalLink = branding.portalUrl ? `<a href="${escaped(branding.portalUrl)}">${portal}</a>` : '';
  return `<header>
<p class="name"><a href="${home}">${logo}${name}</a>${version ? ` <small>v${escaped(version)}</small>` : ''}</p>
<div class="links">${portalLink}
${languageLinks(language, branding.languages ?? pageLanguages)}</div>
</header>`;
}

function languageLinks(current: PageLanguage, offered: readonly PageLanguage[]): string {
  if (offered.length < 2) return '';
  const links = offered.map((language) => {
    const isCurrent = language === current ? ' aria-current="true"' : '';
    return `<a href="?lang=${language}" hreflang="${language}" lang="${language}"${isCurrent}>${words[language].name}</a>`;
  });
  return `<nav class="languages" aria-label="${words[current].languages}">${links.join(' ')}</nav>`;
}

function footer({ language, branding }: PageContent): string {
  const { name, contactUrl, contactEmail, terms, privacy, accessibility } = branding;
  const text = words[language];
  const links = [
    ...(contactUrl ? [[contactUrl, text.contact] as const] : []),
    ...(contactEmail ? [[`mailto:${contactEmail}`, contactEmail] as const] : []),
    ...(terms ? [[terms, text.terms] as const] : []),
    ...(privacy ? [[privacy, text.privacy] as const] : []),
    ...(accessibility ? [[accessibility, text.accessibility] as const] : []),
  ].map(([url, label]) => `<a href="${escaped(url)}">${escaped(label)}</a>`);
  if (!name && links.length === 0) return '';
  return `<footer aria-label="${text.about}">${name ? `<span>${escaped(name)}</span> ` : ''}${links.join(' ')}</footer>`;
}

/** The icon, as a `data:` URL, so that no request is made for it. */
const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#c2410c" d="M8 1 1 7h2v8h4v-5h2v5h4V7h2z"/></svg>',
  );
