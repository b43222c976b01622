import fc from 'fast-check';

const surrogates = { from: 0xd800, count: 0x800 };

/**
 * Any character, as the unit of a text. It is what `unit: 'binary'` of fast-check is, which takes a
 * second to fill a map of all million characters, 130 MB that its process then keeps.
 */
export const anyCharacter = fc
  .nat({ max: 0x10_ffff - surrogates.count })
  .map((index) => String.fromCodePoint(index < surrogates.from ? index : index + surrogates.count));
