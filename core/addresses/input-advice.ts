import { readHuisnummer, readPostcode, readToevoeging } from '../address-form.ts';
import type { FaultCode } from '../contract.ts';
import { includeNames } from '../place-fields.ts';

/** What is wrong with a value, and what to send instead where its meaning is not clear: two halves of a sentence. */
export type Advice = { code: FaultCode; wrong: string; instead: string };

const forms = {
  postcode: 'four digits, the first not 0, and two letters, such as 1012JS',
  huisnummer: 'one to five digits, from 1 to 99999',
  toevoeging: 'at most five letters and digits, such as A, 2 or bis',
} as const;

/** What is wrong with a value that is absent, empty or only spaces. */
export function adviseMissing(name: 'postcode' | 'huisnummer'): Advice {
  return { code: 'missing', wrong: `${name} is required`, instead: `send ${forms[name]}` };
}

/** What is wrong with a name that was sent twice. */
export function adviseTwice(name: string): Advice {
  return { code: 'duplicate', wrong: `${name} was sent more than once`, instead: 'send it once' };
}

/** What is wrong with the names of an invalid `include`: one of each kind of fault. */
export function adviseInclude(names: readonly string[]): Advice[] {
  const instead = `send ${includeNames.join(', ')} or both, separated by a comma`;
  const known = names.filter((name) => (includeNames as readonly string[]).includes(name));
  const empty = names.filter((name) => name === '');
  const found: Advice[] = [];
  if (empty.length > 0 || names.length === 0) {
    found.push({ code: 'include-empty', wrong: 'include has an empty name', instead });
  }
  if (known.length + empty.length < names.length) {
    found.push({ code: 'include-unknown', wrong: 'include has an unknown name', instead });
  }
  if (new Set(known).size < known.length) {
    found.push({ code: 'include-repeated', wrong: 'include has a name more than once', instead });
  }
  return found;
}

/** What is wrong with an invalid postcode. */
export function advisePostcode(value: string): Advice {
  const text = value.replaceAll(' ', '');
  const instead = `send ${forms.postcode}`;
  if (/[^0-9A-Za-z]/.test(text)) {
    return { code: 'postcode-character', wrong: 'postcode has characters other than letters and digits', instead };
  }
  if (/^0/.test(text)) return { code: 'postcode-leading-zero', wrong: "postcode can't begin with 0", instead };
  if (/^[1-9]\d{0,3}$|^[1-9]\d{3}[A-Za-z]$/.test(text)) {
    return { code: 'postcode-incomplete', wrong: 'postcode is incomplete', instead };
  }
  if (isPostcode(text.slice(0, 6))) {
    return { code: 'postcode-too-long', wrong: 'postcode has more than four digits and two letters', instead };
  }
  return { code: 'postcode-form', wrong: 'postcode has another form', instead };
}

/** The postcode that a value stands for, in its normal form; `undefined` where that is not clear. */
export function postcodeIn(value: string): string | undefined {
  const plain = withoutSeparators(plainText(value)).slice(0, 6);
  return isPostcode(plain) ? plain.toUpperCase() : undefined;
}

/** Digits, then any separator, then the rest. */
const numberAndRest = /^(\d{1,5})(?:[\s\-–/.,]*)([A-Za-z][0-9A-Za-z\s\-–/.]*)$/;
const range = /^(\d{1,5})(?:[\s\-–/,;&+]+|\s*(?:t\/?m|tot|en)\s*)(\d{1,5})$/i;
const signed = /^[+\-–−](\d+)$/;
const decimal = /^(\d{1,5})[.,]0*$/;

/**
 * The number that a huisnummer stands for, and what follows it: a part of the toevoeging, `A` in `12 A`. `undefined`
 * where that is not clear.
 */
export function numberIn(value: string): { huisnummer: string; rest: string } | undefined {
  const text = plainText(value).trim();
  const parts = range.test(text) ? null : numberAndRest.exec(text);
  const [, unsigned] = signed.exec(text) ?? [];
  const [, whole] = decimal.exec(text) ?? [];
  const number = (parts?.[1] ?? unsigned ?? whole ?? text).replace(/^0+(?=\d)/, '');
  return isHuisnummer(number) ? { huisnummer: number, rest: parts?.[2] ?? '' } : undefined;
}

/** What is wrong with an invalid huisnummer. */
export function adviseHuisnummer(value: string): Advice {
  const text = plainText(value).trim();
  const instead = `send ${forms.huisnummer}`;
  const number = numberIn(value);
  if (number?.rest) {
    return {
      code: 'huisnummer-with-toevoeging',
      wrong: 'huisnummer has more than a number',
      instead: `send huisnummer=${number.huisnummer}, and what follows it in toevoeging`,
    };
  }
  const [, from = '', to = ''] = range.exec(text) ?? [];
  if (isHuisnummer(from) && isHuisnummer(to)) {
    return {
      code: 'huisnummer-range',
      wrong: 'huisnummer has two numbers',
      instead:
        `send one, huisnummer=${Number(from)} or huisnummer=${Number(to)}; ` +
        `if the second is a toevoeging, huisnummer=${Number(from)} and toevoeging=${to}`,
    };
  }
  const trimmed = value.trim();
  if (trimmed !== value && isHuisnummer(trimmed)) {
    return { code: 'huisnummer-space', wrong: `huisnummer has ${whiteSpaceIn(value)}`, instead };
  }
  if (signed.test(text)) return { code: 'huisnummer-sign', wrong: 'huisnummer has a sign', instead };
  if (decimal.test(text) && number) {
    return { code: 'huisnummer-decimal', wrong: 'huisnummer is a whole number', instead };
  }
  if (/^0+$/.test(trimmed)) return { code: 'huisnummer-zero', wrong: 'huisnummer must be at least 1', instead };
  if (/^\d{6,}$/.test(trimmed)) {
    return {
      code: 'huisnummer-too-long',
      wrong: 'huisnummer has more than five digits',
      instead: 'send one from 1 to 99999',
    };
  }
  return { code: 'huisnummer-form', wrong: 'huisnummer has other characters than digits', instead };
}

/** What is wrong with an invalid toevoeging. */
export function adviseToevoeging(value: string): Advice {
  const instead = `send ${forms.toevoeging}`;
  if (/^[0-9A-Za-z ]*$/.test(value)) {
    const wrong = 'toevoeging is longer than the register has, which abbreviates';
    return { code: 'toevoeging-too-long', wrong, instead };
  }
  const isHyphen = /^[0-9A-Za-z \-–]*$/.test(value);
  const wrong = isHyphen ? 'toevoeging has a hyphen' : 'toevoeging has characters other than letters and digits';
  return { code: 'toevoeging-character', wrong, instead };
}

/** A toevoeging as the value to send, without what people write between its parts; `undefined` if that is invalid. */
export function toevoegingIn(text: string): string | undefined {
  const value = withoutSeparators(plainText(text));
  return readToevoeging(value) === null ? undefined : value;
}

/** Two parts of a toevoeging in their order; the first is left out where the second begins with it. */
export function withBefore(first: string, second: string): string {
  return comparable(second).startsWith(comparable(first)) ? second : first + second;
}

/** Two parts of a toevoeging in their order; the second is left out where the first ends with it. */
export function withAfter(first: string, second: string): string {
  return comparable(first).endsWith(comparable(second)) ? first : first + second;
}

function isHuisnummer(text: string): boolean {
  return readHuisnummer(text) !== null;
}

function isPostcode(text: string): boolean {
  return readPostcode(text) !== null;
}

/** For texts that are equal but for letter case and separators. */
export function comparable(part: string): string {
  return withoutSeparators(plainText(part)).toUpperCase();
}

/**
 * The text with full-width and mathematical characters and ligatures as ASCII, and with each invisible character as a
 * space. No other character has one meaning: `12²` may be number 12 with an addition.
 */
function plainText(text: string): string {
  return text
    .replaceAll(/[\uff01-\uff5e\ufb00-\ufb06\u0132\u0133\u{1d400}-\u{1d7ff}]/gu, (character) =>
      character.normalize('NFKC'),
    )
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
}

/**
 * Without white space and the marks that people put into postcodes and toevoegingen; other characters may mean
 * something.
 */
function withoutSeparators(text: string): string {
  return text.replaceAll(/[\s\-–—_/\\.,:;'"()]/g, '');
}

function whiteSpaceIn(text: string): string {
  if (/[\n\r\u2028\u2029]/.test(text)) return 'a line break';
  if (text.includes('\t')) return 'a tab';
  return /[^\S ]/.test(text) ? 'a no-break or other special space' : 'a space';
}
