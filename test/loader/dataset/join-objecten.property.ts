import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { noEind } from '../../../loader/bag/voorkomen.ts';
import { keylessLines, numOf } from '../../../loader/dataset/adres-objects.ts';
import { joinObjecten } from '../../../loader/dataset/join-objecten.ts';
import { bytesOf, linesOf } from '../../../loader/dataset/stored-form.ts';

const num = fc
  .tuple(fc.constantFrom('0457200000', '9999200000'), fc.nat(12))
  .map(([head, n]) => head + String(n).padStart(6, '0'));
/** Some in another part, some twice, without postcode, and with one key of several. */
const numLine = fc
  .tuple(fc.constantFrom('', '', '~'), fc.constantFrom('#9#', '1381AA#9#', '1381AA#9#A', '1381AB#99999#BIS1'), num)
  .chain(([mark, key, id]) =>
    fc.nat(1).map((volgnummer) => `${mark}${key}\t${id}20100929999999990457300000000035....*${volgnummer}`),
  );
const keyless = fc.tuple(num, fc.nat(3), fc.nat(2)).map(([hoofdadres, n, neven]) => {
  const object = { identificatie: `045701000000000${n}`, type: 'standplaats' as const, status: 'Plaats aangewezen' };
  const nevenadressen = ['0457200000000000', '9999200000000000'].slice(0, neven).filter((id) => id !== hoofdadres);
  const span = { volgnummer: 1, begin: 20_100_929, eind: noEind };
  const one = { kind: 'STA' as const, ...object, hoofdadres, nevenadressen, locatie: { x: 1, y: n }, ...span };
  return keylessLines([one], '2026-01-08').get(hoofdadres)?.[0] as string;
});

it('gives each line every key of its nummeraanduiding once, in order, and only there says that it has none', () => {
  fc.assert(
    fc.property(fc.array(numLine), fc.array(keyless), fc.boolean(), (nums, lines, isOfMissing) => {
      const keysOf = (id: string) =>
        new Set(nums.flatMap((line) => (!line.startsWith('~') && line.includes(`\t${id}`) ? line.split('\t')[0] : [])));
      const expected = lines.flatMap((line) => {
        const keys = keysOf(numOf(line));
        if (keys.size === 0) return isOfMissing ? [`#${numOf(line)}#\t${line}`] : [];
        return Array.from(keys, (key) => `${key}\t${line}`);
      });
      const joined = joinObjecten(bytesOf(nums.toSorted()), bytesOf(lines), isOfMissing);
      expect(linesOf(joined)).toEqual(expected.sort());
    }),
  );
});
