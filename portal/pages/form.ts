import { html } from 'hono/html';
import { AdminError } from '../../packages/admin/index.ts';
import type { Text } from '../text/en.ts';
import type { Html, Page, Visit } from '../visit/visit.ts';
import { faultPage, notFoundPage } from './parts.ts';

/** A field of a form. What somebody typed goes before `value`, so that a form that failed keeps it. */
export type Field = {
  name: string;
  label: string;
  hint?: string;
  value?: string;
  type?: 'text' | 'date' | 'email';
  /** The lowest date. */
  min?: string;
  maxLength?: number;
  required?: boolean;
};

/** A label, a hint and an input, with what is wrong about it beside it. */
export function field(visit: Pick<Visit, 'form' | 'fault'>, given: Field): Html {
  const { name, label, hint, type = 'text', min, maxLength, required = false } = given;
  const value = visit.form[name] ?? given.value ?? '';
  return html`<div class="field"><label for="${name}">${label}</label>${hint ? html`<p class="hint" id="${name}-hint">${hint}</p>` : ''}${faultOf(visit, name)}
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false"${min ? html` min="${min}"` : ''}${maxLength ? html` maxlength="${maxLength}"` : ''}${required ? html` required` : ''}${describedBy(visit, name, hint)}></div>`;
}

/** A label and a choice; `options` by their values. */
export function choice(
  visit: Pick<Visit, 'form' | 'fault'>,
  given: { name: string; label: string; options: readonly (readonly [value: string, label: string])[]; value?: string },
): Html {
  const { name, label, options } = given;
  const chosen = visit.form[name] ?? given.value;
  const items = options.map(
    ([value, shown]) => html`<option value="${value}"${value === chosen ? html` selected` : ''}>${shown}</option>`,
  );
  return html`<div class="field"><label for="${name}">${label}</label>${faultOf(visit, name)}<select id="${name}" name="${name}"${describedBy(visit, name)}>${items}</select></div>`;
}

function faultOf({ fault }: Pick<Visit, 'fault'>, name: string): Html {
  return fault?.field === name ? html`<p class="fault" id="${name}-fault">${fault.message}</p>` : '';
}

function describedBy({ fault }: Pick<Visit, 'fault'>, name: string, hint?: string): Html {
  const isWrong = fault?.field === name;
  const ids = [...(isWrong ? [`${name}-fault`] : []), ...(hint ? [`${name}-hint`] : [])].join(' ');
  return html`${ids ? html` aria-describedby="${ids}"` : ''}${isWrong ? html` aria-invalid="true"` : ''}`;
}

/** The page of a form that failed: as it was sent, with what is wrong above it and beside the field. */
export async function faulty<V extends Visit>(
  visit: V,
  fault: NonNullable<Visit['fault']>,
  show: (visit: V) => Page | Promise<Page>,
): Promise<Page> {
  const { title, body } = await show({ ...visit, fault });
  const { text } = visit;
  return {
    title,
    status: 422,
    body: html`<p class="note bad" role="alert">${text.errors.invalid}: <a href="#${fault.field}">${fault.message}</a></p>${body}`,
  };
}

/** The form that a change comes from: how to show it again, and which field an invalid value is about. */
export type FormOf<V> = {
  show: (visit: V) => Page | Promise<Page>;
  field: string;
  about: keyof Text['errors'];
  back: string;
};

/**
 * Runs a change of a form. What the admin module refuses is shown in the form, in the reader's language; a conflict and
 * what does not exist have pages of their own.
 */
export async function saving<V extends Visit, T>(
  visit: V,
  { show, field, about, back }: FormOf<V>,
  work: () => Promise<T>,
  own: { [Code in AdminError['code']]?: Page | string } = {},
): Promise<{ result: T } | { fault: Page }> {
  try {
    return { result: await work() };
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
    const { errors } = visit.text;
    const given = own[error.code];
    if (given !== undefined && typeof given !== 'string') return { fault: given };
    if (error.code === 'conflict' && given === undefined)
      return {
        fault: faultPage(visit.text, { title: errors.conflict, explanation: errors.conflictText, back, status: 409 }),
      };
    if (error.code === 'not_found' && given === undefined) return { fault: notFoundPage(visit.text, back) };
    const message = given ?? refusalText(visit.text, error, about);
    return { fault: await faulty(visit, { field, message }, show) };
  }
}

/** What a refusal of the admin module means for the reader. */
export function refusalText({ errors }: Text, { code, reason }: AdminError, about: keyof Text['errors']): string {
  if (reason === 'last_admin') return errors.lastAdmin;
  if (reason === 'day') return errors.tooManyToday;
  const known: { [Code in AdminError['code']]?: string } = {
    exists: errors.exists,
    too_many_keys: errors.tooManyKeys,
    too_many_members: errors.tooManyMembers,
  };
  return known[code] ?? errors[about];
}
