import { createHash } from 'node:crypto';
import type { Language } from '../page/language.ts';
import { escaped } from '../page/samples.ts';

type HtmlContent = {
  language: Language;
  /** HTML, like `body`. */
  title: string;
  /** A `data:` URL. */
  icon?: string;
  style: string;
  script?: string;
  /** Attributes of the element `body`. */
  attributes?: string;
  body: string;
};

/**
 * A complete HTML document that loads nothing, with the content security policy that allows its own style and script
 * only.
 */
export function htmlDocument(content: HtmlContent): { html: string; policy: string } {
  const { language, title, icon = 'data:,', style, script, attributes = '', body } = content;
  const html = `<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body${attributes}>
${body}
${script === undefined ? '' : `<script>${script}</script>\n`}</body>
</html>
`;
  const policy = [
    "default-src 'none'",
    ...(script === undefined ? [] : [`script-src ${hashOf(script)}`]),
    `style-src ${hashOf(style)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ];
  return { html, policy: policy.join('; ') };
}

function hashOf(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

/** A line of text with code between backticks, `**bold**` and `[links](address)`, as HTML. */
export function inline(text: string): string {
  return escaped(text)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');
}

/** A value as indented JSON, with its names, strings and other values marked for the style sheet. */
export function highlightedJson(value: unknown): string {
  const tokens = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?/g;
  const json = compact(JSON.stringify(value, null, 2));
  let html = '';
  let end = 0;
  for (const { 0: token, 1: string, 2: colon, index } of json.matchAll(tokens)) {
    const kind = colon ? 'name' : string ? 'string' : 'value';
    const marked = `<span class="${kind}">${escaped(string ?? token)}</span>${colon ?? ''}`;
    html += escaped(json.slice(end, index)) + marked;
    end = index + token.length;
  }
  return html + escaped(json.slice(end));
}

/** Arrays of single values on one line. */
function compact(json: string): string {
  return json.replaceAll(/\[\s+([^[\]{}]*?)\s+\]/g, (_, items: string) => `[${items.replaceAll(/,\s+/g, ', ')}]`);
}
