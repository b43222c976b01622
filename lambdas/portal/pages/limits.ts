import { html } from 'hono/html';
import { type Limits, type WindowName, windowNames } from '../../shared/accounts/quota.ts';
import type { Html, Visit } from '../visit/visit.ts';

/** A field for the limit of each window, with what it is now; `hint` says what an empty one means. */
export function limitFields({ text }: Visit, limits: Limits, hint: string): Html {
  const field = (name: WindowName) => {
    const limit = limits[name];
    const value = limit === null ? text.unlimited : (limit ?? '');
    return html`<div><label for="limit-${name}">${text.limit} ${text.windows[name].toLowerCase()}</label>
<input id="limit-${name}" name="limit-${name}" value="${value}" autocomplete="off" inputmode="text" aria-describedby="limit-hint"></div>`;
  };
  return html`<div class="fields">${windowNames.map(field)}</div><p class="hint" id="limit-hint">${hint}</p>`;
}

/** What was entered there, without the empty fields; `undefined` if one of them is no limit. */
export function readLimits({ form, text }: Visit): Limits | undefined {
  const limits: Partial<Record<WindowName, number | null>> = {};
  for (const name of windowNames) {
    const given = (form[`limit-${name}`] ?? '').toLowerCase();
    if (given === '') continue;
    if ([text.unlimited, 'unlimited'].includes(given)) limits[name] = null;
    else if (/^\d{1,13}$/.test(given)) limits[name] = Number(given);
    else return undefined;
  }
  return limits;
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

/** The content of a hidden field with JSON; `undefined` for anything else. */
export function parsedField(json = ''): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
