import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { dayOf, dayText } from '../../../loader/bag/voorkomen.ts';
import {
  dayDigits,
  dayIn,
  fixedText,
  LineFieldError,
  numberText,
} from '../../../loader/register/layouts.ts';

describe('a date in a line', () => {
  it('has the same width and reads back the same, whatever the date', () => {
    fc.assert(
      fc.property(fc.nat(99_999_999), fc.nat(3), (day, start) => {
        const text = `${'x'.repeat(start)}${dayDigits(day)}9`;
        expect(text).toHaveLength(start + 9);
        expect([dayIn(Buffer.from(text), start), dayOf(dayText(day))]).toEqual([day, day]);
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
