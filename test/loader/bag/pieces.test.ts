import { describe, expect, it } from '@jest/globals';
import { piecesOf } from '../../../loader/bag/read-stands.ts';
import { heldFile } from '../../../loader/zip/zip-entry.ts';

/** Each piece as text; the window that it lies in is used again. */
function piecesIn(text: string, most?: number): string[] {
  return Array.from(piecesOf(heldFile(Buffer.from(text), most), '</a>'), String);
}

describe('the pieces of a file', () => {
  const text = `<x>\u00e9${'<a>\u2019s</a> \u00e9'.repeat(40_000)}</x>`;

  it.each([undefined, 1_000, 65_536, 131_073])(
    'are together the file, and end with the end, where %p bytes come at a time',
    (most) => {
      const pieces = piecesIn(text, most);
      expect(pieces.join('')).toBe(text);
      expect(pieces.slice(0, -1).every((piece) => piece.endsWith('</a>'))).toBe(true);
      expect(pieces.length).toBeGreaterThan(2);
    },
  );

  it('hold what is larger than the window', () => {
    const large = `<a>${'x'.repeat(1_000_000)}</a>`;
    expect(piecesIn(`<a></a>${large}<a></a>`, 100_000).join('')).toBe(`<a></a>${large}<a></a>`);
    expect(piecesIn('y'.repeat(1_000_000))).toEqual(['y'.repeat(1_000_000)]);
  });

  it('of nothing are one of nothing', () => {
    expect(piecesIn('')).toEqual(['']);
  });
});
