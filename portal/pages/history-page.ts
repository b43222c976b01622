import { html } from 'hono/html';
import {
  AdminError,
  type AuditEntry,
  type AuditPage,
  type AuditPageOptions,
  isPerson,
  type KeyView,
  type Role,
  roles,
} from '../../packages/admin/index.ts';
import { pager } from '../../packages/ui/list.ts';
import { type Html, scrollTable } from '../../packages/ui/table.ts';
import type { Page } from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import { attempt } from './page-form.ts';
import { instantOf, limitsText, untilOf } from './page-parts.ts';

/**
 * Who made a change. A customer reads the names of people who sign in for the account; an operator,
 * or a shell login of the command line, is the supplier.
 */
export function actorName({ person, text, tools }: PortalRequest, actor: string): string {
  const isOwn =
    isPerson(actor) &&
    /^sub:|\.[^@.]+$/.test(actor) &&
    !tools.settings.signIn.operators.includes(actor);
  return person.operator || isOwn ? actor : text.supplier;
}

const changesShown = 50;

/** The part of a page with who changed what, as operators read it, the newest first. */
export async function changesPart(
  request: PortalRequest,
  read: (page: AuditPageOptions) => Promise<AuditPage>,
): Promise<Html> {
  const after = request.query.changes;
  const readAfter = (cursor?: string) => read({ limit: 20, ...(cursor && { cursor }) });
  const { entries, cursor } = await readAfter(after).catch((error: unknown) => {
    // A cursor that no link has.
    if (after && error instanceof AdminError) return readAfter();
    throw error;
  });
  if (entries.length === 0) return '';
  const table = historyTable(request, entries, ({ detail }) => describe(request, detail));
  return html`<div class="card" id="changes">${table}${pager(request, { name: 'changes', cursor, at: '#changes' })}</div>`;
}

/** The changes of an account: keys by their names, and no word of how they are stored. */
export async function changesPage(request: AccountRequest): Promise<Page> {
  const { admin, account, query, person, text } = request;
  const page = { limit: changesShown, ...(query.after && { cursor: query.after }) };
  const [{ entries, cursor }, keys] = await attempt(
    request,
    { back: request.path, about: 'other' },
    () => Promise.all([admin.accounts.audit(account, page), admin.keys.list(account)]),
  );
  const told = entries.filter(({ action }) => person.operator || action in text.auditActions);
  return {
    title: text.tabs.changes,
    body: html`<div class="card">${historyTable(request, told, (entry) => tell(request, entry, keys))}${pager(request, { name: 'after', cursor })}</div>`,
  };
}

function historyTable(
  request: PortalRequest,
  entries: readonly AuditEntry[],
  detailOf: (entry: AuditEntry) => Html,
): Html {
  const { text } = request;
  if (entries.length === 0) return html`<p>${text.noChanges}</p>`;
  const actions: Readonly<Record<string, string>> = text.auditActions;
  const rows = entries.map((entry): Html[] => [
    instantOf(request, entry.time),
    actorName(request, entry.actor),
    html`${actions[entry.action] ?? entry.action}${entry.outcome === 'unknown' ? html` <span class="muted">(${text.unknownOutcome})</span>` : ''}`,
    detailOf(entry),
  ]);
  const { time, actor, change, detail } = text.history;
  return scrollTable(text.tabs.changes, [time, actor, change, detail], rows);
}

/**
 * The detail of a change in the reader's words; of a change that has no words yet, operators read
 * the names.
 */
function tell(request: PortalRequest, { detail }: AuditEntry, keys: readonly KeyView[]): Html {
  const { text } = request;
  const keyName = (id: unknown) => {
    const label = keys.find(({ keyId }) => keyId === id)?.label;
    return html`${label ? `${label} ` : ''}<code>${String(id)}</code>`;
  };
  const {
    keyId,
    replaces,
    ends,
    expires,
    person,
    role,
    plan,
    limits,
    name,
    contact,
    note,
    ...rest
  } = detail;
  const parts: Html[] = [];
  if (keyId !== undefined) parts.push(keyName(keyId));
  if (replaces !== undefined) parts.push(html`${text.replaces} ${keyName(replaces)}`);
  if (typeof ends === 'string') {
    parts.push(html`${text.keyWorks.oldUntil} ${instantOf(request, ends)}`);
  }
  if (typeof expires === 'string') parts.push(untilOf(request, expires));
  if (person !== undefined) parts.push(String(person));
  if (isRole(role)) parts.push(text.roles[role]);
  if (plan !== undefined) parts.push(`${text.about.plan} ${plan}`);
  if (isRecord(limits)) parts.push(ownLimitsText(request, limits));
  // Customers don't read what operators note about them.
  const details = request.person.operator ? { name, contact, note } : { name };
  for (const [field, change] of Object.entries(details)) {
    if (!isRecord(change)) continue;
    const [before, after] = [change.before, change.after].map((text) =>
      typeof text === 'string' ? text : null,
    );
    parts.push(
      text.fromTo(text.detailNames[field as keyof typeof details], before ?? null, after ?? null),
    );
  }
  if (request.person.operator) parts.push(describe(request, rest));
  return html`${parts.filter((part) => part !== '').map((part, i) => html`${i > 0 ? ', ' : ''}${part}`)}`;
}

/** Own limits as they were set; `plan` took one away. */
function ownLimitsText(request: PortalRequest, limits: Record<string, unknown>): string {
  const given = Object.entries(limits).filter(([, limit]) => limit !== 'plan');
  return limitsText(request, Object.fromEntries(given) as Parameters<typeof limitsText>[1]);
}

/**
 * Describes a change in the reader's words: limits, a state, the previous values, and names with
 * their values.
 */
function describe(request: PortalRequest, detail: Record<string, unknown>): string {
  const { text } = request;
  const words: Readonly<Record<string, string>> = text.detailWords;
  const states: Readonly<Record<string, string>> = text.states;
  // A state comes first, the previous values last.
  const place = ([name, value]: [string, unknown]) =>
    name === 'state' ? 0 : isRecord(value) && name !== 'limits' ? 2 : 1;
  return Object.entries(detail)
    .toSorted((a, b) => place(a) - place(b))
    .map(([name, value]) => {
      if (name === 'limits' && isRecord(value)) return ownLimitsText(request, value);
      if (isRecord(value)) return `(${words[name] ?? name}: ${describe(request, value)})`;
      if (name === 'state') return states[String(value)] ?? String(value);
      return `${words[name] ?? name} ${value === null ? '-' : String(value)}`;
    })
    .filter((part) => part !== '')
    .join(', ')
    .replaceAll(', (', ' (');
}

const isRole = (value: unknown): value is Role => roles.some((role) => role === value);

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}
