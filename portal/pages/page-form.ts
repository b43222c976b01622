import { html } from 'hono/html';
import * as z from 'zod/mini';
import {
  AdminError,
  type Limits,
  maxLimit,
  type WindowName,
  windowNames,
} from '../../packages/admin/index.ts';
import { field, hidden } from '../../packages/ui/form-fields.ts';
import { definitionList, type Html } from '../../packages/ui/table.ts';
import { OtherPage, type Page } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import type { Text } from '../text/en.ts';
import { conflictPage, invalidPage, notFoundPage } from './page-parts.ts';

/**
 * The button that sends a form; the script presses it if it `goesOn`. `cancel` is the target of a
 * link beside it. The script sends a form `inPlace`: the field `keeps` stays as it was typed, and
 * `failed` is said if nothing answers.
 */
type Submit = {
  label: string;
  isDanger?: boolean;
  goesOn?: boolean;
  cancel?: string;
  inPlace?: { keeps: string; failed: string };
};

export function postForm(
  { formField, text }: PortalRequest,
  action: string,
  fields: Html,
  submit: Submit,
): Html {
  const { label, isDanger, goesOn, cancel, inPlace } = submit;
  const leave = cancel ? html`<a class="button plain" href="${cancel}">${text.act.cancel}</a>` : '';
  const place = inPlace ? html` data-keeps="${inPlace.keeps}" data-failed="${inPlace.failed}"` : '';
  return html`<form method="post" action="${action}"${place}>${formField}${fields}<div class="actions"><button class="button${isDanger ? ' danger' : ''}"${goesOn ? html` data-go-on` : ''}>${label}</button>${leave}</div></form>`;
}

/** A question before something with consequences; `isDanger` unless it takes nothing away. */
export function confirmation(
  request: PortalRequest,
  ask: {
    title: string;
    explanation: string;
    action: string;
    yes: string;
    cancel: string;
    fields?: Html;
    isDanger?: boolean;
    /** The facts that a person needs to decide. */
    about?: Parameters<typeof definitionList>[0];
  },
): Page {
  const { title, explanation, action, yes, cancel, fields = '', isDanger = true, about = [] } = ask;
  const form = postForm(request, action, fields, { label: yes, isDanger, cancel });
  return {
    title,
    body: html`<div class="card">${about.length > 0 ? definitionList(about) : ''}<p>${explanation}</p>${form}</div>`,
  };
}

type Show<V> = (request: V) => Page | Promise<Page>;

/** A page with the form that was sent, under what is wrong. */
const again = ({ title, body }: Page, status: Page['status'], wrong: Html): Page => {
  return { title, status, body: html`<div class="note bad" role="alert">${wrong}</div>${body}` };
};

/** The page of a form that failed: as it was sent, with the fault above it and beside the field. */
export async function faulty<V extends PortalRequest>(
  request: V,
  fault: NonNullable<PortalRequest['fault']>,
  show: Show<V>,
): Promise<Page> {
  const link = html`${request.text.errors.invalid}: <a href="#${fault.field}">${fault.message}</a>`;
  return again(await show({ ...request, fault }), 422, link);
}

/**
 * The page of a form whose subject somebody else has changed: as it was sent, beside the current
 * values.
 */
async function changedForm<V extends PortalRequest>(
  request: V,
  back: string,
  show: Show<V>,
): Promise<Page> {
  const { errors, showCurrent } = request.text;
  const link = html`<p>${errors.conflict}. ${errors.changedText}</p><p><a href="${back}">${showCurrent}</a></p>`;
  return again(await show({ ...request, comesBack: true }), 409, link);
}

/** The name of a sentence about a fault. */
type ErrorText = Exclude<keyof Text['errors'], 'firstMonth'>;

/** The context of a refusal, and the page where the visitor can continue. */
type FormChange<V> = {
  back: string;
  /** The sentence about an invalid value. */
  about: ErrorText;
  /** The form that the change came from, and which of its fields an invalid value is in. */
  form?: { show: Show<V>; field: string };
  /** Answers for specific codes: a page, or a sentence. */
  own?: { [Code in AdminError['code']]?: Page | string };
};

/**
 * Runs a change of a form. It shows the admin module's refusals in the form or on a page of their
 * own, in the reader's language. A conflict or a missing item always has a page.
 * @throws OtherPage
 */
export async function attempt<V extends PortalRequest, T>(
  request: V,
  of: FormChange<V>,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof AdminError) throw new OtherPage(await refusalPage(request, of, error));
    throw error;
  }
}

async function refusalPage<V extends PortalRequest>(
  request: V,
  { back, about, form, own = {} }: FormChange<V>,
  error: AdminError,
): Promise<Page> {
  const { text } = request;
  const given = own[error.code];
  if (given !== undefined && typeof given !== 'string') return given;
  if (error.code === 'conflict' && given === undefined) {
    return form ? changedForm(request, back, form.show) : conflictPage(text, back);
  }
  if (error.code === 'not_found' && given === undefined) return notFoundPage(text, back);
  const message = given ?? refusalText(request, error, about);
  return form
    ? faulty(request, { field: form.field, message }, form.show)
    : invalidPage(text, back, message);
}

function refusalText(
  { text: { errors }, format }: PortalRequest,
  error: AdminError,
  about: ErrorText,
): string {
  const { code, reason, firstMonth } = error;
  if (firstMonth !== undefined) return errors.firstMonth(format.month(firstMonth));
  if (reason === 'last_admin') return errors.lastAdmin;
  if (reason === 'day') return errors.tooManyToday;
  const known: { [Code in AdminError['code']]?: string } = {
    exists: errors.exists,
    too_many_keys: errors.tooManyKeys,
    too_many_members: errors.tooManyMembers,
  };
  return known[code] ?? errors[about];
}

/**
 * A hidden field with the values that a form shows. A change made after the form was opened is then
 * refused, not overwritten.
 */
export const seenField = (seen: object): Html => hidden('seen', JSON.stringify(seen));

/**
 * The values in the field that `seenField` writes. @throws OtherPage if the field is missing or
 * malformed
 */
export function readSeen<T>(
  { form, text }: PortalRequest,
  schema: z.ZodMiniType<T>,
  back: string,
): T {
  try {
    return schema.parse(JSON.parse(form.seen ?? ''));
  } catch {
    throw new OtherPage(invalidPage(text, back, text.errors.other));
  }
}

/** The limits in a hidden field with the values that the form showed. */
export const limitsField = z.partialRecord(
  z.enum(windowNames),
  z.nullable(z.number()),
) as z.ZodMiniType<Limits>;

/**
 * A field for the limit of each window; `hint` explains an empty field, `about` the current state
 * of a window.
 */
export function limitFields(
  request: PortalRequest,
  limits: Limits,
  hint: string,
  about: (name: WindowName) => string | undefined = () => undefined,
): Html {
  const { text } = request;
  const fields = windowNames.map((name) => {
    const limit = limits[name];
    const value = limit === null ? text.quota.unlimited : String(limit ?? '');
    const label = `${text.quota.limit} ${text.windows[name].toLowerCase()}`;
    const own = about(name);
    return field(request, {
      name: `limit-${name}`,
      label,
      value,
      ...(own ? { hint: own } : { hintId: 'limit-hint' }),
    });
  });
  return html`<div class="fields">${fields}</div><p class="hint" id="limit-hint">${hint}</p>`;
}

/** The limits entered there, without the empty fields, or the name of an invalid field. */
export function readLimits(request: PortalRequest): { limits: Limits } | { wrong: string } {
  const limits: Partial<Record<WindowName, number | null>> = {};
  for (const name of windowNames) {
    const given = request.form[`limit-${name}`] ?? '';
    if (given === '') continue;
    const limit = readLimit(request, given);
    if (limit === undefined) return { wrong: `limit-${name}` };
    limits[name] = limit;
  }
  return { limits };
}

/** A limit as somebody types it: `null` if unlimited, `undefined` if it is none. */
export function readLimit({ text }: PortalRequest, given: string): number | null | undefined {
  const isUnlimited = [text.quota.unlimited, 'unlimited'].includes(given.toLowerCase());
  if (isUnlimited) return null;
  const number = readNumber(given);
  return number !== undefined && number <= maxLimit ? number : undefined;
}

/**
 * A whole number as people write it, with or without marks between the thousands; `undefined` for
 * anything else.
 */
function readNumber(text: string): number | undefined {
  if (!/^(\d{1,13}|\d{1,3}([., \u00a0\u202f])\d{3}(\2\d{3}){0,3})$/.test(text)) return undefined;
  return Number(text.replaceAll(/\D/g, ''));
}
