import assert from 'node:assert/strict';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { BlockedLines, BlockFile, BlockFileWriter } from '../../../loader/dataset/block-file.ts';
import { UnknownFormError } from '../../../loader/dataset/stored-form.ts';
import { isFullSweep } from '../../support/sweep.ts';

const postcodes = ['1380AA', '1381AA', '1381AB', '1389ZZ'];
const textOf = (key: string) => `${key}\t\tEen straat met een lange naam\tWeesp\t0457\t0457200000201234`;
const keyOf = (postcode: string, huisnummer: number, toevoeging: string) => `${postcode}#${huisnummer}#${toevoeging}`;
const groupOf = (line: string) => line.slice(0, line.lastIndexOf('#') + 1);

/** Some 400 KB, of which one huisnummer has more than a block. */
const many: string[] = postcodes.flatMap((postcode) => [
  ...Array.from({ length: 1_200 }, (_, i) => textOf(keyOf(postcode, i + 1, i % 3 === 0 ? 'A' : ''))),
  ...(postcode === '1381AB' ? Array.from({ length: 1_500 }, (_, i) => textOf(keyOf(postcode, 77, `X${i}`))) : []),
]);
many.sort();
const filed = stored(BlockedLines.ofLines(many));

function stored(lines: BlockedLines): BlockedLines {
  const writer = new BlockFileWriter<string>('form');
  writer.add('138', lines, 'about');
  return new BlockFile<string>(Buffer.concat(writer.pack()), 'form').lines('138');
}

const line = fc
  .tuple(fc.constantFrom(...postcodes, '1300AA', '1399XX', '~1381AA'), fc.integer({ min: 1, max: 1_300 }))
  .chain(([postcode, number]) => fc.constantFrom('', 'A', 'B').map((toevoeging) => keyOf(postcode, number, toevoeging)))
  .map(textOf);
const edit = fc.record({
  remove: fc.array(
    fc.oneof(
      line,
      fc.integer({ min: 0, max: many.length - 1 }).map((i) => many[i] as string),
    ),
  ),
  add: fc.array(line),
});

describe('lines in blocks', () => {
  it('are the same lines after an edit as one long list', () => {
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 3 }), (edits) => {
        let [blocked, lines] = [filed, many];
        for (const { remove, add } of edits) {
          lines = [...lines.filter((one) => !remove.includes(one)), ...add].sort();
          blocked = stored(blocked.edited({ remove, add }));
          assert.deepEqual(blocked.lines(), lines);
        }
        for (const group of new Set(edits.flatMap(({ remove, add }) => [...remove, ...add]).map(groupOf))) {
          assert.deepEqual(
            blocked.linesOf(group),
            lines.filter((one) => one.startsWith(group)),
          );
        }
      }),
      { numRuns: isFullSweep ? 60 : 8 },
    );
  });

  it('keep the stored bytes of every block, but of one of which an edit changes many lines', () => {
    expect(filed.blocks.length).toBeGreaterThan(4);
    const added = textOf('1381AA#9#B');
    const after = filed.edited({ remove: [textOf('1381AA#7#A')], add: [added] });
    expect(after.blocks.map(({ stored }) => stored?.packed)).toEqual(filed.blocks.map(({ stored }) => stored?.packed));
    expect(after.blocks.filter((block) => !filed.blocks.includes(block))).toHaveLength(1);
    expect(after.linesOf('1381AA#9#')).toEqual([textOf('1381AA#9#'), added]);
    const undone = stored(after).edited({ remove: [added], add: [textOf('1381AA#7#A')] });
    expect(stored(undone).lines()).toEqual(many);
    const lines = Array.from({ length: 40 }, (_, i) => textOf(keyOf('1381AA', 9, `C${i}`)));
    const afterMany = stored(after).edited({ remove: [], add: lines });
    expect(afterMany.blocks.filter(({ stored: held }) => !held)).toHaveLength(1);
    expect(afterMany.linesOf('1381AA#9#')).toHaveLength(42);
  });

  it('are found by what an edit added, though it is not in the index', () => {
    const added = textOf('1381AA#9#B');
    const after = stored(filed.edited({ remove: [textOf('1381AA#7#A')], add: [added] }));
    const textsWith = (line: string) =>
      Array.from(
        after.textsBy(
          () => false,
          (one) => one === line,
        ),
        String,
      );
    expect(textsWith(added)).toEqual([expect.stringContaining(added)]);
    expect(textsWith(textOf('1381AA#7#A'))).toEqual([]);
  });

  it('have those of one postcode and huisnummer in one block, also where they are more than a block', () => {
    const groups = Array.from(filed.texts(), (text) => new Set(text.toString('latin1').split('\n').map(groupOf)));
    for (const [at, of] of groups.entries()) {
      expect(groups.slice(at + 1).some((later) => [...of].some((group) => later.has(group)))).toBe(false);
    }
    expect(filed.linesOf('1381AB#77#')).toHaveLength(1_501);
  });

  it('can be edited where there were none, and to none', () => {
    const none = new BlockedLines([]);
    const lines = [textOf('1381AA#10#'), textOf('1381AA#9#')];
    const some = none.edited({ remove: ['1381AA#1#\t'], add: lines.toReversed() });
    expect(some.lines()).toEqual(lines);
    for (const held of [some, stored(some)]) expect(held.edited({ remove: lines, add: [] }).blocks).toEqual([]);
    expect(none.linesOf('1381AA#9#')).toEqual([]);
  });
});

describe('a file of blocks', () => {
  const writer = new BlockFileWriter<number>('form');
  writer.add('139', BlockedLines.ofLines([textOf('1399ZZ#1#')]), 1);
  writer.add('138', BlockedLines.ofLines([textOf('1381AA#9#')]), 2);
  writer.add('137', BlockedLines.ofLines([]), 3);
  const file = Buffer.concat(writer.pack());

  it('says what it was told of each part that has lines', () => {
    const read = new BlockFile<number>(file, 'form');
    expect([read.parts, read.about('138'), read.about('139')]).toEqual([['138', '139'], 2, 1]);
    expect([read.about('137'), read.lines('137').lines()]).toEqual([undefined, []]);
    expect(read.lines('138').lines()).toEqual([textOf('1381AA#9#')]);
  });

  it('is refused when it is opened if any byte of it is damaged or missing, also of lines that are not read', () => {
    for (let at = 0; at < file.length; at++) {
      const damaged = Buffer.from(file);
      damaged[at] = (damaged[at] as number) ^ 1;
      expect(() => new BlockFile(damaged, 'form')).toThrow();
      expect(() => new BlockFile(file.subarray(0, at), 'form')).toThrow();
    }
  });

  it('is refused in a form that this version does not read', () => {
    expect(() => new BlockFile(file, 'form 2')).toThrow(
      new UnknownFormError("its form is 'form', and this version reads 'form 2'"),
    );
  });
});
