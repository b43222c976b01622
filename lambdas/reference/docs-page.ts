import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { RequestEvent } from '../shared/http/middleware.ts';
import { type Page, sections } from './docs-sections.ts';
import { english } from './docs-words.ts';
import { dutch } from './docs-words-nl.ts';
import { explanations } from './explanations.ts';
import { explanationsNl } from './explanations-nl.ts';
import { escaped, inline } from './html.ts';
import type { Language } from './language.ts';
import { descriptions, openApiDocument } from './openapi-document.ts';

/**
 * The page with the API reference, complete in one response: it loads nothing, not even from this API. Readable without
 * JavaScript, which only adds the buttons to copy a sample. It has no field, so it never asks for a key.
 */
export async function docsPage(language: Language, baseUrl: string): Promise<{ html: string; policy: string }> {
  const [style, script] = await Promise.all(['style.css', 'script.js'].map(readPart));
  const words = language === 'nl' ? dutch : { ...english, ...descriptions() };
  const page: Page = { language, words, baseUrl, explanations: language === 'nl' ? explanationsNl : explanations };
  const policy = [
    "default-src 'none'",
    `script-src ${hashOf(script)}`,
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return { html: render(page, style, script), policy };
}

/** The base URL that the client used. API Gateway accepts only the host names of the deployment. */
export function baseUrlOf({ host = '', 'x-forwarded-proto': protocol }: RequestEvent['headers']): string {
  const isHost = /^[a-z0-9.-]+(:[0-9]+)?$/i.test(host);
  return isHost ? `${protocol === 'http' ? 'http' : 'https'}://${host}` : 'https://api.example.nl';
}

/** The build puts these files beside the code, as they are in the repository. */
async function readPart(name: string): Promise<string> {
  return await readFile(join(import.meta.dirname, 'page', name), 'utf8');
}

function hashOf(text = ''): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

function render(page: Page, style = '', script = ''): string {
  const { language, words } = page;
  const all = sections(page);
  const links = all.map(({ id }) => `<li><a href="#${id}">${words.sections[id]}</a></li>`).join('\n');
  const contents = `<ul>\n${links}\n</ul>`;
  const body = all.map(
    ({ id, html }) =>
      `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${words.sections[id]}</h2>\n${html}\n</section>`,
  );
  return `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${words.pageTitle}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body data-copy="${words.copy}" data-copied="${words.copied}">
<a class="skip" href="#start">${words.skip}</a>
<header>
<p class="name"><a href="#top">${words.title}</a> <small>v${escaped(openApiDocument.info.version)}</small></p>
<nav class="languages" aria-label="Language, taal">${languageLink('en', 'English', language)} ${languageLink('nl', 'Nederlands', language)}</nav>
</header>
<div class="page">
<nav class="contents" aria-label="${words.contents}">${contents}</nav>
<main id="top">
<h1>${words.title}</h1>
<p class="lead">${inline(words.lead)}</p>
<details class="contents"><summary>${words.contents}</summary>${contents}</details>
${body.join('\n')}
</main>
</div>
<script>${script}</script>
</body>
</html>
`;
}

function languageLink(language: Language, name: string, current: Language): string {
  const isCurrent = language === current ? ' aria-current="true"' : '';
  return `<a href="?lang=${language}" hreflang="${language}" lang="${language}"${isCurrent}>${name}</a>`;
}

/** The icon, as a `data:` URL, so that no request is made for it. */
const icon =
  'data:image/svg+xml,' +
  encodeURIComponent(
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><path fill="#c2410c" d="M8 1 1 7h2v8h4v-5h2v5h4V7h2z"/></svg>',
  );
