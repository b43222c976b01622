import { faultCodes } from '../../core/contract.ts';
import { type ProblemCode, problems, problemType } from '../../core/problems.ts';
import type { Language } from '../ui/language.ts';
import {
  escaped,
  lookupRequest,
  programChoice,
  programSamples,
  type SampleRequest,
  sample,
} from '../ui/samples.ts';
import { brandedPage } from './branded-page.ts';
import { changesList } from './changes.ts';
import { highlightedJson, inline } from './html.ts';
import type { OpenApi } from './openapi-document.ts';
import type { PublishedPath } from './published.ts';
import {
  block,
  errorId,
  heading,
  htmlTable,
  memberList,
  type TableRow,
} from './reference-parts.ts';
import type { Site } from './site.ts';
import type { Explanation, TranslatedText } from './text/en.ts';
import { textsIn } from './text/texts.ts';

type DocsPage = {
  api: OpenApi;
  words: TranslatedText;
  /** The URL of this deployment, such as `https://api.example.nl`. */
  baseUrl: string;
  /** Where somebody can try a lookup, if there is a portal. */
  tryUrl: string | undefined;
};

/**
 * The page with the API reference, complete in one response: it loads nothing, not even from this
 * API. Readable without JavaScript, which adds the search, the buttons to copy a sample, the memory
 * of a chosen language of programs, and the anchor to the links to the other language. The only
 * field is that search, which sends nothing.
 */
export function docsPage(
  language: Language,
  baseUrl: string,
  site: Site,
): { html: string; policy: string } {
  const { api, branding } = site;
  const words = { ...api.descriptions(), ...textsIn(language, site.available) };
  const { copy, copied, search, noResults: none } = words;
  const attributes = Object.entries({ copy, copied, search, none }).map(
    ([name, text]) => ` data-${name}="${escaped(text)}"`,
  );
  return brandedPage({
    language,
    branding,
    title: words.pageTitle,
    description: inline(words.lead),
    home: '#top',
    version: api.document.info.version,
    script: { attributes: attributes.join('') },
    body: withSearchWords(
      bodyOf({ api, words, baseUrl, tryUrl: branding.portalUrl && `${branding.portalUrl}/try` }),
      words,
    ),
  });
}

/** Adds search words that are not in the text to each element with an address. */
function withSearchWords(html: string, { searchWords }: TranslatedText): string {
  const words: Readonly<Record<string, string>> = searchWords;
  return html.replaceAll(/ id="([\w-]+)"/g, (found, id) =>
    Object.hasOwn(words, id) ? `${found} data-words="${escaped(words[id] ?? '')}"` : found,
  );
}

function bodyOf(page: DocsPage): string {
  const { words } = page;
  const all = sections(page);
  const links = all
    .map(({ id }) => `<li><a href="#${id}">${words.sections[id]}</a></li>`)
    .join('\n');
  const contents = `<ul>\n${links}\n</ul>`;
  const parts = all.map(
    ({ id, html }) =>
      `<section id="${id}" aria-labelledby="${id}-title">\n<h2 id="${id}-title"><a class="anchor" href="#${id}">${words.sections[id]}</a></h2>\n${html}\n</section>`,
  );
  return `<a class="skip" href="#start">${words.skip}</a>
<div class="page">
<nav class="contents" aria-label="${words.contents}">${contents}</nav>
<main id="top">
<h1>${words.title}</h1>
<p class="lead">${inline(words.lead)}</p>
<details class="contents"><summary>${words.contents}</summary>${contents}</details>
${programChoice(words.programs)}${parts.join('\n')}
</main>
</div>`;
}

/** The sections of the page in their order, by the ends of their addresses (`/docs#lookup`). */
function sections(page: DocsPage): { id: keyof TranslatedText['sections']; html: string }[] {
  return [
    { id: 'start', html: quickStart(page) },
    { id: 'lookup', html: lookup(page) },
    { id: 'batch', html: batch(page) },
    { id: 'validate', html: validation(page) },
    { id: 'keys', html: block(`<p>${inline(page.words.paragraphs.Keys)}</p>`) },
    { id: 'quota', html: quota(page) },
    { id: 'errors', html: errors(page) },
    { id: 'headers', html: headers(page) },
    { id: 'openapi', html: openApi(page) },
    { id: 'changes', html: changes(page) },
  ];
}

function quickStart(page: DocsPage): string {
  const { api, words, tryUrl } = page;
  const steps = words.startSteps.map((step) => `<li>${inline(step)}</li>`).join('\n');
  return block(
    `<ol class="steps">\n${steps}\n</ol>${tryUrl ? `\n<p><a href="${escaped(tryUrl)}">${words.tryIt}</a></p>` : ''}`,
    sample(
      words.request,
      escaped(`curl -H "X-API-Key: YOUR_KEY" "${page.baseUrl}${api.exampleUrl('found')}"`),
      { kind: 'request' },
    ) + response(page, example(api, 'lookUpAddress', '200', 'found')),
  );
}

/** The member of an outcome that a program prints. */
const printed = { ok: 'address', not_found: 'toevoegingen', ambiguous: 'candidates' } as const;

function lookup(page: DocsPage): string {
  const { api, words, baseUrl } = page;
  const url = `${baseUrl}${api.exampleUrl('found')}`;
  const outcomes = Object.keys(api.responseExamples('lookUpAddress', '200')).map((name) => {
    const answer = example(api, 'lookUpAddress', '200', name) as {
      status: keyof TranslatedText['outcome'];
    };
    const title = heading(4, `outcome-${name}`, escaped(words.exampleTitles[name] ?? name));
    const meaning = `<p class="outcome"><code class="${answer.status}">${answer.status}</code></p>\n<p>${inline(words.outcome[answer.status])}</p>`;
    const request: SampleRequest = {
      ...lookupRequest(`${baseUrl}${api.exampleUrl(name)}`),
      does: { prints: 'member', member: printed[answer.status] },
    };
    return block(`${title}\n${meaning}`, programSamples(request) + response(page, answer));
  });
  return [
    endpoint(api, 'lookUpAddress'),
    block(
      `<p>${inline(words.operations.lookUpAddress ?? '')}</p>\n${heading(3, 'parameters', words.parameters)}\n${htmlTable([words.name, words.form], parameterRows(page))}\n` +
        `<p>${inline(words.paragraphs.Toevoeging)}</p>`,
      `${programSamples(lookupRequest(url))}<p class="muted">${inline(words.programsLead)}</p>\n`,
    ),
    `${heading(3, 'outcomes', words.outcomes)}\n<p>${inline(words.paragraphs.Outcomes)}</p>`,
    ...outcomes,
    block(
      `${heading(3, 'members', words.body)}\n${memberList(api.answerMembers('lookUpAddress'), words)}`,
    ),
    block(
      `${heading(3, 'test-addresses', words.testAddresses)}\n<p>${inline(words.paragraphs['Test addresses'])}</p>`,
    ),
    block(
      `${heading(3, 'storing', words.storing)}\n<p>${inline(words.paragraphs['Storing results'])}</p>`,
    ),
  ].join('\n');
}

function parameterRows({ api, words }: DocsPage): TableRow[] {
  return (api.operation('lookUpAddress').parameters ?? []).map(
    ({ name, required, examples = {} }) => {
      const values = [...new Set(Object.values(examples).map(({ value }) => `\`${value}\``))].join(
        ', ',
      );
      const need = `<small${required ? ' class="required"' : ''}>${required ? words.required : words.optional}</small>`;
      const form = `${inline(words.parameterForms[name] ?? '')} ${words.exampleOf}: ${inline(values)}.`;
      return { id: `parameter-${name}`, head: `<code>${name}</code> ${need}`, cell: form };
    },
  );
}

function batch(page: DocsPage): string {
  const { api, words } = page;
  const id = 'lookUpAddresses';
  const request: SampleRequest = {
    url: `${page.baseUrl}${api.operation(id).path}`,
    body: JSON.stringify(api.requestExample(id, 'many'), null, 2),
    answered: 'results',
    does: { prints: 'each', list: 'results', member: 'status' },
  };
  const answer = response(page, example(api, id, '200', 'many'));
  const text = [
    `<p>${inline(words.operations[id] ?? '')}</p>`,
    heading(3, 'batch-request-members', words.requestBody),
    memberList(api.requestMembers(id), words),
    heading(3, 'batch-members', words.body),
    memberList(api.answerMembers(id), words),
  ].join('\n');
  return `${endpoint(api, id)}\n${block(text, programSamples(request) + answer)}`;
}

function validation(page: DocsPage): string {
  const { api, words } = page;
  const id = 'validateKey';
  const request: SampleRequest = {
    url: `${page.baseUrl}${api.operation(id).path}`,
    answered: 'limits',
    does: { prints: 'member', member: 'limits' },
  };
  const text = `<p>${inline(words.operations[id] ?? '')}</p>\n${heading(3, 'key-members', words.body)}\n${memberList(api.answerMembers(id), words)}`;
  const answer = response(page, example(api, id, '200', 'valid'));
  return `${endpoint(api, id)}\n${block(text, programSamples(request) + answer)}`;
}

function quota({ api, words }: DocsPage): string {
  const rows = words.retryRows.map(([status, remedy]) => ({
    head: escaped(status),
    cell: inline(remedy),
  }));
  const limits = api.headerRows().filter(({ name }) => name.startsWith('RateLimit'));
  const lines = limits.map(
    ({ name, header }) => `<span class="name">${name}</span>: ${escaped(header.example ?? '')}`,
  );
  return block(
    `<p>${inline(words.paragraphs.Quota)}</p>\n<p>${inline(words.paragraphs.Gateway)}</p>\n${heading(3, 'retries', words.retries)}\n${htmlTable([words.status, words.retries], rows)}`,
    sample(words.sections.headers, lines.join('\n'), { kind: 'headers' }),
  );
}

function errors(page: DocsPage): string {
  const { api, words } = page;
  const problemRows = (Object.keys(problems) as ProblemCode[]).map((code) => ({
    id: errorId(code),
    head: `<strong>${problems[code].status}</strong> <code>${problemType(code)}</code>`,
    cell: both(words.explanations[code]),
  }));
  const faultRows = faultCodes.map((code) => ({
    id: errorId(code),
    head: `<code>${code}</code>`,
    cell: both(words.explanations[code]),
  }));
  const answer = example(api, 'lookUpAddress', '422', 'invalid-input');
  const { path } = api.operation('lookUpAddress');
  const request: SampleRequest = {
    ...lookupRequest(`${page.baseUrl}${path}?postcode=0123AB&huisnummer=12A`),
    does: { prints: 'faults' },
  };
  return [
    block(
      `<p>${inline(words.paragraphs.Problems)}</p>\n<p>${inline(words.faultsLead)}</p>\n${heading(3, 'problem-members', words.body)}\n${memberList(api.problemMembers(), words)}`,
      programSamples(request) + response(page, answer, '422'),
    ),
    `${heading(3, 'problems', words.problems)}\n${htmlTable([`${words.status}, <code>type</code>`, words.meaning], problemRows)}`,
    `${heading(3, 'codes', words.faults)}\n${htmlTable([words.code, words.meaning], faultRows)}`,
  ].join('\n');
}

function both([happened, remedy]: Explanation): string {
  return `${inline(happened)}<br><span class="muted">${inline(remedy)}</span>`;
}

function headers({ api, words }: DocsPage): string {
  const rows = api.headerRows().map(({ name, header, at }): TableRow => {
    const places = at.map((place) => `<code>${place}</code>`).join(', ') || words.everyResponse;
    const value = header.example ?? header.schema.const;
    const shown =
      value === undefined ? '' : `<br>${words.exampleOf}: <code>${escaped(value)}</code>`;
    return {
      id: `header-${name.toLowerCase()}`,
      head: `<code>${name}</code><br><small>${places}</small>`,
      cell: `${inline(words.headerMeanings[name] ?? '')}${shown}`,
    };
  });
  return `<p>${words.headersLead}</p>\n${htmlTable([words.name, words.description], rows)}`;
}

const otherForms: PublishedPath[] = ['/docs.md', '/llms.txt', '/postman.json'];

function openApi(page: DocsPage): string {
  const { api } = page;
  const { path } = api.operation('getOpenApi');
  const text = `<p>${inline(page.words.operations.getOpenApi ?? '')}</p>\n<p><a href="${path}"><code>${path}</code></a></p>
<p>${page.words.otherForms}: ${otherForms.map((form) => `<a href="${form}"><code>${form}</code></a>`).join(', ')}</p>`;
  return `${endpoint(api, 'getOpenApi')}\n${block(text, sample(page.words.request, `curl "${escaped(page.baseUrl)}${path}"`))}`;
}

function changes({ api, words }: DocsPage): string {
  const feed = `<p><a href="${'/changes.xml' satisfies PublishedPath}">${words.feed}</a></p>`;
  const versions = `${heading(3, 'versions', words.versions)}\n<div lang="en">${changesList(api)}</div>`;
  return block(`<p>${inline(words.paragraphs.Compatibility)}</p>\n${versions}\n${feed}`);
}

function example(api: OpenApi, id: string, status: string, name: string): unknown {
  const found = api.responseExamples(id, status)[name];
  if (!found) throw new Error(`the OpenAPI document has no example ${name} of ${id}`);
  return found.value;
}

function endpoint(api: OpenApi, id: string): string {
  const { method, path } = api.operation(id);
  return `<p class="endpoint"><b>${method}</b> <code>${path}</code></p>`;
}

function response({ words }: DocsPage, body: unknown, status = ''): string {
  return sample(`${words.response} ${status}`.trim(), highlightedJson(body), { kind: 'response' });
}
