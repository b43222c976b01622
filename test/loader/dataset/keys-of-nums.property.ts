import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeysOfNums } from '../../../loader/dataset/keys-of-nums.ts';

const id = fc
  .tuple(fc.constantFrom('0457200000', '9999200000'), fc.nat(30))
  .map(([head, n]) => head + String(n).padStart(6, '0'));
const key = fc.constantFrom('1381AA#9#A', '1381AA#9#', '#9#', '9999ZZ#99999#ABIS1');

it('finds each key of a nummeraanduiding once, and none of another', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(id, key), { maxLength: 60 }), id, (pairs, wanted) => {
      const keys = new KeysOfNums(Buffer.from(pairs.map((pair) => pair.join('')).join('\n')));
      const [found, view] = [[] as string[], new DataView(Uint8Array.from(Buffer.from(`..${wanted}`)).buffer)];
      const count = keys.each(view, 2, (bytes, start, end) =>
        found.push(Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString()),
      );
      const expected = new Set(pairs.filter(([num]) => num === wanted).map(([, one]) => one));
      expect(found.sort()).toEqual([...expected].sort());
      expect(count).toBe(expected.size);
    }),
  );
});
