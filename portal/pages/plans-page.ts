import { html } from 'hono/html';
import * as z from 'zod/mini';
import { type Admin, allPages, type Plan, type PlanPage } from '../../packages/admin/index.ts';
import { field, hidden } from '../../packages/ui/form-fields.ts';
import { definitionList, type Html, numbers, scrollTable } from '../../packages/ui/table.ts';
import { type Page, type PageAnswer, serviceRoutes } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import type { Text } from '../text/en.ts';
import { changesPart } from './history-page.ts';
import {
  attempt,
  confirmation,
  faulty,
  limitFields,
  limitsField,
  postForm,
  readLimits,
  readSeen,
  seenField,
} from './page-form.ts';
import { doneNote, instantOf, limitsText, notFoundPage, stateTag } from './page-parts.ts';

/**
 * Plans as operators see, make and change them. A change reaches every account on the plan, so it
 * is confirmed.
 */
export const planPages = serviceRoutes({
  'GET /operator/plans': ['operator.view', plansPage],
  'POST /operator/plans': ['plan.change', create],
  'GET /operator/plans/:plan': ['operator.view', withPlan(planPage)],
  'POST /operator/plans/:plan': ['plan.change', withPlan(change)],
  'GET /operator/plans/:plan/state': ['plan.change', withPlan(stateQuestion)],
  'POST /operator/plans/:plan/state': ['plan.change', withPlan(changeState)],
  'GET /operator/plans/:plan/change': ['plan.change', withPlan(changePage)],
  'POST /operator/plans/:plan/change': [
    'plan.change',
    withPlan((request, { code }) => goOn(request, code, 'saved')),
  ],
});

const plansPath = '/operator/plans';
const pathOf = (code: string) => `${plansPath}/${code}`;

export const allPlans = (admin: Admin) => allPages(admin.plans.list, ({ plans }) => plans);

async function plansPage(request: PortalRequest): Promise<Page> {
  const { admin, text, format } = request;
  const [plans, counts] = await Promise.all([allPlans(admin), admin.plans.counts()]);
  const rows = plans.map(({ code, state, limits, change }): Html[] => [
    html`<a href="${pathOf(code)}">${code}</a>${change ? html` <a class="tag warn" href="${pathOf(code)}/change">${text.unfinished}</a>` : ''}`,
    stateTag(state, text),
    limitsText(request, limits),
    format.number(counts[code] ?? 0),
  ]);
  const head = [
    text.about.plan,
    text.about.state,
    text.about.limits,
    numbers(text.operatorTabs.accounts),
  ];
  const fields = html`${field(request, { name: 'code', label: text.planCode, hint: text.planCodeHint, maxLength: 32, required: true })}
${limitFields(request, {}, text.planLimitHint)}`;
  return {
    title: text.operatorTabs.plans,
    body: html`${doneNote(request)}<div class="card">${rows.length > 0 ? scrollTable(text.operatorTabs.plans, head, rows) : html`<p>${text.noPlans}</p>`}</div>
<div class="card"><h2>${text.createPlan}</h2>${postForm(request, plansPath, fields, { label: text.createPlan })}</div>`,
  };
}

async function followers({ admin }: PortalRequest, code: string): Promise<number> {
  return (await admin.plans.counts())[code] ?? 0;
}

/** Sent twice, the second is refused: a plan of that code exists. */
async function create(request: PortalRequest): Promise<PageAnswer> {
  const { admin, form, text } = request;
  const { code = '' } = form;
  const read = readPlanLimits(request);
  if ('wrong' in read) {
    return faulty(request, { field: read.wrong, message: text.errors.planLimit }, plansPage);
  }
  const own = { conflict: text.errors.planExists };
  const of = {
    back: plansPath,
    about: 'planCode',
    form: { show: plansPage, field: 'code' },
    own,
  } as const;
  await attempt(request, of, () => admin.plans.put({ code, limits: read.limits, seen: null }));
  return { goTo: `${pathOf(code)}?done=plan` };
}

/**
 * The limits of a plan, or the field that is wrong: the first one if all are empty, since a plan
 * has a limit.
 */
function readPlanLimits(request: PortalRequest): ReturnType<typeof readLimits> {
  const read = readLimits(request);
  return 'limits' in read && Object.keys(read.limits).length === 0
    ? { wrong: 'limit-minute' }
    : read;
}

/** A page about the plan that its path names. */
function withPlan<Answer extends PageAnswer>(
  show: (request: PortalRequest, plan: PlanPage['plans'][number]) => Promise<Answer>,
) {
  return async (request: PortalRequest): Promise<Answer | Page> => {
    const { admin, params, text } = request;
    const code = params.plan ?? '';
    const none = notFoundPage(text, plansPath, text.noSuchPlan(code));
    const of = { back: plansPath, about: 'planCode', own: { invalid: none } } as const;
    const [plan] = (await attempt(request, of, () => admin.plans.list({ prefix: code, limit: 1 })))
      .plans;
    return plan?.code === code ? show(request, plan) : none;
  };
}

const seenSchema = z.object({ limits: limitsField, state: z.enum(['active', 'inactive']) });

const verbOf = ({ state }: Pick<Plan, 'state'>) =>
  state === 'active' ? 'deactivatePlan' : 'activatePlan';

async function planPage(request: PortalRequest, plan: PlanPage['plans'][number]): Promise<Page> {
  const { admin, text, format } = request;
  const { code, state, limits } = plan;
  const [count, changes] = await Promise.all([
    followers(request, code),
    changesPart(request, (page) => admin.plans.audit(code, page)),
  ]);
  const verb = verbOf(plan);
  const about = [
    [text.about.state, stateTag(state, text)],
    [text.operatorTabs.accounts, format.number(count)],
    [text.about.limits, limitsText(request, limits)],
  ] as const;
  const fields = html`${seenField({ limits, state })}${limitFields(request, limits, text.planLimitHint)}`;
  return {
    title: `${text.about.plan} ${code}`,
    body: html`${doneNote(request)}${plan.change ? html`<p class="note">${text.unfinishedText} <a href="${pathOf(code)}/change">${text.unfinishedLook}</a></p>` : ''}<div class="card">${definitionList(about)}</div>
<div class="card"><h2>${text.changeLimits}</h2><p>${text.changeLimitsText}</p>${postForm(request, pathOf(code), fields, { label: text.act.goOn })}</div>
<div class="card"><h2>${text[verb]}</h2><p>${text[`${verb}Text`]}</p><p><a class="button plain" href="${pathOf(code)}/state">${text[verb]}</a></p></div>
${changes}
<p><a href="${plansPath}">${text.backTo.plans}</a></p>`,
  };
}

/**
 * Asks first, saying how many accounts follow; the form that it then shows sends the same limits,
 * confirmed.
 */
async function change(request: PortalRequest, plan: Plan): Promise<PageAnswer> {
  const { form, text } = request;
  const { code } = plan;
  const back = pathOf(code);
  const seen = readSeen(request, seenSchema, back);
  const read = readPlanLimits(request);
  if ('wrong' in read) {
    return faulty(request, { field: read.wrong, message: text.errors.planLimit }, (again) =>
      planPage(again, plan),
    );
  }
  const { limits } = read;
  if (form.confirmed !== 'yes') {
    const sent = Object.entries(limits).map(([name, limit]) =>
      hidden(`limit-${name}`, String(limit ?? 'unlimited')),
    );
    return question(request, plan, {
      title: text.changeLimitsOf(code),
      what: `${limitsText(request, seen.limits)} → ${limitsText(request, limits)}.`,
      yes: text.changeLimitsYes,
      isDanger: false,
      fields: html`${seenField(seen)}${sent}${hidden('confirmed', 'yes')}`,
    });
  }
  await begin(request, { code, limits, state: seen.state, seen });
  return goOn(request, code, 'saved');
}

async function stateQuestion(request: PortalRequest, plan: Plan): Promise<PageAnswer> {
  const { text } = request;
  const verb = verbOf(plan);
  return question(request, plan, {
    title: `${text[verb]}: ${plan.code}`,
    what: text[`${verb}Text`],
    yes: text[`${verb}Yes`],
    isDanger: verb === 'deactivatePlan',
    fields: seenField({ limits: plan.limits, state: plan.state }),
  });
}

/** A question before a change that every account on the plan follows. */
async function question(
  request: PortalRequest,
  { code }: Plan,
  { what, ...ask }: { title: string; what: string; yes: string; fields: Html; isDanger?: boolean },
): Promise<Page> {
  const explanation = `${what} ${request.text.followNow(request.format.count(await followers(request, code), 'account'))}`;
  return confirmation(request, { ...ask, explanation, action: request.path, cancel: pathOf(code) });
}

async function changeState(request: PortalRequest, { code }: Plan): Promise<PageAnswer> {
  const seen = readSeen(request, seenSchema, pathOf(code));
  const state = seen.state === 'active' ? 'inactive' : 'active';
  await begin(request, { code, state, seen });
  return goOn(request, code, state === 'active' ? 'planActive' : 'planInactive');
}

function begin(request: PortalRequest, input: Parameters<Admin['plans']['begin']>[0]) {
  const of = { back: pathOf(input.code), about: input.limits ? 'planLimit' : 'other' } as const;
  const form = { show: withPlan(planPage), field: 'limit-minute' };
  return attempt(request, input.limits ? { ...of, form } : of, () =>
    request.admin.plans.begin(input),
  );
}

/** How long one form works at a change: well below the time limit of a page. */
const stepMilliseconds = 8_000;

/**
 * Brings a change to its accounts, for as long as a form may take, then leads to the page that
 * continues it.
 */
async function goOn(
  request: PortalRequest,
  code: string,
  note: keyof Text['done'],
): Promise<PageAnswer> {
  const { admin, tools } = request;
  const until = tools.now() + stepMilliseconds;
  do {
    const { done } = await attempt(request, { back: pathOf(code), about: 'other' }, () =>
      admin.plans.follow(code),
    );
    if (done) return { goTo: `${pathOf(code)}?done=${note}` };
  } while (tools.now() < until);
  return { goTo: `${pathOf(code)}/change` };
}

/**
 * How far a change has come, with the button that goes on: the script presses it, or a person does.
 */
async function changePage(
  request: PortalRequest,
  { code, change }: PlanPage['plans'][number],
): Promise<PageAnswer> {
  const { admin, text, format } = request;
  if (!change) return { goTo: `${pathOf(code)}?done=saved` };
  const { looked, followed, started, actor } = change;
  const counts = Object.values(await admin.plans.counts());
  const counted = counts.reduce((sum, count) => sum + count, 0);
  const all = Math.max(looked, counted);
  const label = text.lookedAt(format.number(looked), format.count(all, 'account'));
  const form = postForm(request, request.path, '', { label: text.act.goOn, goesOn: true });
  return {
    title: `${text.about.plan} ${code}: ${text.unfinished}`,
    body: html`<div class="card" aria-live="polite"><p>${text.changeStarted} ${instantOf(request, started)} (${actor})</p>
<p><meter min="0" max="${Math.max(all, 1)}" value="${looked}" aria-label="${label}"></meter> ${label}</p>
<p>${text.haveChange(format.count(followed, 'account'))}</p><p>${text.changeGoesOn}</p>${form}</div>
<p><a href="${plansPath}">${text.backTo.plans}</a></p>`,
  };
}
