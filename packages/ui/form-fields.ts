import { html } from 'hono/html';
import type { Html } from './table.ts';

/** A field of a form. Typed input takes precedence over `value`, so that a failed form keeps it. */
type Field = {
  name: string;
  label: string;
  hint?: string;
  /** The id of a hint that several fields share, instead of one of its own. */
  hintId?: string;
  value?: string;
  type?: 'text' | 'date' | 'search';
  /** The lowest date. */
  min?: string;
  maxLength?: number;
  required?: boolean;
};

/**
 * The state of a form: the typed values, the fault, and whether they were typed before the value
 * changed.
 */
export type FormRequest = {
  form: Readonly<Record<string, string>>;
  fault?: { field: string; message: string };
  comesBack?: boolean;
  text: { valueNow: (value: string) => string };
};

/** The current value of a field that comes back with another value. */
function valueNow(
  { form, comesBack, text }: FormRequest,
  name: string,
  value: string | undefined,
): Html {
  const isOther =
    comesBack && value !== undefined && form[name] !== undefined && form[name] !== value;
  return isOther ? html`<p class="hint">${text.valueNow(value === '' ? '-' : value)}</p>` : '';
}

/** A label, a hint and an input, with its fault beside it. */
export function field(request: FormRequest, given: Field): Html {
  const {
    name,
    label,
    hint,
    hintId = hint && `${name}-hint`,
    type = 'text',
    min,
    maxLength,
    required,
  } = given;
  const value = request.form[name] ?? given.value ?? '';
  return html`<div class="field"><label for="${name}">${label}</label>${hint ? html`<p class="hint" id="${hintId}">${hint}</p>` : ''}${valueNow(request, name, given.value)}${faultOf(request, name)}
<input id="${name}" name="${name}" type="${type}" value="${value}" autocomplete="off" spellcheck="false"${min ? html` min="${min}"` : ''}${maxLength ? html` maxlength="${maxLength}"` : ''}${required ? html` required` : ''}${describedBy(request, name, hintId)}></div>`;
}

/** A label and a choice; `options` by their values. */
export function choice(
  request: FormRequest,
  given: {
    name: string;
    label: string;
    options: readonly (readonly [value: string, label: string])[];
    value?: string;
  },
): Html {
  const { name, label, options } = given;
  const chosen = request.form[name] ?? given.value;
  const items = options.map(
    ([value, shown]) =>
      html`<option value="${value}"${value === chosen ? html` selected` : ''}>${shown}</option>`,
  );
  return html`<div class="field"><label for="${name}">${label}</label>${valueNow(request, name, given.value)}${faultOf(request, name)}<select id="${name}" name="${name}"${describedBy(request, name)}>${items}</select></div>`;
}

/** A checkbox for each of the `options`, which are given by the names of their fields. */
export function checkboxes(
  request: FormRequest,
  given: { legend: string; options: readonly (readonly [name: string, label: string])[] },
): Html {
  const items = given.options.map(
    ([name, label]) =>
      html`<label><input type="checkbox" name="${name}" value="on"${request.form[name] === undefined ? '' : html` checked`}>${label}</label>`,
  );
  return html`<fieldset class="field checks"><legend>${given.legend}</legend>${items}</fieldset>`;
}

/** A value that goes along with a form. */
export const hidden = (name: string, value: string): Html =>
  html`<input type="hidden" name="${name}" value="${value}">`;

function faultOf({ fault }: Pick<FormRequest, 'fault'>, name: string): Html {
  return fault?.field === name
    ? html`<p class="fault" id="${name}-fault">${fault.message}</p>`
    : '';
}

function describedBy({ fault }: Pick<FormRequest, 'fault'>, name: string, hintId?: string): Html {
  const isWrong = fault?.field === name;
  const ids = [...(isWrong ? [`${name}-fault`] : []), ...(hintId ? [hintId] : [])].join(' ');
  return html`${ids ? html` aria-describedby="${ids}"` : ''}${isWrong ? html` aria-invalid="true"` : ''}`;
}
