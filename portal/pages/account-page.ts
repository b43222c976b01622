import { html, raw } from 'hono/html';
import { lookupRequest, programChoice, programSamples } from '../../packages/ui/samples.ts';
import { accountRoutes, type Page } from '../request/page-routes.ts';
import type { AccountRequest } from '../request/portal-request.ts';
import { changesPage } from './history-page.ts';
import { codeBlock } from './page-parts.ts';

/** Further pages for members of an account: its changes, and how to call the API. */
export const accountPages = accountRoutes({
  'GET /api': ['account.view', apiPage],
  'GET /changes': ['audit.view', changesPage],
});

function apiPage(request: AccountRequest): Page {
  const { account, text, tools } = request;
  const { apiUrl } = tools.settings;
  return {
    title: text.api,
    body: html`<div class="card"><p>${text.apiText}</p>${codeBlock('curl', curlLine(apiUrl), 'call')}${codeBlock(text.call.answer, exampleAnswer)}
<p>${text.quotaText}</p>
<p><a href="/accounts/${account}/api/try">${text.tryHere}</a></p>
<p><a href="/help">${text.help.title}</a></p>
<p><a href="${apiUrl}/docs" rel="noopener">${text.apiReference}</a></p></div>
<div class="card"><h2>${text.apiSamples}</h2>${raw(programChoice(text.apiSamplesText) + programSamples(lookupRequest(lookupUrl(apiUrl))))}</div>`,
  };
}

const exampleAnswer =
  '{"status":"ok","request":{"postcode":"9999SD","huisnummer":1,"toevoeging":null},"address":{"straat":"Teststraat","woonplaats":"Testdorp"},"candidates":[]}';

/**
 * A call of the API that works when it is pasted, given a key. The postcode belongs to the test
 * addresses.
 */
export function curlLine(apiUrl: string, key = 'YOUR_KEY', query = testAddress): string {
  return `curl -H 'X-API-Key: ${key}' '${lookupUrl(apiUrl, query)}'`;
}

const testAddress: [name: string, value: string][] = [
  ['postcode', '9999SD'],
  ['huisnummer', '1'],
];

/** A lookup, in quotes of the shell as well. */
export const lookupUrl = (apiUrl: string, query = testAddress): string =>
  `${apiUrl}/v1/address?${new URLSearchParams(query)}`;
