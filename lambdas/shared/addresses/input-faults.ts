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
const range = /^(\d{1,5})[\s\-–/,;&+]+(\d{1,5})$/;

/**
 * What is wrong with an invalid huisnummer. `further` are the other parts of the address that were sent, in order: they
 * follow the text after the number.
 */
export function adviseHuisnummer(value: string, further: readonly string[] = []): Advice {
  const trimmed = value.trim();
  const [, first = '', rest] = numberAndRest.exec(trimmed) ?? [];
  if (rest && isHuisnummer(first)) {
    const toevoeging = joined([rest, ...further]);
    const detail =
      toevoeging === null
        ? `huisnummer has more than a number: send huisnummer=${Number(first)}, and what follows it in toevoeging.`
        : `huisnummer has more than a number: send huisnummer=${Number(first)} and toevoeging=${toevoeging}.`;
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
  const plain = joined([value]);
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

/**
 * The parts of a toevoeging joined into the value to send, without separators, and each part once; `null` if that is
 * not a valid toevoeging.
 */
export function joined(parts: readonly string[]): string | null {
  const plain = parts.map(withoutSeparators).filter((part) => part !== '');
  const distinct = plain.filter((part, i) => plain.findIndex((other) => sameLetters(other, part)) === i);
  const toevoeging = distinct.join('');
  return toevoeging !== '' && z.safeParse(toevoegingParameter, toevoeging).success ? toevoeging : null;
}

/** Whether a huisnummer is valid as it is. */
export function isHuisnummer(text: string): boolean {
  return z.safeParse(huisnummerParameter, text).success;
}

function isPostcode(text: string): boolean {
  return z.safeParse(postcodeParameter, text).success;
}

function sameLetters(a: string, b: string): boolean {
  return a.toUpperCase() === b.toUpperCase();
}

/** Without white space and the marks that people put into postcodes and toevoegingen; other characters may mean something. */
function withoutSeparators(text: string): string {
  return text.replaceAll(/[\s\-–—_/\\.,:;'"()]/g, '');
}
