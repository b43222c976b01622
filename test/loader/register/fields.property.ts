import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayOf, dayText } from '../../../loader/bag/voorkomen.ts';
import {
  dayAt,
  dayDigits,
  dayIn,
  fixedText,
  LineFieldError,
  numberText,
  writeDay,
} from '../../../loader/register/fields.ts';

describe('a date in a line', () => {
  it('has the same width and reads back the same, as text and as bytes, whatever the date', () => {
    fc.assert(
      fc.property(fc.nat(99_999_999), fc.nat(3), (day, start) => {
        const text = `${'x'.repeat(start)}${dayDigits(day)}9`;
        const bytes = Buffer.alloc(text.length, 'x');
        bytes.write('9', text.length - 1);
        writeDay(bytes, start, day);
        expect(bytes.toString()).toBe(text);
        expect([dayAt(text, start), dayIn(bytes, start), dayOf(dayText(day))]).toEqual([day, day, day]);
      }),
    );
  });
});

describe('a field of fixed width', () => {
  it.each([
    ['a longer text', () => fixedText('36310', 4)],
    ['a shorter text', () => fixedText('363', 4)],
    ['a larger number', () => numberText(100_000, 5)],
    ['a negative number', () => numberText(-1, 5)],
    ['a fraction', () => numberText(1.5, 5)],
    ['what is no number', () => dayDigits(Number.NaN)],
  ])('refuses %s', (_, write) => {
    expect(write).toThrow(LineFieldError);
  });
});
