import { describe, expect, it } from '@jest/globals';
import { ByteCursor, literal, RepeatingText } from '../../../loader/bag/byte-cursor.ts';

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

describe('a repeating text', () => {
  it('is the text at its position, whatever came before', () => {
    const cursor = cursorOn('1381AA1381AA1381AB1381AA1482AA');
    const texts = new RepeatingText(6);
    const read = [0, 6, 12, 18, 18, 24].map((start) => texts.text(cursor, start));
    expect(read).toEqual(['1381AA', '1381AA', '1381AB', '1381AA', '1381AA', '1482AA']);
  });
});

describe('a value ends where a tag begins', () => {
  it.each<[string, number]>([
    ['1<', 1],
    ['99999<', 99_999],
    ['100000<', 0],
    ['0<', 0],
    ['01<', 0],
    ['<', 0],
    ['12', 0],
    ['12 <', 0],
  ])('number %j', (text, number) => {
    expect(cursorOn(text).readNumber()).toBe(number);
  });

  it.each<[string, number]>([
    ['2021-10-15<', 20_211_015],
    ['0000-00-00<', 0],
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
    ['', false],
  ])('letter %j', (text, found) => {
    expect(cursorOn(text).skipLetter()).toBe(found);
  });

  it.each<[string, boolean]>([
    ['bis<', true],
    ['01Rz<', true],
    ['01Rzz<', false],
    ['<', false],
    ['a-b<', false],
    ['abc', false],
  ])('letters and digits %j', (text, found) => {
    expect(cursorOn(text).skipLettersAndDigits(4)).toBe(found);
  });
});
