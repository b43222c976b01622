import { type FaultCode, faultCodes } from '../shared/contract.ts';
import { problems, problemType } from '../shared/http/problem.ts';
import { type ExplainedCode, explanations } from './explanations.ts';

/** Whether a code has a page. */
export function isExplained(code: string): code is ExplainedCode {
  return Object.hasOwn(explanations, code);
}

/** The heading of a code: the status and title of a problem, or the code of a fault. */
export function headingOf(code: ExplainedCode): string {
  return isFault(code) ? `Invalid input: ${code}` : `${problems[code].status} ${problems[code].title}`;
}

/** The page about a problem or a code of a 422: a complete HTML document without scripts, which loads nothing. */
export function problemPage(code: ExplainedCode): string {
  const { happened, remedy } = explanations[code];
  const heading = escaped(headingOf(code));
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${heading}</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>${heading}</h1>
<p><code>${isFault(code) ? `"code": "${code}"` : `"type": "${problemType(code)}"`}</code></p>
<h2>What happened</h2>
<p>${html(happened)}</p>
<h2>What to do</h2>
<p>${html(remedy)}</p>
${code === 'invalid-input' ? faultList : `<p>${seeAlso(code)}</p>`}
</main>
</body>
</html>
`;
}

const style =
  ':root{color-scheme:light dark}' +
  'body{font:1rem/1.6 system-ui,sans-serif;margin:0 auto;max-width:42rem;padding:1.5rem}' +
  'code{font:.95em ui-monospace,monospace;overflow-wrap:anywhere}h1{line-height:1.2}';

const faultList = `<h2>The codes in <code>errors</code></h2>
<dl>
${faultCodes.map((code) => `<dt id="${code}">${link(code, `<code>${code}</code>`)}</dt><dd>${html(explanations[code].happened)}</dd>`).join('\n')}
</dl>`;

function seeAlso(code: ExplainedCode): string {
  return isFault(code)
    ? `A code in the <code>errors</code> of ${link('invalid-input', escaped(headingOf('invalid-input')))}.`
    : 'The API is described in <a href="/v1/openapi.json">openapi.json</a>.';
}

function link(code: ExplainedCode, text: string): string {
  return `<a href="/problems/${code}">${text}</a>`;
}

function isFault(code: ExplainedCode): code is FaultCode {
  return faultCodes.some((fault) => fault === code);
}

/** Text with code between backticks, as HTML. */
function html(text: string): string {
  return escaped(text).replaceAll(/`([^`]*)`/g, '<code>$1</code>');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}
