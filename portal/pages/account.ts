import { html, raw } from 'hono/html';
import { programTabs } from '../../lambdas/page/samples.ts';
import { windowNames } from '../../packages/admin/index.ts';
import {
  type AccountVisit,
  type Html,
  ofAccount,
  ofService,
  type Page,
  type PageAnswer,
  type PageRoute,
  type Visit,
} from '../visit/visit.ts';
import { changesPage } from './history.ts';
import { codeBlock, doneNote, facts, homeOf, instantOf, numbers, quotaBar, scrollTable, stateTag } from './parts.ts';

/**
 * The pages that every member of an account may see: its limits and changes, and how to call the API.
 * The first page leads there.
 */
export const accountPages: readonly PageRoute[] = [
  ofService('GET', '/', 'home', home),
  ofAccount('GET', '', 'account.view', overviewPage),
  ofAccount('GET', '/api', 'account.view', apiPage),
  ofAccount('GET', '/changes', 'audit.view', changesPage),
];

async function home({ admin, people, person, text }: Visit): Promise<PageAnswer> {
  if (person.operator) return { goTo: '/operator/accounts' };
  const accounts = await admin.members.accountsOf(people);
  const [first, ...others] = accounts;
  if (first && others.length === 0) return { goTo: `/accounts/${first.account}${homeOf(first.role)}` };
  if (accounts.length === 0) {
    const who = person.email ?? person.subject;
    const fault = person.emailFault ? html`<p>${text.emailFaults[person.emailFault]}</p>` : '';
    return {
      title: text.noAccount,
      body: html`<div class="card"><p>${text.noAccountText(who)}</p>${codeBlock('', who, 'identity')}${fault}</div>`,
    };
  }
  const items = accounts.map(
    ({ account, role }) => html`<li><a href="/accounts/${account}${homeOf(role)}">${account}</a></li>`,
  );
  return { title: text.yourAccounts, body: html`<div class="card"><ul>${items}</ul></div>` };
}

async function overviewPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, person, text, format } = visit;
  const { state, plan, planState, created, windows, ownLimits, ...shown } = await admin.accounts.show(account);
  const details = person.operator ? (['name', 'contact', 'note'] as const) : (['name'] as const);
  const rows = windowNames.flatMap((name): Html[][] => {
    const window = windows[name];
    if (!window) return [];
    const { limit, used, resets } = window;
    const own = name in ownLimits ? html` <span class="muted">${text.ownLimit}</span>` : '';
    const bar = limit === null ? '' : quotaBar(visit, name, { used, limit });
    return [
      [
        text.windows[name],
        html`${limit === null ? text.unlimited : format.number(limit)}${own}`,
        html`${format.number(used)}${bar}`,
        limit === null ? '-' : format.number(Math.max(0, limit - used)),
        instantOf(visit, resets),
      ],
    ];
  });
  const head = [text.window, ...[text.limit, text.used, text.left].map(numbers), text.resets];
  return {
    title: text.overview,
    body: html`${doneNote(visit)}
${state === 'suspended' ? html`<p class="note bad">${text.suspendedText}</p>` : ''}
${planState === 'inactive' ? html`<p class="note bad">${text.planInactiveText}</p>` : ''}
<div class="card">${facts([
      ...details.flatMap((name) => (shown[name] === null ? [] : [[text.detailNames[name], shown[name]] as const])),
      [text.state, stateTag(state, text)],
      [text.plan, plan],
      [text.created, instantOf(visit, created)],
    ])}</div>
<div class="card">${scrollTable(text.limits, head, rows)}<p class="muted">${text.utc}</p></div>`,
  };
}

function apiPage(visit: AccountVisit): Page {
  const { text, tools } = visit;
  const { apiUrl } = tools.settings;
  return {
    title: text.api,
    body: html`<div class="card"><p>${text.apiText}</p>${codeBlock('curl', curlLine(apiUrl), 'call')}${codeBlock(text.answer, exampleAnswer)}
<p>${text.quotaText}</p>
<p><a href="/try">${text.tryHere}</a></p>
<p><a href="/help">${text.help.title}</a></p>
<p><a href="${apiUrl}/docs" rel="noopener">${text.apiReference}</a></p></div>
<div class="card"><h2>${text.apiSamples}</h2>${raw(programTabs(text.apiSamplesText, lookupUrl(apiUrl)))}</div>`,
  };
}

const exampleAnswer =
  '{"status":"ok","request":{"postcode":"9999SD","huisnummer":1,"toevoeging":null},"address":{"straat":"Teststraat","woonplaats":"Testdorp"},"candidates":[]}';

/** A call of the API that works when it is pasted, given a key. The postcode is that of the test addresses. */
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
