import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from '@jest/globals';
import type { AdresObject } from '../../../core/adres-object.ts';
import { Change, diff, lineOf } from '../../../loader/addresses/lines.ts';
import {
  ChangesCsvWriter,
  changeExample,
  changesCsvLine,
  countKey,
  noChanges,
} from '../../../loader/guard/load-counts.ts';
import { lineBytes } from '../../../loader/register/stored-form.ts';

describe('a change of the objects of an address', () => {
  const address = (more: Partial<AdresObject> | null, straat = 'Buitenveer') => {
    const object: AdresObject = {
      identificatie: '0457010000012345',
      status: 'Verblijfsobject in gebruik',
      hoofdadres: true,
      type: 'verblijfsobject',
      locatie: { x: 131_234.5, y: 480_123.4 },
      oppervlakte: 85,
      gebruiksdoelen: ['woonfunctie'],
    };
    const objects = more ? [{ ...object, ...more }] : [];
    const place = {
      straat,
      woonplaats: 'Weesp',
      nummeraanduidingen: ['0457200000201234'],
      objecten: objects,
    };
    return lineOf({ key: '1381AA#9#', places: [place] });
  };
  it.each<[string, string, string, string, number]>([
    ['of its surface', address({}), address({ oppervlakte: 90 }), 'objecten', 1],
    ['to none', address({}), address(null), 'objecten', 1],
    ['from none', address(null), address({}), 'objecten', 1],
    ['with its street', address({}), address(null, 'Dam'), 'changed', 0],
  ])('%s is counted as what it is', (_, before, after, kind, changed) => {
    const [change] = Array.from(diff(lineBytes([before]), lineBytes([after]))) as [Change];
    expect(change.kind).toBe(kind);
    const found = { ...noChanges(), objecten: { live: 1, changed: 0 } };
    countKey(found, change);
    expect(found.objecten).toEqual({ live: 1, changed });
    expect(found.changes.changed).toBe(kind === 'changed' ? 1 : 0);
  });

  it('is shown by the objects before and after', () => {
    const shown = changeExample(new Change(address({}), address(null)));
    expect(shown.before).toEqual([
      'Buitenveer, Weesp (objects: 0457010000012345 verblijfsobject, Verblijfsobject in gebruik, 85 m2 woonfunctie, 131234.5 480123.4)',
    ]);
    expect(shown.after).toEqual(['Buitenveer, Weesp (objects: none)']);
  });
});

describe('a change of an address', () => {
  const line = (gemeente: string, straat = 'Buitenveer', id = '0457200000201234') => {
    const place = { straat, woonplaats: 'Weesp', nummeraanduidingen: [id] };
    return lineOf({ key: '1381AA#9#', places: [gemeente ? { ...place, gemeente } : place] });
  };

  it.each([
    ['another gemeente', line('0457'), line('0363'), 1, 'Buitenveer, Weesp (gemeente 0363)'],
    ['no gemeente any more', line('0457'), line(''), 1, 'Buitenveer, Weesp (no gemeente)'],
    ['another street too', line('0457'), line('0363', 'Binnenveer'), 0, 'Binnenveer, Weesp'],
    [
      'another id',
      line('0457'),
      line('0457', 'Buitenveer', '1'.repeat(16)),
      0,
      `Buitenveer, Weesp (${'1'.repeat(16)})`,
    ],
    [
      'another gemeente and id',
      line('0457'),
      line('0363', 'Buitenveer', '1'.repeat(16)),
      0,
      'Buitenveer, Weesp (gemeente 0363)',
    ],
  ])('that gives it %s is shown by what differs', (_, before, after, gemeenteChanged, text) => {
    const found = noChanges();
    const change = new Change(before, after);
    countKey(found, change);
    expect(found).toMatchObject({ changes: { changed: 1 }, gemeenteChanged });
    expect(changeExample(change).after).toEqual([text]);
  });
});

describe('a change as CSV', () => {
  it('quotes what has a comma or a quote, and leaves what is not there empty', () => {
    const places = ['Laan "A", Weesp', 'Dam, Weesp'];
    expect(
      changesCsvLine({
        key: '1381AA#9#',
        before: null,
        after: places,
        nummeraanduidingen: ['1', '2'],
      }),
    ).toBe('1381AA#9#,,"Laan ""A"", Weesp | Dam, Weesp",1 2\r\n');
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
      const places = [{ straat, woonplaats: 'Weesp', nummeraanduidingen: ['0457200000201234'] }];
      await writer.add(new Change(null, lineOf({ key: `1381AA#${number}#`, places })));
    }
    await writer.flush();
    await writer.flush();
    expect(writer.files.map(({ name }) => name)).toEqual(['13-000', '13-001']);
    expect(writer.files.reduce((sum, { changes }) => sum + changes, 0)).toBe(2_500);
    expect(writer.files.map(({ bytes }) => bytes)).toEqual(
      written.map(([, text]) => Buffer.byteLength(text)),
    );
    const text = written.map(([, part]) => part).join('');
    expect(text.split('\r\n')).toHaveLength(2_501);
    expect(text).toContain(`1381AA#2500#,,"${straat}, Weesp",`);
  });
});
