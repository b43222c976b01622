import { html } from 'hono/html';
import * as z from 'zod/mini';
import {
  type AccountState,
  AdminError,
  type Limits,
  type PlanState,
  type WindowName,
  windowNames,
} from '../../packages/admin/index.ts';
import type { Text } from '../text/en.ts';
import type { Html, Page, Visit } from '../visit/visit.ts';

/** The head of a column; `label` is what a phone shows beside each cell. */
export type Head = string | { number: string } | { label: string; content: Html; isNumber?: true; sorted?: string };

/**
 * A table that scrolls separately from the page, also with the keyboard; on a phone each row of a wide one is a list of
 * its cells.
 */
export function scrollTable(caption: string, head: readonly Head[], rows: readonly Html[][]): Html {
  const columns = head.map((one) => {
    if (typeof one === 'string') return { label: one, content: one };
    return 'number' in one ? { label: one.number, content: one.number, isNumber: true, sorted: undefined } : one;
  });
  const classOf = (i: number) =>
    columns[i] && 'isNumber' in columns[i] && columns[i].isNumber ? html` class="number"` : '';
  const sortOf = (i: number) => {
    const column = columns[i];
    return column && 'sorted' in column && column.sorted ? html` aria-sort="${column.sorted}"` : '';
  };
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table${columns.length > 2 ? html` class="cards"` : ''}>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ content }, i) => html`<th scope="col"${classOf(i)}${sortOf(i)}>${content}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((cell, i) => html`<td${classOf(i)} data-label="${columns[i]?.label}"><div>${cell}</div></td>`)}</tr>`)}</tbody>
</table></div>`;
}

/** A state, readable without its colour. */
export function stateTag(state: AccountState | PlanState | 'revoked' | 'expired', text: Text): Html {
  const kind = state === 'active' ? 'good' : state === 'suspended' || state === 'inactive' ? 'bad' : 'off';
  return html`<span class="tag ${kind}">${text[state]}</span>`;
}

/** An instant for people and machines. */
export function instantOf({ format }: Pick<Visit, 'format'>, iso: string | null): Html {
  return iso === null ? '-' : html`<time datetime="${iso}">${format.instant(iso)}</time>`;
}

/** What has just been done, after the form that did it; only names that the texts have are shown. */
export function doneNote({ c, text }: Pick<Visit, 'c' | 'text'>): Html {
  const name = c.req.query('done') ?? '';
  const sentence = Object.hasOwn(text.done, name) ? text.done[name as keyof Text['done']] : undefined;
  return sentence ? html`<p class="note good" role="status">${sentence}</p>` : '';
}

/** A form that is sent to `action`. */
export function postForm({ formField }: Pick<Visit, 'formField'>, action: string, fields: Html): Html {
  return html`<form method="post" action="${action}">${formField}${fields}</form>`;
}

/** A question before something that can't be undone. */
export function confirmation(
  visit: Visit,
  ask: { title: string; explanation: string; action: string; yes: string; cancel: string; hidden?: Html },
): Page {
  const { text } = visit;
  const fields = html`${ask.hidden ?? ''}<div class="actions"><button class="button danger">${ask.yes}</button><a class="button plain" href="${ask.cancel}">${text.cancel}</a></div>`;
  return {
    title: ask.title,
    body: html`<div class="card"><p>${ask.explanation}</p>${postForm(visit, ask.action, fields)}</div>`,
  };
}

/** A page that says what is wrong and links to where the visitor can continue. */
export function faultPage(
  text: Text,
  fault: { title: string; explanation: string; back: string; status: NonNullable<Page['status']> },
): Page {
  return {
    title: fault.title,
    status: fault.status,
    body: html`<div class="card"><p>${fault.explanation}</p><p><a href="${fault.back}">${text.errors.goBack}</a></p></div>`,
  };
}

/** A page that says what is wrong with the input. */
export function invalidPage(text: Text, back: string, explanation: string): Page {
  return faultPage(text, { title: text.errors.invalid, explanation, back, status: 422 });
}

/** A page that says that something does not exist. */
export function notFoundPage(text: Text, back: string): Page {
  const { notFound: title, notFoundText: explanation } = text.errors;
  return faultPage(text, { title, explanation, back, status: 404 });
}

/**
 * A hidden field with the values that a form shows. A change made after the form was opened is then refused, not
 * overwritten.
 */
export function seenField(seen: object): Html {
  return html`<input type="hidden" name="seen" value="${JSON.stringify(seen)}">`;
}

/** The values in the field that `seenField` writes; `undefined` if the field is missing or malformed. */
export function readSeen<T>({ form }: Visit, schema: z.ZodMiniType<T>): T | undefined {
  try {
    return schema.parse(JSON.parse(form.seen ?? ''));
  } catch {
    return undefined;
  }
}

/** The limits in a hidden field with the values that the form showed. */
export const limitsField = z.partialRecord(z.enum(windowNames), z.nullable(z.number())) as z.ZodMiniType<Limits>;

/**
 * Runs a change of a form; what the admin module refuses becomes a page in the reader's language.
 * @param about what an invalid value was about, if it is known
 * @param pages the pages for codes that mean something of their own here
 */
export async function changing<T>(
  text: Text,
  back: string,
  about: keyof Text['errors'],
  work: () => Promise<T>,
  pages: { [Code in AdminError['code']]?: Page } = {},
): Promise<{ result: T } | { fault: Page }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    return { fault: pages[error.code] ?? refusalPage(text, back, about, error) };
  }
}

function refusalPage(text: Text, back: string, about: keyof Text['errors'], { code, reason }: AdminError): Page {
  const { errors } = text;
  if (reason === 'last_admin') return invalidPage(text, back, errors.lastAdmin);
  if (reason === 'day') return invalidPage(text, back, errors.tooManyToday);
  switch (code) {
    case 'conflict':
      return faultPage(text, { title: errors.conflict, explanation: errors.conflictText, back, status: 409 });
    case 'not_found':
      return notFoundPage(text, back);
    case 'exists':
      return invalidPage(text, back, errors.exists);
    case 'too_many_keys':
      return invalidPage(text, back, errors.tooManyKeys);
    case 'too_many_members':
      return invalidPage(text, back, errors.tooManyMembers);
    default:
      return invalidPage(text, back, errors[about]);
  }
}

/** A field for the limit of each window, with what it is now; `hint` says what an empty one means. */
export function limitFields({ text, form, fault }: Visit, limits: Limits, hint: string): Html {
  const field = (name: WindowName) => {
    const limit = limits[name];
    const now = limit === null ? text.unlimited : String(limit ?? '');
    const id = `limit-${name}`;
    const isWrong = fault?.field === id;
    return html`<div><label for="${id}">${text.limit} ${text.windows[name].toLowerCase()}</label>${isWrong ? html`<p class="fault" id="${id}-fault">${fault.message}</p>` : ''}
<input id="${id}" name="${id}" value="${form[id] ?? now}" autocomplete="off" inputmode="text" aria-describedby="${isWrong ? `${id}-fault ` : ''}limit-hint"${isWrong ? html` aria-invalid="true"` : ''}></div>`;
  };
  return html`<div class="fields">${windowNames.map(field)}</div><p class="hint" id="limit-hint">${hint}</p>`;
}

/** What was entered there, without the empty fields, or the name of a field that is no limit. */
export function readLimits({ form, text }: Visit): { limits: Limits } | { wrong: string } {
  const limits: Partial<Record<WindowName, number | null>> = {};
  for (const name of windowNames) {
    const given = (form[`limit-${name}`] ?? '').toLowerCase();
    const number = readNumber(given);
    if (given === '') continue;
    if ([text.unlimited, 'unlimited'].includes(given)) limits[name] = null;
    else if (number === undefined) return { wrong: `limit-${name}` };
    else limits[name] = number;
  }
  return { limits };
}

/** `Per day: 1,000, Per month: unlimited`. */
export function limitsText({ text, format }: Visit, limits: Limits): string {
  return windowNames
    .flatMap((name) => {
      const limit = limits[name];
      if (limit === undefined) return [];
      return [`${text.windows[name]}: ${limit === null ? text.unlimited : format.number(limit)}`];
    })
    .join(', ');
}

/** A whole number as people write it, with or without marks between the thousands; `undefined` for anything else. */
export function readNumber(text: string): number | undefined {
  if (!/^(\d{1,13}|\d{1,3}([., \u00a0\u202f])\d{3}(\2\d{3}){0,3})$/.test(text)) return undefined;
  return Number(text.replaceAll(/\D/g, ''));
}
