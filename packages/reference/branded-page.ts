import { createHash } from 'node:crypto';
import { iconUrl, readAsset, styleSheet } from '../ui/assets.ts';
import { type Language, languages } from '../ui/language.ts';
import { namedLinks } from '../ui/links.ts';
import { escaped } from '../ui/samples.ts';
import type { Branding } from './branding.ts';
import { plain } from './html.ts';
import { referenceTexts } from './text/texts.ts';

export type PageContent = {
  language: Language;
  branding: Branding;
  /** HTML, like `description` and `body`. */
  title: string;
  description: string;
  /** The address behind the name of the service in the header. */
  home: string;
  /** Shown beside the name of the service. */
  version?: string;
  /** Whether the page has the scripts, which no page needs, with these attributes of `body`. */
  script?: { attributes: string };
  body: string;
};

/**
 * A complete HTML document that loads nothing, and the policy that allows its own style and script
 * only.
 */
export function brandedPage(content: PageContent): { html: string; policy: string } {
  const { language, branding, script, body } = content;
  const style = styleSheet(branding.colour);
  const code =
    script && readAsset('copy.js') + readAsset('programs.js') + readAsset('reference.js');
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${content.title}${branding.name ? ` - ${escaped(branding.name)}` : ''}</title>
<meta name="description" content="${escaped(plain(content.description))}">
<link rel="icon" href="${iconUrl(branding)}">
<style>${style}</style>
</head>
<body${script?.attributes ?? ''}>
${header(content)}
${body}
${footer(content)}
${code === undefined ? '' : `<script>${code}</script>\n`}</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    ...(code === undefined ? [] : [`script-src ${hashOf(code)}`]),
    `style-src ${hashOf(style)}`,
    'img-src data:',
    // Programs that judge a page read robots.txt from within it.
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html, policy: policy.join('; ') };
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function header({ language, branding, home, version }: PageContent): string {
  const { service, portal } = referenceTexts[language].frame;
  const logo = branding.logo ? `<img src="${branding.logo}" alt="">` : '';
  const name = branding.name ? `${escaped(branding.name)} <span>${service}</span>` : service;
  const portalLink = branding.portalUrl
    ? `<a href="${escaped(branding.portalUrl)}">${portal}</a>`
    : '';
  return `<header>
<p><a href="${home}">${logo}${name}</a>${version ? ` <small>v${escaped(version)}</small>` : ''}</p>
<div class="links">${portalLink}
${languageLinks(language, branding.languages ?? languages)}</div>
</header>`;
}

function languageLinks(current: Language, offered: readonly Language[]): string {
  if (offered.length < 2) return '';
  const links = offered.map((language) => {
    const isCurrent = language === current ? ' aria-current="true"' : '';
    return `<a href="?lang=${language}" hreflang="${language}" lang="${language}"${isCurrent}>${referenceTexts[language].frame.language}</a>`;
  });
  return `<nav class="languages" aria-label="${referenceTexts[current].frame.languages}">${links.join(' ')}</nav>`;
}

function footer({ language, branding }: PageContent): string {
  const { name } = branding;
  const text = referenceTexts[language].frame;
  const links = namedLinks(branding, text).map(
    ({ url, name }) => `<a href="${escaped(url)}">${escaped(name)}</a>`,
  );
  if (!name && links.length === 0) return '';
  return `<footer aria-label="${text.about}">${name ? `<span>${escaped(name)}</span> ` : ''}${links.join(' ')}</footer>`;
}
