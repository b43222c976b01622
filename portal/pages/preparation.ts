import { html } from 'hono/html';
import type { Html, Visit } from '../visit/visit.ts';

/** How long one page works at it, and how many accounts at a time: less than a visitor waits at most. */
const workMilliseconds = 3_000;
const accountsAtOnce = 300;

/**
 * Continues to make the accounts of an earlier version found, and returns a note while it is not done: the next page
 * continues, which the script asks for, or a person.
 */
export async function preparationNote({ admin, c, text, format, tools }: Visit): Promise<Html | undefined> {
  const until = tools.now() + workMilliseconds;
  let looked = 0;
  do {
    const progress = await admin.accounts.prepareSearch({ accounts: accountsAtOnce });
    if (progress.done) return undefined;
    looked = progress.looked;
  } while (tools.now() < until);
  const fields = Object.entries(c.req.query()).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
  return html`<div class="card" aria-live="polite"><h2>${text.preparing}</h2><p>${text.preparingText(format.number(looked))}</p>
<form method="get" action="${c.req.path}">${fields}<div><button class="button" data-go-on>${text.goOn}</button></div></form></div>`;
}
