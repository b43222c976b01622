import { html, raw } from 'hono/html';
import {
  type AccountState,
  dutchTime,
  type Limits,
  type PlanState,
  type Role,
  type WindowName,
  windowNames,
} from '../../packages/admin/index.ts';
import { escaped, sample } from '../../packages/ui/samples.ts';
import type { Html } from '../../packages/ui/table.ts';
import { may, type Page } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import { warnShare } from '../request/shared.ts';
import type { Text } from '../text/en.ts';

/** Text that can be copied, in the same form as in the reference. */
export function codeBlock(caption: string, text: string, id = ''): Html {
  return raw(sample(escaped(caption), escaped(text), { id }));
}

/**
 * The part of an account that a member begins at: who may not see the overview begins at the usage.
 */
export const homeOf = (role: Role): string => (may(role, 'account.view') ? '' : '/usage');

/** Accounts to choose from, each with the page that it leads to. */
export function accountList<Membership extends { account: string; role: Role }>(
  accounts: readonly Membership[],
  pathOf: (membership: Membership) => string,
): Html {
  const items = accounts.map(
    (membership) => html`<li><a href="${pathOf(membership)}">${membership.account}</a></li>`,
  );
  return html`<div class="card"><ul>${items}</ul></div>`;
}

/** A state, readable without its colour. */
export function stateTag(
  state: AccountState | PlanState | 'revoked' | 'expired',
  text: Text,
): Html {
  const kind =
    state === 'active' ? 'good' : state === 'suspended' || state === 'inactive' ? 'bad' : 'off';
  return html`<span class="tag ${kind}">${text.states[state]}</span>`;
}

/** How much of a limit is used; all of 0. */
const usedShare = ({ used, limit }: { used: number; limit: number }) =>
  limit === 0 ? 1 : used / limit;

/**
 * A bar of how much of a limit is used, with its state in colour and, from the share that warns on,
 * in words.
 */
export function quotaBar(
  { text, format }: PortalRequest,
  name: WindowName,
  { used, limit }: { used: number; limit: number },
) {
  const share = usedShare({ used, limit });
  const label = `${text.windows[name]}: ${text.usedShare(format.number(used), format.number(limit))}`;
  const percent = Math.min(100, share * 100);
  const state = share >= 1 ? 'bad' : share >= warnShare ? 'warn' : 'good';
  const bar = html`<svg class="bar ${state}" role="meter" aria-label="${label}" aria-valuemin="0" aria-valuemax="100" aria-valuenow="${Math.floor(percent)}"><rect width="${percent.toFixed(1)}%" height="100%" rx="3"></rect></svg>`;
  if (state === 'good') return bar;
  const words =
    state === 'bad'
      ? text.limitState.limitReached
      : text.nearLimit(format.share(Math.floor(share * 100) / 100));
  return html`${bar}<span class="tag ${state}">${words}</span>`;
}

/** An instant for people and machines. */
export function instantOf({ format }: Pick<PortalRequest, 'format'>, iso: string | null): Html {
  return iso === null ? '-' : html`<time datetime="${iso}">${format.instant(iso)}</time>`;
}

/** Until when a key works: for a whole last day, as people say it, or until an instant. */
export function untilOf(
  { text, format }: Pick<PortalRequest, 'text' | 'format'>,
  iso: string,
): Html {
  const lastDay = dutchTime.dateEndingAt(iso);
  if (lastDay !== undefined) return `${text.keyWorks.through} ${format.day(lastDay)}`;
  return html`${text.keyWorks.until} ${instantOf({ format }, iso)}`;
}

/** `1,000`, or `unlimited` */
export const limitText = ({ text, format }: PortalRequest, limit: number | null): string =>
  limit === null ? text.quota.unlimited : format.number(limit);

/** `1,000 per day, unlimited per month` */
export function limitsText(request: PortalRequest, limits: Limits): string {
  const shown = windowNames.flatMap((name) => {
    const limit = limits[name];
    return limit === undefined
      ? []
      : [`${limitText(request, limit)} ${request.text.windows[name].toLowerCase()}`];
  });
  return shown.join(', ');
}

/** Confirms the action of the form just sent; shows only names that the texts contain. */
export function doneNote({ query, text }: PortalRequest): Html {
  const name = query.done ?? '';
  const sentence = Object.hasOwn(text.done, name)
    ? text.done[name as keyof Text['done']]
    : undefined;
  return sentence ? html`<p class="note good" role="status">${sentence}</p>` : '';
}

/** A page that explains a fault and links to the page where the visitor can continue. */
export function faultPage(
  text: Text,
  fault: {
    title: string;
    explanation: string;
    back: string;
    status: NonNullable<Page['status']>;
    onward?: string;
  },
): Page {
  const { title, explanation, back, status, onward = text.errors.goBack } = fault;
  const link = html`<a href="${back}">${onward}</a>`;
  return { title, status, body: html`<div class="card"><p>${explanation}</p><p>${link}</p></div>` };
}

export function invalidPage(text: Text, back: string, explanation: string): Page {
  return faultPage(text, { title: text.errors.invalid, explanation, back, status: 422 });
}

/** A page that says that something does not exist, or what. */
export function notFoundPage(text: Text, back: string, what?: string): Page {
  const { notFound, notFoundText } = text.errors;
  return faultPage(text, { title: what ?? notFound, explanation: notFoundText, back, status: 404 });
}

export function conflictPage(text: Text, back: string): Page {
  const { conflict: title, conflictText: explanation } = text.errors;
  return faultPage(text, { title, explanation, back, status: 409, onward: text.showCurrent });
}
