import * as z from 'zod/mini';
import { type FaultCode, huisnummerParameter, postcodeParameter, toevoegingParameter } from '../contract.ts';

/** What kind of fault a value has, and a sentence that says what to send instead. */
export type Advice = { code: FaultCode; detail: string };

const forms = {
  postcode: 'four digits, the first not 0, and two letters, such as 1012JS',
  huisnummer: 'one to five digits, from 1 to 99999',
  toevoeging: 'at most five letters and digits, such as A, 2 or bis',
} as const;

/** What is wrong with a parameter that is absent, empty or only spaces. */
export function adviseMissing(parameter: 'postcode' | 'huisnummer', sentAs?: string): Advice {
  const hint = sentAs === undefined ? '' : ` It was sent as ${sentAs}, which is not a parameter.`;
  return { code: 'missing', detail: `${parameter} is required: send ${forms[parameter]}.${hint}` };
}

/** What is wrong with an invalid postcode. */
export function advisePostcode(value: string): Advice {
  const text = value.replaceAll(' ', '');
  const plain = withoutSeparators(text.normalize('NFKC'));
  if (plain !== text && isPostcode(plain)) {
    const detail = `postcode has characters other than letters and digits: send postcode=${plain.toUpperCase()}.`;
    return { code: 'postcode-character', detail };
  }
  if (/[^0-9A-Za-z]/.test(text)) return { code: 'postcode-character', detail: `postcode must be ${forms.postcode}.` };
  if (/^0/.test(text))
    return { code: 'postcode-leading-zero', detail: `postcode can't begin with 0: send ${forms.postcode}.` };
  if (/^[1-9]\d{0,3}$|^[1-9]\d{3}[A-Za-z]$/.test(text)) {
    return { code: 'postcode-incomplete', detail: `postcode is incomplete: send ${forms.postcode}.` };
  }
  if (isPostcode(text.slice(0, 6))) {
    return {
      code: 'postcode-too-long',
      detail: 'postcode has more than four digits and two letters: send those alone.',
    };
  }
  return { code: 'postcode-form', detail: `postcode must be ${forms.postcode}.` };
}

/** Digits, then any separator, then the rest. */
const numberAndRest = /^(\d{1,5})(?:[\s\-–/.,]*)([A-Za-z][0-9A-Za-z\s\-–/.]*)$/;
const range = /^(\d{1,5})(?:[\s\-–/,;&+]+|\s*(?:t\/?m|tot|en)\s*)(\d{1,5})$/i;

/** What follows the number in an invalid huisnummer, such as `A` in `12 A`: a part of the toevoeging. */
export function additionIn(value: string): string {
  const trimmed = value.trim();
  const [, first = '', rest = ''] = numberAndRest.exec(trimmed) ?? [];
  return isHuisnummer(first) && !range.test(trimmed) ? rest : '';
}

/**
 * What is wrong with an invalid huisnummer. `sent` is the toevoeging that was sent, under any name: it follows the text after
 * the number. `null`: it is not clear.
 */
export function adviseHuisnummer(value: string, sent: string | null = ''): Advice {
  const trimmed = value.trim();
  const rest = additionIn(value);
  if (rest) {
    const first = Number.parseInt(trimmed, 10);
    const toevoeging = sent === null ? null : toevoegingOf(withBefore(rest, sent));
    const detail =
      toevoeging === null
        ? `huisnummer has more than a number: send huisnummer=${first}, and what follows it in toevoeging.`
        : `huisnummer has more than a number: send huisnummer=${first} and toevoeging=${toevoeging}.`;
    return { code: 'huisnummer-with-toevoeging', detail };
  }
  const [, from = '', to = ''] = range.exec(trimmed) ?? [];
  if (isHuisnummer(from) && isHuisnummer(to)) {
    const detail =
      `huisnummer has two numbers: send one, huisnummer=${Number(from)} or huisnummer=${Number(to)}; ` +
      `if the second is a toevoeging, huisnummer=${Number(from)} and toevoeging=${to}.`;
    return { code: 'huisnummer-range', detail };
  }
  if (trimmed !== value && isHuisnummer(trimmed)) {
    return { code: 'huisnummer-space', detail: `huisnummer has a space: send huisnummer=${Number(trimmed)}.` };
  }
  const [, sign, unsigned = ''] = /^([+\-–−])(\d+)$/.exec(trimmed) ?? [];
  if (sign) {
    const detail = isHuisnummer(unsigned)
      ? `huisnummer has a sign: send huisnummer=${Number(unsigned)}.`
      : `huisnummer has a sign: send ${forms.huisnummer}.`;
    return { code: 'huisnummer-sign', detail };
  }
  const [, whole = ''] = /^(\d{1,5})[.,]0*$/.exec(trimmed) ?? [];
  if (isHuisnummer(whole)) {
    return { code: 'huisnummer-decimal', detail: `huisnummer is a whole number: send huisnummer=${Number(whole)}.` };
  }
  if (/^0+$/.test(trimmed)) return { code: 'huisnummer-zero', detail: 'huisnummer must be at least 1.' };
  if (/^\d{6,}$/.test(trimmed)) {
    const shorter = trimmed.replace(/^0+/, '');
    const detail = isHuisnummer(shorter)
      ? `huisnummer has more than five digits: send huisnummer=${shorter}.`
      : 'huisnummer has more than five digits: the greatest is 99999.';
    return { code: 'huisnummer-too-long', detail };
  }
  return { code: 'huisnummer-form', detail: `huisnummer must be ${forms.huisnummer}.` };
}

/** What is wrong with an invalid toevoeging. */
export function adviseToevoeging(value: string): Advice {
  const plain = toevoegingOf(value);
  if (/^[0-9A-Za-z ]*$/.test(value)) {
    return {
      code: 'toevoeging-too-long',
      detail: `toevoeging must be ${forms.toevoeging}: the register abbreviates longer ones.`,
    };
  }
  const what = /^[0-9A-Za-z \-–]*$/.test(value) ? 'a hyphen' : 'characters other than letters and digits';
  const detail =
    plain === null
      ? `toevoeging has ${what}: send ${forms.toevoeging}.`
      : `toevoeging has ${what}: send toevoeging=${plain}.`;
  return { code: 'toevoeging-character', detail };
}

/** A toevoeging as the value to send, without what people write between its parts; `null` where that is not valid. */
export function toevoegingOf(text: string): string | null {
  const plain = withoutSeparators(text);
  return plain !== '' && z.safeParse(toevoegingParameter, plain).success ? plain : null;
}

/** Two parts of a toevoeging in their order; the first is left out where the second begins with it. */
export function withBefore(first: string, second: string): string {
  return comparable(second).startsWith(comparable(first)) ? second : first + second;
}

/** Two parts of a toevoeging in their order; the second is left out where the first ends with it. */
export function withAfter(first: string, second: string): string {
  return comparable(first).endsWith(comparable(second)) ? first : first + second;
}

/** Whether a huisnummer is valid as it is. */
export function isHuisnummer(text: string): boolean {
  return z.safeParse(huisnummerParameter, text).success;
}

function isPostcode(text: string): boolean {
  return z.safeParse(postcodeParameter, text).success;
}

function comparable(part: string): string {
  return withoutSeparators(part).toUpperCase();
}

/** Without white space and the marks that people put into postcodes and toevoegingen; other characters may mean something. */
function withoutSeparators(text: string): string {
  return text.replaceAll(/[\s\-–—_/\\.,:;'"()]/g, '');
}
