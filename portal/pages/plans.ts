import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { Admin, Limits, Plan } from '../../packages/admin/index.ts';
import type { Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { faulty, field, saving } from './form.ts';
import { changesTable } from './history.ts';
import {
  changing,
  confirmation,
  doneNote,
  faultPage,
  invalidPage,
  limitFields,
  limitsField,
  limitsText,
  notFoundPage,
  postForm,
  readLimits,
  readSeen,
  scrollTable,
  seenField,
  stateTag,
} from './parts.ts';

/** Plans as operators see, make and change them. A change reaches every account on the plan, so it is confirmed. */
export const planPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/operator/plans', action: 'operator.view', handle: plansPage },
  { of: 'service', method: 'POST', path: '/operator/plans', action: 'plan.change', handle: create },
  {
    of: 'service',
    method: 'GET',
    path: '/operator/plans/:plan',
    action: 'operator.view',
    handle: (visit) => withPlan(visit, planPage),
  },
  {
    of: 'service',
    method: 'POST',
    path: '/operator/plans/:plan',
    action: 'plan.change',
    handle: (visit) => withPlan(visit, change),
  },
  {
    of: 'service',
    method: 'GET',
    path: '/operator/plans/:plan/state',
    action: 'plan.change',
    handle: (visit) => withPlan(visit, stateQuestion),
  },
  {
    of: 'service',
    method: 'POST',
    path: '/operator/plans/:plan/state',
    action: 'plan.change',
    handle: (visit) => withPlan(visit, changeState),
  },
];

const plansPath = '/operator/plans';
const pathOf = (code: string) => `${plansPath}/${code}`;

/** Every plan, by code. */
export async function allPlans(admin: Admin): Promise<Plan[]> {
  const plans: Plan[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await admin.plans.list(cursor ? { cursor } : {});
    plans.push(...page.plans);
    cursor = page.cursor;
  } while (cursor);
  return plans;
}

/** The most accounts that a page counts, and changes with a plan: each hundred takes one read. */
const accountsCounted = 2_000;

type Followers = { counts: ReadonlyMap<string, number>; all: boolean };

async function countByPlan(admin: Admin): Promise<Followers> {
  const counts = new Map<string, number>();
  let cursor: string | null | undefined;
  for (let counted = 0; counted < accountsCounted; counted += 100) {
    const page = await admin.accounts.list(cursor ? { cursor } : {});
    for (const { plan } of page.accounts) counts.set(plan, (counts.get(plan) ?? 0) + 1);
    cursor = page.cursor;
    if (!cursor) return { counts, all: true };
  }
  return { counts, all: false };
}

function followersText({ text, format }: Visit, { counts, all }: Followers, code: string): string {
  const count = format.number(counts.get(code) ?? 0);
  return all ? count : text.atLeast(count);
}

async function plansPage(visit: Visit): Promise<Page> {
  const { admin, text } = visit;
  const [plans, followers] = await Promise.all([allPlans(admin), countByPlan(admin)]);
  const rows = plans.map(({ code, state, limits }): Html[] => [
    html`<a href="${pathOf(code)}">${code}</a>`,
    stateTag(state, text),
    limitsText(visit, limits),
    followersText(visit, followers, code),
  ]);
  const head = [text.plan, text.state, text.limits, { number: text.following }];
  const form = html`${field(visit, { name: 'code', label: text.planCode, hint: text.planCodeHint, maxLength: 32, required: true })}
${limitFields(visit, {}, text.planLimitHint)}<div><button class="button">${text.createPlan}</button></div>`;
  return {
    title: text.plans,
    body: html`${doneNote(visit)}<div class="card">${rows.length > 0 ? scrollTable(text.plans, head, rows) : html`<p>${text.noPlans}</p>`}</div>
<div class="card"><h2>${text.createPlan}</h2>${postForm(visit, plansPath, form)}</div>`,
  };
}

/** Sent twice, the second is refused: a plan of that code exists. */
async function create(visit: Visit): Promise<PageAnswer> {
  const { admin, form, text } = visit;
  const { code = '' } = form;
  const read = readLimits(visit);
  const wrong = limitFault(read);
  if (wrong) return faulty(visit, { field: wrong, message: text.errors.planLimit }, plansPage);
  const { limits } = read as { limits: Limits };
  const of = { show: plansPage, field: 'code', about: 'planCode', back: plansPath } as const;
  const put = () => admin.plans.put({ code, limits, seen: null });
  const made = await saving(visit, of, put, { conflict: text.errors.planExists });
  return 'fault' in made ? made.fault : { goTo: `${pathOf(code)}?done=plan` };
}

/** The field that is wrong: one that is no limit, or the first if all are empty, since a plan has at least one. */
function limitFault(read: ReturnType<typeof readLimits>): string | undefined {
  if ('wrong' in read) return read.wrong;
  return Object.keys(read.limits).length === 0 ? 'limit-minute' : undefined;
}

async function withPlan(
  visit: Visit,
  show: (visit: Visit, plan: Plan) => PageAnswer | Promise<PageAnswer>,
): Promise<PageAnswer> {
  const { admin, c, text } = visit;
  const code = c.req.param('plan') ?? '';
  const found = await changing(text, plansPath, 'planCode', () => admin.plans.list({ prefix: code, limit: 1 }));
  if ('fault' in found) return found.fault;
  const [plan] = found.result.plans;
  return plan?.code === code ? show(visit, plan) : notFoundPage(text, plansPath);
}

/** What a form about a plan was shown upon. */
const seenSchema = z.object({ limits: limitsField, state: z.enum(['active', 'inactive']) });

async function planPage(visit: Visit, plan: Plan): Promise<Page> {
  const { admin, text } = visit;
  const { code, state, limits } = plan;
  const [followers, changes] = await Promise.all([countByPlan(admin), admin.plans.audit(code, 20)]);
  const verb = state === 'active' ? 'deactivatePlan' : 'activatePlan';
  const fields = html`${seenField({ limits, state })}${limitFields(visit, limits, text.planLimitHint)}
<div><button class="button">${text.goOn}</button></div>`;
  return {
    title: `${text.plan} ${code}`,
    body: html`${doneNote(visit)}<div class="card"><dl class="facts">
<div><dt>${text.state}</dt><dd>${stateTag(state, text)}</dd></div>
<div><dt>${text.following}</dt><dd>${followersText(visit, followers, code)}</dd></div>
<div><dt>${text.limits}</dt><dd>${limitsText(visit, limits)}</dd></div></dl></div>
<div class="card"><h2>${text.changeLimits}</h2><p>${text.changeLimitsText}</p>${postForm(visit, pathOf(code), fields)}</div>
<div class="card"><h2>${text[verb]}</h2><p>${text[`${verb}Text`]}</p><p><a class="button plain" href="${pathOf(code)}/state">${text[verb]}</a></p></div>
<div class="card">${changesTable(visit, changes)}</div>
<p><a href="${plansPath}">${text.backToPlans}</a></p>`,
  };
}

/** Asks first, saying how many accounts follow; the form that it then shows sends the same limits, confirmed. */
async function change(visit: Visit, plan: Plan): Promise<PageAnswer> {
  const { admin, form, text } = visit;
  const { code } = plan;
  const back = pathOf(code);
  const seen = readSeen(visit, seenSchema);
  if (!seen) return invalidPage(text, back, text.errors.other);
  const read = readLimits(visit);
  const wrong = limitFault(read);
  if (wrong) return faulty(visit, { field: wrong, message: text.errors.planLimit }, (again) => planPage(again, plan));
  const { limits } = read as { limits: Limits };
  if (form.confirmed !== 'yes') {
    const sent = Object.entries(limits).map(
      ([name, limit]) => html`<input type="hidden" name="limit-${name}" value="${limit ?? 'unlimited'}">`,
    );
    return question(visit, plan, {
      title: text.changeLimitsOf(code),
      what: `${limitsText(visit, seen.limits)} → ${limitsText(visit, limits)}.`,
      action: back,
      yes: text.changeLimitsYes,
      hidden: html`${seenField(seen)}${sent}`,
    });
  }
  const input = { code, limits, state: seen.state, seen };
  const done = await changing(text, back, 'planLimit', () => admin.plans.put(input));
  return 'fault' in done ? done.fault : { goTo: `${back}?done=saved` };
}

async function stateQuestion(visit: Visit, plan: Plan): Promise<PageAnswer> {
  const { text } = visit;
  const verb = plan.state === 'active' ? 'deactivatePlan' : 'activatePlan';
  return question(visit, plan, {
    title: `${text[verb]}: ${plan.code}`,
    what: text[`${verb}Text`],
    action: `${pathOf(plan.code)}/state`,
    yes: text[`${verb}Yes`],
    hidden: seenField({ limits: plan.limits, state: plan.state }),
  });
}

/** A question before a change that every account on the plan follows. */
async function question(
  visit: Visit,
  { code }: Plan,
  ask: { title: string; what: string; action: string; yes: string; hidden: Html },
): Promise<Page> {
  const { admin, text } = visit;
  const followers = await countByPlan(admin);
  const { title, action, yes } = ask;
  if (!followers.all) {
    const explanation = text.tooManyFollow(visit.format.number(accountsCounted));
    return faultPage(text, { title, explanation, back: pathOf(code), status: 409 });
  }
  return confirmation(visit, {
    title,
    explanation: `${ask.what} ${text.followNow(followersText(visit, followers, code))}`,
    action,
    yes,
    cancel: pathOf(code),
    hidden: html`${ask.hidden}<input type="hidden" name="confirmed" value="yes">`,
  });
}

async function changeState(visit: Visit, { code }: Plan): Promise<PageAnswer> {
  const { admin, text } = visit;
  const back = pathOf(code);
  const seen = readSeen(visit, seenSchema);
  if (!seen) return invalidPage(text, back, text.errors.other);
  const state = seen.state === 'active' ? 'inactive' : 'active';
  const done = await changing(text, back, 'other', () => admin.plans.put({ code, state, seen }));
  return 'fault' in done ? done.fault : { goTo: `${back}?done=${state === 'active' ? 'planActive' : 'planInactive'}` };
}
