import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { sortedLines } from '../../../loader/dataset/sort-lines.ts';
import { bytesOf, linesOf } from '../../../loader/dataset/stored-form.ts';

/**
 * Many that begin alike, up to any of their first bytes; the tab sorts before a letter and the tilde after it. Some are
 * without a postcode, or of an object that is elsewhere.
 */
const line = fc
  .tuple(
    fc.string({ unit: fc.constantFrom('\t', '#', '1', '9', 'A', 'z', '~'), maxLength: 12 }),
    fc.nat(12),
    fc.constantFrom('138', '138', '138', '#', '~138', '~#'),
  )
  .map(([text, alike, first]) => `${first}${'1AA#12#A\t045'.slice(0, alike)}${text}`.padEnd(9, '0'));

it('sorts lines by their bytes', () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 200 }), fc.constantFrom('138', '000'), (lines, part) => {
      expect(linesOf(sortedLines(bytesOf(lines), part))).toEqual(lines.toSorted());
    }),
  );
});
