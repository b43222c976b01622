import { html } from 'hono/html';
import { field } from '../../packages/look/form-fields.ts';
import { type Page, serviceRoutes } from '../visit/page-routes.ts';
import type { Visit } from '../visit/visit.ts';
import { curlLine, lookupUrl } from './account-page.ts';
import { faulty, postForm } from './page-form.ts';
import { codeBlock } from './page-parts.ts';

/**
 * Looks up one address with the visitor's own key. The portal calls the API, because no browser
 * may. The key is sent in a form and used once: it is not stored, and no page, address or log has
 * it.
 */
export const tryPages = serviceRoutes({
  'GET /try': ['home', tryPage],
  'POST /try': ['home', tryLookup],
});

const path = '/try';
const responseMilliseconds = 8_000;

/** The parameters of a lookup; the first two begin with a test address. */
const parameters = { postcode: '9999SD', huisnummer: '1', toevoeging: '', include: '' };

function tryPage(visit: Visit): Page {
  const { text } = visit;
  // A key, wherever it was pasted, does not come back.
  const shown = { ...visit, form: { ...typedIn(visit), key: '' } };
  const inputs = Object.entries(parameters).map(([name, value]) =>
    field(shown, {
      name,
      label: name,
      value,
      ...(name === 'include' && { hint: text.tryInclude }),
    }),
  );
  const fields = html`${field(shown, { name: 'key', label: text.call.apiKey, hint: text.tryKey, required: true })}
<div class="fields">${inputs.slice(0, -1)}</div>${inputs.at(-1)}`;
  const form = postForm(visit, path, fields, { label: text.call.tryIt });
  return {
    title: text.call.tryIt,
    body: html`<div class="card"><p>${text.tryText}</p>${form}</div>`,
  };
}

/** The values typed for the parameters, without any key, which would be sent in an address. */
function typedIn({ form }: Visit): Record<string, string> {
  const typed = Object.keys(parameters).flatMap((name) => {
    const value = form[name];
    return value === undefined ? [] : [[name, /bagadres_/i.test(value) ? '' : value]];
  });
  return Object.fromEntries(typed);
}

async function tryLookup(visit: Visit): Promise<Page> {
  const { form, text, tools } = visit;
  const { key = '' } = form;
  if (!/^[!-~]+$/.test(key)) {
    return faulty(visit, { field: 'key', message: text.errors.key }, tryPage);
  }
  const { apiUrl } = tools.settings;
  const query = Object.entries(typedIn(visit)).filter(([, value]) => value !== '');
  const answer = await responseTo(lookupUrl(apiUrl, query), key).catch(() => undefined);
  const { title, body } = tryPage(visit);
  if (!answer) {
    return {
      title,
      status: 503,
      body: html`<p class="note bad" role="alert">${text.tryFailed}</p>${body}`,
    };
  }
  const request = codeBlock(text.call.request, curlLine(apiUrl, 'YOUR_KEY', query), 'curl');
  return {
    title,
    body: html`<div class="card" role="status">${request}${codeBlock(text.call.answer, answer, 'answer')}</div>${body}`,
  };
}

const shownHeaders = [
  'Dataset-Date',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
  'X-Request-Id',
];

/**
 * The status, the headers that say something of the lookup, and the body. Redirects are not
 * followed, with a key.
 */
async function responseTo(url: string, key: string): Promise<string> {
  const signal = AbortSignal.timeout(responseMilliseconds);
  const response = await fetch(url, { headers: { 'X-API-Key': key }, redirect: 'error', signal });
  const lines = shownHeaders.flatMap((name) => {
    const value = response.headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  const body = JSON.stringify(await response.json(), null, 2);
  return [`HTTP ${response.status}`, ...lines, '', body].join('\n');
}
