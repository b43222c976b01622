import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { faultCodes } from '../../core/contract.ts';
import { type ProblemCode, problems, problemType } from '../http/problem.ts';
import { type ExplainedCode, type Explanation, explanations } from './explanations.ts';
import { escaped, highlightedJson, htmlDocument, inline } from './html.ts';
import {
  descriptions,
  exampleUrl,
  headerRows,
  openApiDocument,
  operation,
  responseExamples,
} from './openapi-document.ts';
import type { Language } from './request.ts';
import { type Descriptions, dutch, english, type Words } from './words.ts';

type Page = {
  language: Language;
  words: Words & Descriptions;
  /** The URL of this deployment, such as `https://api.example.nl`. */
  baseUrl: string;
};

/**
 * The page with the API reference, complete in one response: it loads nothing, not even from this API. Readable without
 * JavaScript, which only adds the buttons to copy a sample. It has no input fields, so it can't collect keys.
 */
export async function docsPage(language: Language, baseUrl: string): Promise<{ html: string; policy: string }> {
  const [style = '', script] = await Promise.all(['style.css', 'script.js'].map(readPart));
  const words = language === 'nl' ? dutch : { ...english, ...descriptions() };
  const attributes = ` data-copy="${words.copy}" data-copied="${words.copied}"`;
  const body = bodyOf({ language, words, baseUrl });
  return htmlDocument({ language, title: words.pageTitle, icon, style, script, attributes, body });
}

/** The build copies these files from the repository into the bundle. */
async function readPart(name: string): Promise<string> {
  return await readFile(join(import.meta.dirname, 'page', name), 'utf8');
}

function bodyOf(page: Page): string {
  const { language, words } = page;
  const all = sections(page);
  const links = all.map(({ id }) => `<li><a href="#${id}">${words.sections[id]}</a></li>`).join('\n');
  const contents = `<ul>\n${links}\n</ul>`;
  const parts = all.map(
    ({ id, html }) =>
      `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title">${words.sections[id]}</h2>\n${html}\n</section>`,
  );
  return `<a class="skip" href="#start">${words.skip}</a>
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
${parts.join('\n')}
</main>
</div>`;
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

/** The sections of the page in their order, by the ends of their addresses (`/docs#lookup`). */
function sections(page: Page): { id: keyof Words['sections']; html: string }[] {
  return [
    { id: 'start', html: quickStart(page) },
    { id: 'lookup', html: lookup(page) },
    { id: 'validate', html: validation(page) },
    { id: 'keys', html: block(`<p>${inline(page.words.paragraphs.Keys)}</p>`) },
    { id: 'quota', html: quota(page) },
    { id: 'errors', html: errors(page) },
    { id: 'headers', html: headers(page) },
    { id: 'openapi', html: openApi(page) },
    { id: 'changes', html: block(`<p>${inline(page.words.paragraphs.Compatibility)}</p>`) },
  ];
}

function quickStart(page: Page): string {
  const { words } = page;
  const steps = words.startSteps.map((step) => `<li>${inline(step)}</li>`).join('\n');
  return block(
    `<ol class="steps">\n${steps}\n</ol>`,
    curl(page, exampleUrl('found')) + response(page, example('lookUpAddress', '200', 'found')),
  );
}

function lookup(page: Page): string {
  const { words } = page;
  const outcomes = Object.keys(responseExamples('lookUpAddress', '200')).map((name) => {
    const answer = example('lookUpAddress', '200', name) as { status: keyof Words['outcome'] };
    const title = `<h4>${escaped(words.exampleTitles[name] ?? name)}</h4>`;
    const meaning = `<p class="outcome"><code class="${answer.status}">${answer.status}</code></p>\n<p>${inline(words.outcome[answer.status])}</p>`;
    return block(`${title}\n${meaning}`, curl(page, exampleUrl(name)) + response(page, answer));
  });
  return [
    endpoint('lookUpAddress'),
    block(
      `<p>${inline(words.operations.lookUpAddress ?? '')}</p>\n<h3>${words.parameters}</h3>\n${table([words.name, words.form], parameterRows(words))}\n` +
        `<p>${inline(words.paragraphs.Toevoeging)}</p>`,
      programs(words),
    ),
    `<h3 id="outcomes">${words.outcomes}</h3>\n<p>${inline(words.paragraphs.Outcomes)}</p>`,
    ...outcomes,
    block(`<h3>${words.body}</h3>\n${members(words, words.members)}`),
    block(`<h3>${words.testAddresses}</h3>\n<p>${inline(words.paragraphs['Test addresses'])}</p>`),
    block(`<h3>${words.storing}</h3>\n<p>${inline(words.paragraphs['Storing results'])}</p>`),
  ].join('\n');
}

function parameterRows(words: Words & Descriptions): [string, string][] {
  return (operation('lookUpAddress').parameters ?? []).map(({ name, required, examples = {} }) => {
    const values = [...new Set(Object.values(examples).map(({ value }) => `\`${value}\``))].join(', ');
    const need = `<span class="${required ? 'required' : 'optional'}">${required ? words.required : words.optional}</span>`;
    const form = `${inline(words.parameterForms[name] ?? '')} ${words.exampleOf}: ${inline(values)}.`;
    return [`<code>${name}</code> ${need}`, form];
  });
}

function programs(words: Words): string {
  const samples = (operation('lookUpAddress')['x-codeSamples'] ?? []).map(
    ({ label, source }) =>
      `<details name="program">\n<summary>${escaped(label)}</summary>\n${sample(words.program, escaped(source.trimEnd()), 'program')}</details>`,
  );
  return `<div class="programs">\n<h3>${words.programs}</h3>\n<p>${words.programsLead}</p>\n${samples.join('\n')}\n</div>`;
}

function validation(page: Page): string {
  const { words } = page;
  const text = `<p>${inline(words.operations.validateKey ?? '')}</p>\n<h3>${words.body}</h3>\n${members(words, words.validationMembers)}`;
  const answer = response(page, example('validateKey', '200', 'valid'));
  return `${endpoint('validateKey')}\n${block(text, curl(page, operation('validateKey').path) + answer)}`;
}

function quota({ words }: Page): string {
  const rows = words.retryRows.map(([status, remedy]): [string, string] => [escaped(status), inline(remedy)]);
  const limits = headerRows().filter(({ name }) => name.startsWith('RateLimit'));
  const lines = limits.map(({ name, header }) => `<span class="name">${name}</span>: ${escaped(header.example ?? '')}`);
  return block(
    `<p>${inline(words.paragraphs.Quota)}</p>\n<p>${inline(words.paragraphs.Gateway)}</p>\n<h3>${words.retries}</h3>\n${table([words.status, words.retries], rows)}`,
    sample(words.sections.headers, lines.join('\n'), 'headers'),
  );
}

function errors(page: Page): string {
  const { language, words } = page;
  const codes = Object.keys(problems) as ProblemCode[];
  const problemRows = codes.map((code): [string, string] => [
    `<strong>${problems[code].status}</strong> ${explained(page, code, problemType(code))}`,
    both(explanations[language][code]),
  ]);
  const faultRows = faultCodes.map((code): [string, string] => [
    explained(page, code, code),
    both(explanations[language][code]),
  ]);
  const answer = example('lookUpAddress', '422', 'invalid-input');
  return [
    block(
      `<p>${inline(words.paragraphs.Problems)}</p>\n<p>${inline(words.faultsLead)}</p>`,
      curl(page, `${operation('lookUpAddress').path}?postcode=0123AB&huisnummer=12A`) + response(page, answer, '422 '),
    ),
    `<h3 id="problems">${words.problems}</h3>\n${table([`${words.status}, <code>type</code>`, words.meaning], problemRows)}`,
    `<h3 id="codes">${words.faults}</h3>\n${table([words.code, words.meaning], faultRows)}`,
  ].join('\n');
}

function both({ happened, remedy }: Explanation): string {
  return `${inline(happened)}<br><span class="remedy">${inline(remedy)}</span>`;
}

function explained({ language }: Page, code: ExplainedCode, text: string): string {
  return `<a href="/problems/${code}?lang=${language}"><code>${text}</code></a>`;
}

function headers({ words }: Page): string {
  const rows = headerRows().map(({ name, header, at }): [string, string] => {
    const places = at.map((place) => `<code>${place}</code>`).join(', ') || words.everyResponse;
    const value = header.example ?? header.schema.const;
    const shown = value === undefined ? '' : `<br>${words.exampleOf}: <code>${escaped(value)}</code>`;
    return [`<code>${name}</code><br><small>${places}</small>`, `${inline(words.headerMeanings[name] ?? '')}${shown}`];
  });
  return `<p>${words.headersLead}</p>\n${table([words.name, words.description], rows)}`;
}

function openApi(page: Page): string {
  const { path } = operation('getOpenApi');
  const text = `<p>${inline(page.words.operations.getOpenApi ?? '')}</p>\n<p><a href="${path}"><code>${path}</code></a></p>`;
  return `${endpoint('getOpenApi')}\n${block(text, sample(page.words.request, `curl "${escaped(page.baseUrl)}${path}"`))}`;
}

function example(id: string, status: string, name: string): unknown {
  const found = responseExamples(id, status)[name];
  if (!found) throw new Error(`the OpenAPI document has no example ${name} of ${id}`);
  return found.value;
}

function endpoint(id: string): string {
  return `<p class="endpoint"><b>GET</b> <code>${operation(id).path}</code></p>`;
}

function members(words: Words, rows: Record<string, string>): string {
  return table(
    [words.name, words.description],
    Object.entries(rows).map(([name, text]) => [`<code>${name}</code>`, inline(text)]),
  );
}

function curl({ words, baseUrl }: Page, path: string): string {
  return sample(words.request, escaped(`curl -H "X-API-Key: YOUR_KEY" "${baseUrl}${path}"`), 'request');
}

function response({ words }: Page, body: unknown, status = ''): string {
  return sample(`${words.response} ${status}`.trim(), highlightedJson(body), 'response');
}

/** Code that can be scrolled to with the keyboard and copied; `code` is HTML. */
function sample(caption: string, code: string, kind = 'sample'): string {
  return `<figure class="sample ${kind}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>\n`;
}

/** Text, with samples beside it, or below it on a narrow screen. */
function block(text: string, samples = ''): string {
  return `<div class="block">\n<div class="text">\n${text}\n</div>\n${samples && `<div class="samples">\n${samples}</div>\n`}</div>`;
}

/** The roles keep it a table on a phone, where each row is shown as lines. */
function table([first, second]: [string, string], rows: [string, string][]): string {
  const body = rows.map(
    ([head, cell]) => `<tr role="row"><th role="rowheader" scope="row">${head}</th><td role="cell">${cell}</td></tr>`,
  );
  return `<table role="table">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${first}</th><th role="columnheader" scope="col">${second}</th></tr></thead>
<tbody role="rowgroup">
${body.join('\n')}
</tbody>
</table>`;
}
