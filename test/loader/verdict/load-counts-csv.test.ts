import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import { Change, lineOf } from '../../../loader/addresses/lines.ts';
import { ChangesCsvWriter, changesCsvLine } from '../../../loader/verdict/load-counts.ts';

const line = (key: string, straat: string) =>
  lineOf({ key, places: [{ straat, woonplaats: 'Weesp', nummeraanduidingen: ['0457200000201234'] }] });

describe('a change as CSV', () => {
  it('quotes what has a comma or a quote, and leaves what is not there empty', () => {
    const places = ['Laan "A", Weesp', 'Dam, Weesp'];
    expect(changesCsvLine({ key: '1381AA#9#', before: null, after: places, nummeraanduidingen: ['1', '2'] })).toBe(
      '1381AA#9#,,"Laan ""A"", Weesp | Dam, Weesp",1 2\r\n',
    );
  });
});

describe('the CSV of the changes of a segment', () => {
  it('has each change once, in files of about 2 MB', async () => {
    const written: [string, string][] = [];
    const writer = new ChangesCsvWriter('13', async (name, packed) => {
      written.push([name, gunzipSync(packed).toString()]);
    });
    const straat = 'é'.repeat(1_000);
    for (let number = 1; number <= 2_500; number++) {
      await writer.add(new Change(null, line(`1381AA#${number}#`, straat)));
    }
    await writer.flush();
    await writer.flush();
    expect(writer.files.map(({ name }) => name)).toEqual(['13-000', '13-001']);
    expect(writer.files.reduce((sum, { changes }) => sum + changes, 0)).toBe(2_500);
    expect(writer.files.map(({ bytes }) => bytes)).toEqual(written.map(([, text]) => Buffer.byteLength(text)));
    const text = written.map(([, part]) => part).join('');
    expect(text.split('\r\n')).toHaveLength(2_501);
    expect(text).toContain(`1381AA#2500#,,"${straat}, Weesp",`);
  });
});
