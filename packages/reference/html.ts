import { escaped } from '../ui/samples.ts';

/** A line of text with code between backticks, `**bold**` and `[links](address)`, as HTML. */
export function inline(text: string): string {
  return escaped(text)
    .replaceAll(/`([^`]*)`/g, '<code>$1</code>')
    .replaceAll(/\*\*([^*]+)\*\*/g, '<strong>$1</strong>')
    .replaceAll(/\[([^\]]+)\]\(([^)\s]+)\)/g, '<a href="$2">$1</a>');
}

/** Text without its elements. */
export function plain(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&');
}

/**
 * A value as indented JSON, with its names, strings and other values marked for the style sheet.
 */
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
  return json.replaceAll(
    /\[\s+([^[\]{}]*?)\s+\]/g,
    (_, items: string) => `[${items.replaceAll(/,\s+/g, ', ')}]`,
  );
}
