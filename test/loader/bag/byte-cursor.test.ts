import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import { ByteCursor, literal } from '../../../loader/bag/byte-cursor.ts';

const cursorOn = (text: string) => new ByteCursor(Buffer.from(text, 'latin1'));

describe('a literal', () => {
  const text = '<Objecten:huisnummer>';

  it('is found at its bytes, at any alignment of the buffer', () => {
    for (let offset = 0; offset < 9; offset++) {
      const cursor = cursorOn(`${'-'.repeat(offset)}${text}1`);
      cursor.position = offset;
      expect(cursor.skip(literal(text))).toBe(true);
      expect(cursor.position).toBe(offset + text.length);
    }
  });

  it('is found at the end of the bytes', () => {
    expect(cursorOn(text).skip(literal(text))).toBe(true);
  });

  it('is not found when any one byte differs, and does not move the cursor', () => {
    for (let i = 0; i < text.length; i++) {
      for (const byte of [0x00, 0x20, 0x7f, 0x80, 0xf0, 0xff]) {
        const bytes = Buffer.from(`${text}1`);
        bytes[i] = byte;
        const cursor = new ByteCursor(bytes);
        expect(cursor.skip(literal(text))).toBe(false);
        expect(cursor.position).toBe(0);
      }
    }
  });

  it('is not found when it does not fit', () => {
    expect(cursorOn(text.slice(0, -1)).skip(literal(text))).toBe(false);
    expect(cursorOn('').skip(literal(text))).toBe(false);
  });
});

describe('a literal with values of a known length', () => {
  const parts = ['<begin-of-it>', 4, '</between>', 1, '</end-of-it>'] as const;
  const pattern = literal(...parts);

  it('is found whatever the values are, which are at its gaps', () => {
    const text = '-<begin-of-it>abcd</between><</end-of-it>-';
    const cursor = cursorOn(text);
    cursor.position = 1;
    expect(cursor.skip(pattern)).toBe(true);
    expect(cursor.position).toBe(text.length - 1);
    expect(pattern.gaps.map((gap) => text[1 + gap])).toEqual(['a', '<']);
  });

  it('is not found when any one byte outside the values differs', () => {
    const text = Buffer.from('<begin-of-it>\0\0\0\0</between>\0</end-of-it>');
    for (const [i, byte] of text.entries()) {
      const changed = Buffer.from(text);
      changed[i] = byte ^ 1;
      expect([i, new ByteCursor(changed).skip(pattern)]).toEqual([i, byte === 0]);
    }
  });
});

describe('four bytes at once', () => {
  const times = '2021-10-15T13:06:12.318';

  it.each<[string, (cursor: ByteCursor) => boolean, string, string]>([
    ['digits', (cursor) => cursor.hasDigits(0, 8), '20211015', '0123456789'],
    ['a date', (cursor) => cursor.hasDateText(0), times.slice(0, 10), '-./0123456789:'],
    ['a time', (cursor) => cursor.hasTimeText(0), times, '-./0123456789:'],
  ])('are %s where every byte is one of its own', (_, has, text, own) => {
    for (let i = 0; i < text.length; i++) {
      for (let byte = 0; byte < 256; byte++) {
        const bytes = Buffer.from(text);
        bytes[i] = byte;
        const isOwn = text[i] === 'T' ? byte === 0x54 : own.includes(String.fromCharCode(byte));
        assert.deepEqual([i, byte, has(new ByteCursor(bytes))], [i, byte, isOwn]);
      }
    }
  });
});

describe('blanks', () => {
  it.each([
    ['', 0],
    [' \t\r\n <', 5],
    ['\u000b<', 0],
    ['\u000c<', 0],
    ['\u00a0<', 0],
    [' x ', 1],
  ])('are the white space of XML: %j', (text, end) => {
    const cursor = cursorOn(text);
    cursor.skipBlank();
    expect(cursor.position).toBe(end);
  });
});

describe('digits', () => {
  it.each<[string, boolean]>([
    ['0459<', true],
    ['045<', false],
    ['04599<', false],
    ['0459', false],
    ['/459<', false],
    ['045:<', false],
    ['', false],
  ])('are as many as are asked for: %j', (text, found) => {
    expect(cursorOn(text).skipDigits(4)).toBe(found);
  });
});

describe('a value that was skipped', () => {
  it('leaves the cursor on the tag after it', () => {
    const skips: [string, (cursor: ByteCursor) => unknown][] = [
      ['2021-10-15', (cursor) => cursor.readDate()],
      ['99999', (cursor) => cursor.readNumber()],
      ['1381AA', (cursor) => cursor.skipPostcode()],
      ['0459', (cursor) => cursor.skipDigits(4)],
      ['a', (cursor) => cursor.skipLetter()],
      ['01Rz', (cursor) => cursor.skipLettersAndDigits(4)],
      ['Z.9837', (cursor) => cursor.skipText()],
      ['a&lt;b&amp;c&gt;', (cursor) => cursor.skipEscapedText()],
    ];
    for (const [text, skip] of skips) {
      const cursor = cursorOn(`<${text}</`);
      cursor.position = 1;
      skip(cursor);
      expect([text, cursor.position]).toEqual([text, 1 + text.length]);
    }
  });
});

describe('a value ends where a tag begins', () => {
  it.each<[string, number]>([
    ['1<', 1],
    ['99999<', 99_999],
    ['100000<', 0],
    ['0<', 0],
    ['01<', 0],
    ['2345678<', 0],
    ['10<', 10],
    ['23456<', 23_456],
    ['/1<', 0],
    [':1<', 0],
    ['<', 0],
    ['12', 0],
    ['12 <', 0],
  ])('number %j', (text, number) => {
    expect(cursorOn(text).readNumber()).toBe(number);
  });

  it.each<[string, number]>([
    ['2021-10-15<', 20_211_015],
    ['0000-00-00<', 0],
    ['9999-99-99<', 99_999_999],
    ['202-010-15<', -1],
    ['2021-1-015<', -1],
    ['2021-10/15<', -1],
    ['2021-10-1<', -1],
    ['2021-10-:5<', -1],
    ['2021-10-15', -1],
    ['2021-10-15Z<', -1],
    ['2021/10/15<', -1],
    ['20211015<', -1],
    ['', -1],
  ])('date %j', (text, number) => {
    expect(cursorOn(text).readDate()).toBe(number);
  });

  it.each<[string, boolean]>([
    ['1381AA<', true],
    ['0381AA<', false],
    ['1381aa<', false],
    ['1381A1<', false],
    ['138AAA<', false],
    ['1381AAA<', false],
    ['9999ZZ<', true],
    ['1000AA<', true],
    ['1381@A<', false],
    ['1381A[<', false],
    ['/381AA<', false],
    ['138:AA<', false],
    ['A381AA<', false],
    ['1381AA', false],
    ['1381A', false],
  ])('postcode %j', (text, found) => {
    expect(cursorOn(text).skipPostcode()).toBe(found);
  });

  it.each<[string, boolean]>([
    ['Z.9837/D.6498<', true],
    ['<', true],
    ['a&amp;b<', false],
    ['a]]>b<', false],
    ['\u00fc<', false],
    ['a\tb<', false],
    ['a', false],
    [' ~<', true],
    ['\u001f<', false],
    ['\u007f<', false],
    ['>', false],
  ])('text %j', (text, found) => {
    expect(cursorOn(text).skipText()).toBe(found);
  });

  it.each<[string, boolean]>([
    ['B&amp;W-1774<', true],
    ['&lt;&gt;&amp;<', true],
    ['plain<', true],
    ['&<', false],
    ['&amp<', false],
    ['&nbsp;<', false],
    ['&#49;<', false],
    ['a&amp;\u00fc<', false],
    ['a&amp;', false],
    ['a&lt;b&gt;c<', true],
    ['&gt<', false],
    ['&lt<', false],
  ])('text with references %j', (text, found) => {
    expect(cursorOn(text).skipEscapedText()).toBe(found);
  });

  it.each<[string, boolean]>([
    ['a<', true],
    ['Z<', true],
    ['@<', false],
    ['[<', false],
    ['`<', false],
    ['1<', false],
    ['ab<', false],
    ['A<', true],
    ['z<', true],
    ['{<', false],
    ['a', false],
    ['', false],
  ])('letter %j', (text, found) => {
    expect(cursorOn(text).skipLetter()).toBe(found);
  });

  it.each<[string, boolean]>([
    ['bis<', true],
    ['01Rz<', true],
    ['01Rzz<', false],
    ['a<', true],
    ['<', false],
    ['a-b<', false],
    ['abc', false],
  ])('letters and digits %j', (text, found) => {
    expect(cursorOn(text).skipLettersAndDigits(4)).toBe(found);
  });
});
