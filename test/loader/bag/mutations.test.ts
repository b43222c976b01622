import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fromBufferPromise, openPromise, type ZipFile } from 'yauzl';
import { readMutationDelivery, readMutations } from '../../../loader/bag/mutations.ts';
import { bufferAccess } from '../../../loader/zip/random-access.ts';
import {
  mutationDeliveryXml,
  mutationsXml,
  writeExtract,
  writeMutationDelivery,
} from '../../../local/demo/write-extract.ts';
import { Random } from '../../bench/generator/random.ts';
import { dateAfter, firstState, laterDays } from '../../support/register.ts';
import { schemaErrors, xsdFolder } from '../../support/schema-errors.ts';

const realDay = '../shared/bag-samples/weesp-0457/BAGNLDM-13112021-14112021.zip';
const ifReal = existsSync(realDay) ? it : it.skip;
const ifXsds = existsSync(xsdFolder) ? it : it.skip;
const start = '2026-01-08';
const random = new Random(3);
const days = [...laterDays(random, firstState(random, start), start, 10)];
const [day] = days.filter(({ groups }) => groups.length > 3) as [(typeof days)[number]];
const vanaf = dateAfter(day.date, -1);

const other =
  '<ml:mutatieGroep><ml:wijziging><ml:was><mlm:bagObject><Objecten:Pand><Objecten:identificatie domein="NL.IMBAG.Pand">' +
  '0072100000321226</Objecten:identificatie></Objecten:Pand></mlm:bagObject></ml:was></ml:wijziging></ml:mutatieGroep>';

function read(xml: string, options = {}) {
  return readMutations(Buffer.from(xml), 'day.xml', options);
}

/** `mutationsXml` with one part of its text replaced. */
function changed(from: string | RegExp, to: string): string {
  const xml = mutationsXml(day.groups, vanaf, day.date);
  const made = xml.replace(from, to);
  if (made === xml) throw new Error(`nothing to replace: ${from}`);
  return made;
}

async function entries(zip: ZipFile): Promise<Map<string, Buffer>> {
  const found = new Map<string, Buffer>();
  for await (const entry of zip.eachEntry())
    found.set(entry.fileName, await buffer(await zip.openReadStreamPromise(entry)));
  return found;
}

describe('a file of mutations', () => {
  ifXsds('is made valid against the schemas of Kadaster', async () => {
    const schema = 'BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd';
    for (const { date, groups } of days) {
      expect(await schemaErrors(mutationsXml(groups, dateAfter(date, -1), date), schema)).toEqual([]);
    }
    const document = mutationDeliveryXml(vanaf, day.date);
    expect(await schemaErrors(document, 'BagvsExtractLeveringsdocument-2.1.0.xsd')).toEqual([]);
  });

  it('returns every change of every object, in its order', () => {
    const { mutations, ...dates } = read(mutationsXml(day.groups, vanaf, day.date));
    expect(dates).toEqual({ vanaf, tot: day.date, problems: [] });
    const expected = day.groups.flatMap(({ kind, changes }) =>
      changes.map(({ was, wordt }) => [kind, wordt.identificatie, wordt.volgnummer ?? 1, was === undefined]),
    );
    expect(mutations.map((one) => [one.kind, one.identificatie, one.volgnummer, one.isNew])).toEqual(expected);
  });

  it('is read the same by the strict parser alone, with anything between its groups', () => {
    const between = fc.constantFrom(
      '\t',
      ' ',
      '\n',
      '<!-- <ml:mutatieGroep> -->',
      other,
      other.replace('<Objecten:Pand>', '<Objecten:Pand >'),
    );
    fc.assert(
      fc.property(fc.array(between, { minLength: 1, maxLength: 6 }), (pieces) => {
        const xml = changed('</ml:mutatieGroep>', `</ml:mutatieGroep>${pieces.join('')}`);
        expect(read(xml)).toEqual(read(xml, { strictly: true }));
      }),
      { numRuns: 40 },
    );
  });

  ifReal('of a real day of the country holds five nummeraanduidingen, by both readers', async () => {
    const outer = await entries(await openPromise(realDay));
    const inner = await entries(await fromBufferPromise(outer.get('9999MUT13112021-14112021.zip') as Buffer));
    for (const [name, xml] of inner) {
      const fast = readMutations(xml, name);
      expect(fast).toEqual(readMutations(xml, name, { strictly: true }));
      expect(new Set(fast.mutations.map(({ identificatie }) => identificatie)).size).toBe(
        name.includes('000002') ? 5 : 0,
      );
    }
  });

  it.each<[string, string, string]>([
    [
      'that removes an occurrence',
      changed(/wijziging>/g, 'verwijdering>').replace(/<ml:wordt>.*?<\/ml:wordt><\/ml:verw/g, '</ml:verw'),
      'removes an occurrence of object',
    ],
    ['in another schema', changed(/mutaties-lvc\/v20200601/g, 'mutaties-lvc/v20300101'), 'v20300101'],
    [
      'with an unknown kind of object',
      changed(/Objecten:Nummeraanduiding>/g, 'Objecten:Postbus>'),
      'unexpected element Objecten:Postbus',
    ],
    [
      'with an unknown status',
      changed('Naamgeving uitgegeven', 'Naamgeving verzonnen'),
      "unknown status 'Naamgeving verzonnen'",
    ],
    ['that is cut off', mutationsXml(day.groups, vanaf, day.date).slice(0, -300), 'not well-formed XML'],
    ['whose dates are reversed', mutationsXml(day.groups, day.date, vanaf), 'contradicts itself'],
    [
      'without dates',
      changed(/<selecties-extract:Mutatieperiode>[\s\S]*?<\/selecties-extract:Mutatieperiode>/, ''),
      'has no valid dates (from and to)',
    ],
  ])('%s is refused by name', (_, xml, message) => {
    for (const strictly of [true, false]) expect(() => read(xml, { strictly })).toThrow(message);
  });
});

describe('a delivery of mutations', () => {
  const read = (zip: Buffer) => readMutationDelivery(bufferAccess(zip), 'day.zip');

  it('returns the mutations of all its files in the order of their numbers', async () => {
    const { mutations, ...dates } = await read(await writeMutationDelivery(vanaf, day.date, day.groups, 2));
    expect(dates).toEqual({ vanaf, tot: day.date, problems: [] });
    const xml = mutationsXml(day.groups, vanaf, day.date);
    expect(mutations).toEqual(readMutations(Buffer.from(xml), 'day.xml').mutations);
  });

  ifReal('of a real day leads from the one date to the other', async () => {
    const { vanaf: from, tot, mutations } = await read(await readFile(realDay));
    expect([from, tot, mutations.length]).toEqual(['2021-11-13', '2021-11-14', 6]);
  });

  it.each<[string, () => Promise<Buffer>, string]>([
    [
      'that is a full extract',
      () => writeExtract(start, firstState(random, start)),
      'It is a full extract: pass it with --extract.',
    ],
    ['that is a page of HTML', async () => Buffer.from('<!DOCTYPE html><title>Sign in</title>'), 'day.zip'],
    [
      'that is cut off',
      async () => (await writeMutationDelivery(vanaf, day.date, day.groups)).subarray(0, 900),
      'day.zip',
    ],
  ])('%s is refused by name', async (_, zip, message) => {
    await expect(read(await zip())).rejects.toThrow(message);
    await expect(read(await zip())).rejects.toHaveProperty('name', 'ExtractError');
  });
});
