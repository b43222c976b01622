import { html } from 'hono/html';
import { windowNames } from '../../shared/accounts/quota.ts';
import type { AccountVisit, Html, PageRoute, Visit } from '../visit/visit.ts';
import { doneNote, instantOf, scrollTable, stateTag } from './parts.ts';

/** The first pages: where somebody's accounts are, one account at a glance, and how to call the API. */
export const overviewPages: readonly PageRoute[] = [
  {
    of: 'service',
    method: 'GET',
    path: '/',
    action: 'home',
    async handle({ admin, people, person, text }) {
      if (person.operator) return { goTo: '/operator/accounts' };
      const accounts = await admin.members.accountsOf(people);
      if (accounts.length === 1) return { goTo: `/accounts/${accounts[0]?.account}` };
      if (accounts.length === 0) {
        const who = person.email ?? person.subject;
        return { title: text.noAccount, body: html`<div class="card"><p>${text.noAccountText(who)}</p></div>` };
      }
      const items = accounts.map(({ account }) => html`<li><a href="/accounts/${account}">${account}</a></li>`);
      return { title: text.yourAccounts, body: html`<div class="card"><ul>${items}</ul></div>` };
    },
  },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account',
    action: 'account.view',
    async handle(visit) {
      const { admin, account, text, format } = visit;
      const { state, plan, planState, created, windows, ownLimits } = await admin.accounts.show(account);
      const rows = windowNames.flatMap((name): Html[][] => {
        const window = windows[name];
        if (!window) return [];
        const { limit, used, resets } = window;
        const own = name in ownLimits ? html` <span class="muted">${text.ownLimit}</span>` : '';
        if (limit === null)
          return [
            [text.windows[name], html`${text.unlimited}${own}`, format.number(used), '-', instantOf(visit, resets)],
          ];
        const share = text.usedShare(format.number(used), format.number(limit));
        return [
          [
            text.windows[name],
            html`${format.number(limit)}${own}`,
            html`${format.number(used)}<meter min="0" max="${Math.max(limit, 1)}" value="${Math.min(used, limit)}" aria-label="${text.windows[name]}: ${share}"></meter>`,
            format.number(Math.max(0, limit - used)),
            instantOf(visit, resets),
          ],
        ];
      });
      const head = [text.window, text.limit, text.used, { number: text.left }, text.resets];
      return {
        title: text.overview,
        body: html`${doneNote(visit)}
${state === 'suspended' ? html`<p class="note bad">${text.suspendedText}</p>` : ''}
${planState === 'inactive' ? html`<p class="note bad">${text.planInactiveText}</p>` : ''}
<div class="card"><dl class="facts">
<div><dt>${text.state}</dt><dd>${stateTag(state, text)}</dd></div>
<div><dt>${text.plan}</dt><dd>${plan}</dd></div>
<div><dt>${text.created}</dt><dd>${instantOf(visit, created)}</dd></div>
</dl></div>
<div class="card">${scrollTable(text.limits, head, rows)}<p class="muted">${text.utc}</p></div>`,
      };
    },
  },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/api',
    action: 'account.view',
    handle: async ({ text, tools }: AccountVisit) => ({
      title: text.api,
      body: html`<div class="card"><p>${text.apiText}</p>
<pre><code id="call">${curlLine(tools.settings.apiUrl)}</code></pre>
${copyButton(text, 'call')}
<h2>${text.answer}</h2>
<pre><code>{"status":"ok","request":{"postcode":"9999SD","huisnummer":1,"toevoeging":null},"address":{"straat":"...","woonplaats":"..."},"candidates":[]}</code></pre>
<p>${text.quotaText}</p>
<p><a href="${tools.settings.apiUrl}/docs" rel="noopener">${text.apiReference}</a></p></div>`,
    }),
  },
];

/** A call of the API that works when it is pasted, given a key. The postcode is that of the test addresses. */
export function curlLine(apiUrl: string, key = 'YOUR-KEY'): string {
  return `curl -H 'X-API-Key: ${key}' '${apiUrl}/v1/address?postcode=9999SD&huisnummer=1'`;
}

/** Copies the text of an element; the script shows it, so that nobody sees a button that does nothing. */
export function copyButton(text: Visit['text'], id: string): Html {
  return html`<p><button type="button" class="button plain" hidden data-copy="${id}" data-copied="${text.copied}">${text.copy}</button> <span id="copied" role="status"></span></p>`;
}
