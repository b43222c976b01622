import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import { ByteCursor, date, digits, literal, postcode, type ValueRange } from '../../../loader/bag/byte-cursor.ts';

const cursorOn = (text: string) => new ByteCursor(Buffer.from(text));

describe('a literal', () => {
  const text = '<Objecten:huisnummer>';
  const markup = literal(text);

  it('is found at its bytes, at any alignment of the buffer', () => {
    for (let offset = 0; offset < 9; offset++) {
      const cursor = cursorOn(`${'-'.repeat(offset)}${text}1`);
      cursor.position = offset;
      expect(cursor.skip(markup)).toBe(true);
      expect(cursor.position).toBe(offset + text.length);
    }
  });

  it('is found at the end of the bytes', () => {
    expect(cursorOn(text).skip(markup)).toBe(true);
  });

  it('is not found when any one byte differs, and does not move the cursor', () => {
    for (let i = 0; i < text.length; i++) {
      for (const byte of [0x00, 0x20, 0x7f, 0x80, 0xf0, 0xff]) {
        const bytes = Buffer.from(`${text}1`);
        bytes[i] = byte;
        const cursor = new ByteCursor(bytes);
        expect(cursor.skip(markup)).toBe(false);
        expect(cursor.position).toBe(0);
      }
    }
  });

  it('is not found when it does not fit', () => {
    expect(cursorOn(text.slice(0, -1)).skip(markup)).toBe(false);
    expect(cursorOn('').skip(markup)).toBe(false);
  });
});

describe('a literal with values of a known length', () => {
  const any = (count: number): ValueRange => ['\0'.repeat(count), '\u00ff'.repeat(count)];
  const pattern = literal('<begin-of-it>', any(4), '</between>', any(1), '</end-of-it>');

  it('is found whatever the values are, which are at its gaps', () => {
    const text = '-<begin-of-it>abcd</between><</end-of-it>-';
    const cursor = cursorOn(text);
    cursor.position = 1;
    expect(cursor.skip(pattern)).toBe(true);
    expect(cursor.position).toBe(text.length - 1);
    cursor.position = 1;
    expect(cursor.skipTo(pattern)).toBe(text.indexOf('abcd'));
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

describe('a value in a literal', () => {
  const [begin, end] = ['<begin-of-it>', '</end-of-it>'];

  it.each<[string, ValueRange, string]>([
    ['digits', digits(8), '20211015'],
    ['a date', date, '2021-10-15'],
    ['a postcode', postcode, '1381AA'],
    ['any other text', ['-T-', ':T:'], '1T3'],
  ])('is %s where every byte is in its range', (_, range, text) => {
    const pattern = literal(begin, range, end);
    expect(cursorOn(begin + text + end).skipTo(pattern)).toBe(begin.length);
    const [lowest, highest] = range.map((bound) => Buffer.from(bound)) as [Buffer, Buffer];
    for (let i = 0; i < text.length; i++) {
      for (let byte = 0; byte < 256; byte++) {
        const bytes = Buffer.from(begin + text + end);
        bytes[begin.length + i] = byte;
        const isIn = byte >= (lowest[i] as number) && byte <= (highest[i] as number);
        assert.deepEqual([i, byte, new ByteCursor(bytes).skip(pattern)], [i, byte, isIn]);
      }
    }
  });
});

describe('a cursor', () => {
  const text = '<begin>1234</begin><end>';
  const [head, tail] = [literal('<begin>', digits(4), '</begin>'), literal('<begin><')];
  const step = 1_021;
  const file = Buffer.from(Array.from({ length: 400 }, () => text.padEnd(step)).join(''));

  it('finds the same at any position of a long file', () => {
    const cursor = new ByteCursor(file);
    for (const order of [1, -1, 7]) {
      for (let i = 0; i < 400; i++) {
        const at = ((((i * order) % 400) + 400) % 400) * step;
        cursor.seek(at);
        expect([at, cursor.skip(tail), cursor.skip(head), cursor.filePosition]).toEqual([at, false, true, at + 19]);
      }
    }
  });

  it('finds nothing beyond the end of a file, whatever was read before', () => {
    for (let length = 0; length < 19; length++) {
      new ByteCursor(file).seek(128 * 1024);
      const cursor = new ByteCursor(file.subarray(0, length));
      expect(cursor.skip(head)).toBe(false);
    }
    for (const length of [128 * 1024 - 1, 128 * 1024, 128 * 1024 + 1]) {
      const cursor = new ByteCursor(Buffer.alloc(length, 'x'));
      cursor.seek(length - 1);
      expect([cursor.skipText(), cursor.filePosition]).toEqual([false, length]);
      cursor.seek(length);
      expect([cursor.skipText(), cursor.filePosition]).toEqual([false, length]);
    }
  });

  it('reads its own file after another cursor has read', () => {
    const [one, other] = [new ByteCursor(file), cursorOn(`-${text}`)];
    one.seek(0);
    expect(one.skip(head)).toBe(true);
    other.seek(1);
    expect(other.skip(head)).toBe(true);
    one.seek(step);
    expect(one.skip(head)).toBe(true);
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

describe('a value that was skipped', () => {
  it('leaves the cursor on the tag after it', () => {
    const skips: [string, (cursor: ByteCursor) => unknown][] = [
      ['99999', (cursor) => cursor.readNumber()],
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

/** Whether `skip` accepts each of these texts up to the tag after it, and does not where the file ends instead. */
function expectSkips(skip: (cursor: ByteCursor) => boolean, accepted: RegExp, texts: readonly string[]): void {
  const wrong = texts.filter((text) => skip(cursorOn(`${text}<`)) !== accepted.test(text) || skip(cursorOn(text)));
  expect(wrong).toEqual([]);
}

describe('a value ends where a tag begins', () => {
  const characters = Array.from({ length: 0x300 }, (_, code) => String.fromCodePoint(code)).filter(
    (one) => one !== '<',
  );
  const texts = [
    '',
    ...characters,
    ...characters.flatMap((one) => [`a${one}`, `${one}b`, `a${one}bc`, `\u00fc${one}b`]),
  ];

  it.each<[string, number]>([
    ['1<', 1],
    ['99999<', 99_999],
    ['100000<', 0],
    ['0<', 0],
    ['01<', 0],
    ['2345678<', 0],
    ['10<', 10],
    ['/1<', 0],
    [':1<', 0],
    ['<', 0],
    ['12', 0],
    ['12 <', 0],
  ])('number %j', (text, number) => {
    expect(cursorOn(text).readNumber()).toBe(number);
  });

  it.each<[string, number]>([
    ['2021-10-15', 20_211_015],
    ['0000-00-00', 0],
    ['9999-99-99', 99_999_999],
  ])('date %j', (text, number) => {
    const cursor = cursorOn(`<begin-of-it>${text}</end-of-it>`);
    expect(cursor.dateAt(cursor.skipTo(literal('<begin-of-it>', date, '</end-of-it>')))).toBe(number);
  });

  it('text of printable ASCII but for markup, and of the letters with an accent that have one code', () => {
    expectSkips((cursor) => cursor.skipText(), /^[ -%'-;=?-~\u00c0-\u00ff]*$/, texts);
  });

  it('the same text with the three references that are common', () => {
    const references = ['&amp;', '&lt;', '&gt;', 'B&amp;W-1774', '&lt;&gt;&amp;', 'a&amp;\u00fc&amp;', 'a&lt;b&gt;c'];
    const others = ['&', '&amp', '&nbsp;', '&#49;', 'a&amp;\u0100', '&gt', '&lt'];
    const accepted = /^([ -%'-;=?-~\u00c0-\u00ff]|&amp;|&lt;|&gt;)*$/;
    expectSkips((cursor) => cursor.skipEscapedText(), accepted, [...texts, ...references, ...others]);
  });

  it('a letter, and one to four letters and digits', () => {
    expectSkips((cursor) => cursor.skipLetter(), /^[A-Za-z]$/, texts);
    const more = ['bis', '01Rz', '01Rzz', 'a-b'];
    expectSkips((cursor) => cursor.skipLettersAndDigits(4), /^[0-9A-Za-z]{1,4}$/, [...texts, ...more]);
  });
});

// The last one, as it leaves no memory for others.
