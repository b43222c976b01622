import { html } from 'hono/html';
import * as z from 'zod/mini';
import type { Admin, Limits, Plan, PlanPage } from '../../packages/admin/index.ts';
import type { Text } from '../text/en.ts';
import type { Html, Page, PageAnswer, PageRoute, Visit } from '../visit/visit.ts';
import { faulty, field, saving } from './form.ts';
import { changesPart } from './history.ts';
import {
  changing,
  confirmation,
  doneNote,
  instantOf,
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
  {
    of: 'service',
    method: 'GET',
    path: '/operator/plans/:plan/change',
    action: 'plan.change',
    handle: (visit) => withPlan(visit, changePage),
  },
  {
    of: 'service',
    method: 'POST',
    path: '/operator/plans/:plan/change',
    action: 'plan.change',
    handle: (visit) => withPlan(visit, (_, { code }) => goOn(visit, code, 'saved')),
  },
];

const plansPath = '/operator/plans';
const pathOf = (code: string) => `${plansPath}/${code}`;

/** Every plan, by code. */
export async function allPlans(admin: Admin): Promise<PlanPage['plans']> {
  const plans: PlanPage['plans'] = [];
  let cursor: string | null | undefined;
  do {
    const page = await admin.plans.list(cursor ? { cursor } : {});
    plans.push(...page.plans);
    cursor = page.cursor;
  } while (cursor);
  return plans;
}

async function plansPage(visit: Visit): Promise<Page> {
  const { admin, text } = visit;
  const [plans, count] = await Promise.all([allPlans(admin), followers(visit)]);
  const rows = plans.map(({ code, state, limits, change }): Html[] => [
    html`<a href="${pathOf(code)}">${code}</a>${change ? html` <a class="tag warn" href="${pathOf(code)}/change">${text.unfinished}</a>` : ''}`,
    stateTag(state, text),
    limitsText(visit, limits),
    count(code),
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

/** How many accounts a plan has. */
async function followers({ admin, format }: Visit): Promise<(code: string) => string> {
  const counts = await admin.plans.counts();
  return (code) => format.number(counts[code] ?? 0);
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
  show: (visit: Visit, plan: PlanPage['plans'][number]) => PageAnswer | Promise<PageAnswer>,
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

async function planPage(visit: Visit, plan: PlanPage['plans'][number]): Promise<Page> {
  const { admin, text } = visit;
  const { code, state, limits } = plan;
  const [count, changes] = await Promise.all([
    followers(visit),
    changesPart(visit, pathOf(code), (page) => admin.plans.auditPage(code, page)),
  ]);
  const verb = state === 'active' ? 'deactivatePlan' : 'activatePlan';
  const fields = html`${seenField({ limits, state })}${limitFields(visit, limits, text.planLimitHint)}
<div><button class="button">${text.goOn}</button></div>`;
  return {
    title: `${text.plan} ${code}`,
    body: html`${doneNote(visit)}${plan.change ? html`<p class="note">${text.unfinishedText} <a href="${pathOf(code)}/change">${text.unfinishedLook}</a></p>` : ''}<div class="card"><dl class="facts">
<div><dt>${text.state}</dt><dd>${stateTag(state, text)}</dd></div>
<div><dt>${text.following}</dt><dd>${count(code)}</dd></div>
<div><dt>${text.limits}</dt><dd>${limitsText(visit, limits)}</dd></div></dl></div>
<div class="card"><h2>${text.changeLimits}</h2><p>${text.changeLimitsText}</p>${postForm(visit, pathOf(code), fields)}</div>
<div class="card"><h2>${text[verb]}</h2><p>${text[`${verb}Text`]}</p><p><a class="button plain" href="${pathOf(code)}/state">${text[verb]}</a></p></div>
${changes}
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
  const done = await changing(text, back, 'planLimit', () => admin.plans.begin(input));
  return 'fault' in done ? done.fault : goOn(visit, code, 'saved');
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
  const { text } = visit;
  const count = await followers(visit);
  const { title, action, yes } = ask;
  return confirmation(visit, {
    title,
    explanation: `${ask.what} ${text.followNow(count(code))}`,
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
  const done = await changing(text, back, 'other', () => admin.plans.begin({ code, state, seen }));
  return 'fault' in done ? done.fault : goOn(visit, code, state === 'active' ? 'planActive' : 'planInactive');
}

/** How long one form works at a change: well below the time after which a visitor is told that it takes too long. */
const stepMilliseconds = 8_000;

/** Brings a change to its accounts, for as long as a form may take; then to the page on which it goes on. */
async function goOn(visit: Visit, code: string, note: keyof Text['done']): Promise<PageAnswer> {
  const { admin, text, tools } = visit;
  const until = tools.now() + stepMilliseconds;
  do {
    const step = await changing(text, pathOf(code), 'other', () => admin.plans.follow(code));
    if ('fault' in step) return step.fault;
    if (step.result.done) return { goTo: `${pathOf(code)}?done=${note}` };
  } while (tools.now() < until);
  return { goTo: `${pathOf(code)}/change` };
}

/** How far a change has come, with the button that goes on: the script presses it, or a person does. */
async function changePage(visit: Visit, { code, change }: PlanPage['plans'][number]): Promise<PageAnswer> {
  const { admin, text, format } = visit;
  if (!change) return { goTo: `${pathOf(code)}?done=saved` };
  const { looked, followed, started, actor } = change;
  const counts = Object.values(await admin.plans.counts());
  const all = Math.max(
    looked,
    counts.reduce((sum, count) => sum + count, 0),
  );
  const label = text.lookedAt(format.number(looked), format.number(all));
  const button = html`<div class="actions"><button class="button" data-go-on>${text.goOn}</button><a class="button plain" href="${plansPath}">${text.backToPlans}</a></div>`;
  return {
    title: `${text.plan} ${code}: ${text.unfinished}`,
    body: html`<div class="card" aria-live="polite"><p>${text.changeStarted} ${instantOf(visit, started)} (${actor})</p>
<p><meter min="0" max="${Math.max(all, 1)}" value="${looked}" aria-label="${label}"></meter> ${label}</p>
<p>${text.haveChange(format.number(followed))}</p><p>${text.changeGoesOn}</p>${postForm(visit, `${pathOf(code)}/change`, button)}</div>`,
  };
}
