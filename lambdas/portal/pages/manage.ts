import { html } from 'hono/html';
import * as z from 'zod/mini';
import { type Limits, type WindowName, windowNames } from '../../shared/accounts/quota.ts';
import type { AccountVisit, Page, PageAnswer, PageRoute } from '../visit/visit.ts';
import { limitFields, parsedField, readLimits } from './limits.ts';
import { changing, confirmation, faultPage, postForm } from './parts.ts';
import { allPlans } from './plans.ts';

/** What an operator changes of one account. */
export const managePages: readonly PageRoute[] = [
  { of: 'account', method: 'GET', path: '/accounts/:account/manage', action: 'account.manage', handle: managePage },
  { of: 'account', method: 'POST', path: '/accounts/:account/manage', action: 'account.manage', handle: save },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/suspend',
    action: 'account.manage',
    handle: async (visit) => stateQuestion(visit, 'suspend'),
  },
  {
    of: 'account',
    method: 'POST',
    path: '/accounts/:account/suspend',
    action: 'account.manage',
    handle: (visit) => changeState(visit, 'suspend'),
  },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/activate',
    action: 'account.manage',
    handle: async (visit) => stateQuestion(visit, 'activate'),
  },
  {
    of: 'account',
    method: 'POST',
    path: '/accounts/:account/activate',
    action: 'account.manage',
    handle: (visit) => changeState(visit, 'activate'),
  },
];

const overviewOf = ({ account }: AccountVisit) => `/accounts/${account}`;
const pathOf = (visit: AccountVisit) => `${overviewOf(visit)}/manage`;

async function managePage(visit: AccountVisit): Promise<Page> {
  const { admin, account, text } = visit;
  const [{ plan, ownLimits, state }, plans] = await Promise.all([admin.accounts.show(account), allPlans(admin)]);
  const verb = state === 'active' ? 'suspend' : 'activate';
  const explanation = verb === 'suspend' ? text.suspendText : text.activateText;
  const options = plans.map(({ code }) => html`<option${code === plan ? html` selected` : ''}>${code}</option>`);
  const fields = html`<input type="hidden" name="seen" value="${JSON.stringify({ plan, ownLimits })}">
<label for="plan">${text.plan}</label><select id="plan" name="plan">${options}</select>
${limitFields(visit, ownLimits, text.limitHint)}
<div><button class="button">${text.save}</button></div>`;
  return {
    title: text.manage,
    body: html`<div class="card"><h2>${text.changePlan}</h2><p>${text.changePlanText}</p>${postForm(visit, pathOf(visit), fields)}</div>
<div class="card"><h2>${text[verb]}</h2><p>${explanation}</p><p><a class="button plain" href="${overviewOf(visit)}/${verb}">${text[verb]}</a></p></div>`,
  };
}

const seenSchema = z.object({
  plan: z.string(),
  ownLimits: z.partialRecord(z.enum(windowNames), z.nullable(z.number())),
});

/** Refused when somebody changed the account after the form was shown: nothing of that change is overwritten. */
async function save(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text } = visit;
  const back = pathOf(visit);
  const invalid = (explanation: string) =>
    faultPage(text, { title: text.errors.invalid, explanation, back, status: 422 });
  const seen = seenSchema.safeParse(parsedField(form.seen));
  if (!seen.success) return invalid(text.errors.other);
  const given = readLimits(visit);
  if (!given) return invalid(text.errors.limit);
  const limits: Partial<Record<WindowName, number | null | 'plan'>> = {};
  for (const name of windowNames) {
    const limit = given[name];
    // An empty field follows the plan.
    if (limit !== seen.data.ownLimits[name]) limits[name] = limit === undefined ? 'plan' : limit;
  }
  const plan = form.plan ?? '';
  const input = { id: account, limits, seen: seen.data as { plan: string; ownLimits: Limits } };
  const isOther = plan !== seen.data.plan;
  const done = await changing(text, back, 'plan', () => admin.accounts.set({ ...input, ...(isOther && { plan }) }));
  return 'fault' in done ? done.fault : { goTo: `${overviewOf(visit)}?done=saved` };
}

function stateQuestion(visit: AccountVisit, verb: 'suspend' | 'activate'): Page {
  const { text } = visit;
  return confirmation(visit, {
    title: text[verb],
    explanation: verb === 'suspend' ? text.suspendText : text.activateText,
    action: `${overviewOf(visit)}/${verb}`,
    yes: text[verb],
    cancel: pathOf(visit),
  });
}

async function changeState(visit: AccountVisit, verb: 'suspend' | 'activate'): Promise<PageAnswer> {
  const { admin, account, text } = visit;
  const done = await changing(text, pathOf(visit), 'other', () => admin.accounts[verb](account));
  return 'fault' in done
    ? done.fault
    : { goTo: `${overviewOf(visit)}?done=${verb === 'suspend' ? 'suspended' : 'activated'}` };
}
