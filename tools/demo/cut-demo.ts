import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { fromBufferPromise } from 'yauzl';
import { demoSource } from '../../local/demo.ts';
import { writeZip } from '../../test/support/write-extract.ts';

/**
 * Cuts the demo of `npm start` from an extract of Weesp, which is CC0: every occurrence of the
 * addresses with these postcodes, of their streets, their woonplaats and their objects, as Kadaster
 * wrote them. `node local/launch.js tools/demo/cut-demo.ts BAGGEM0457L-15102021.zip`
 */
const postcodes: Record<string, string> = {
  '1381AA': 'lower-case letters',
  '1381DE': 'over a hundred toevoegingen at one huisnummer',
  '1381EX': 'two streets',
  '1381GH': 'an accent',
  '1381GT': 'a twin: an object and its planned replacement',
  '1381LX': 'a street of the old town',
  '1381XK': 'an apostrophe nearby',
  '1382AJ': 'withdrawn addresses, and a twin',
  '1382JK': 'the hoofdadres of another nevenadres',
  '1382JR': 'the hoofdadres of a nevenadres',
  '1382KS': 'a nevenadres',
  '1382KT': 'nevenadressen',
  '1382LD': 'ligplaatsen',
  '1382LJ': 'twins with letters',
  '1382RP': 'standplaatsen',
  '1381AG': 'homes',
  '1381VV': 'the main street of the old town',
  '1382KN': 'ligplaatsen beside homes',
  '1381HC': 'more ligplaatsen',
};

/**
 * The members of the extract that a load reads, and whose occurrences stay: those of an id, or that
 * name one.
 */
const kinds = ['NUM', 'OPR', 'WPL', 'VBO', 'LIG', 'STA'] as const;
type Kind = (typeof kinds)[number];

const { positionals } = parseArgs({ allowPositionals: true });
const [source] = positionals;
if (source === undefined) throw new Error('Name the extract of Weesp: BAGGEM0457L-15102021.zip.');

const outer = await filesOf(readFileSync(source));
const [gemName = '', gem] = [...outer].find(([name]) => /^\d{4}GEM\d{8}\.zip$/.test(name)) ?? [];
if (!gem) throw new Error(`${source} is not the extract of a municipality.`);
const members = await filesOf(gem);
const stands = {} as Record<Kind, { name: string; head: string; tail: string; stands: string[] }>;
for (const kind of kinds) {
  const [name = '', zip] =
    [...members].find(([one]) => one.slice(4, 7) === kind && one.endsWith('.zip')) ?? [];
  if (!zip) throw new Error(`${gemName} has no ${kind}.`);
  const files = [...(await filesOf(zip)).values()].map((bytes) => bytes.toString('utf8'));
  const [first = ''] = files;
  stands[kind] = {
    name,
    head: first.slice(0, first.indexOf('<sl:stand>')),
    tail: first.slice(first.lastIndexOf('</sl:stand>') + '</sl:stand>'.length),
    stands: files.flatMap((text) => text.match(/<sl:stand>.*?<\/sl:stand>/gs) ?? []),
  };
}

const idOf = (stand: string) => /<Objecten:identificatie[^>]*>(\d+)</.exec(stand)?.[1] ?? '';
const namedBy = (stands: string[], reference: string) =>
  new Set(
    stands.flatMap((stand) =>
      [...stand.matchAll(new RegExp(`${reference}[^>]*>(\\d+)<`, 'g'))].map(([, id]) => id),
    ),
  );
const postcodeOf = (stand: string) => /<Objecten:postcode>(\w+)</.exec(stand)?.[1] ?? '';

const chosen = new Set(stands.NUM.stands.filter((stand) => postcodes[postcodeOf(stand)]).map(idOf));
const kept = {} as Record<Kind, string[]>;
kept.NUM = stands.NUM.stands.filter((stand) => chosen.has(idOf(stand)));
const streets = namedBy(kept.NUM, 'OpenbareRuimteRef');
kept.OPR = stands.OPR.stands.filter((stand) => streets.has(idOf(stand)));
const places = namedBy([...kept.NUM, ...kept.OPR], 'WoonplaatsRef');
kept.WPL = stands.WPL.stands.filter((stand) => places.has(idOf(stand)));
for (const kind of ['VBO', 'LIG', 'STA'] as const) {
  const objects = new Set(
    stands[kind].stands
      .filter((stand) =>
        [...namedBy([stand], 'NummeraanduidingRef')].some((id) => chosen.has(id ?? '')),
      )
      .map(idOf),
  );
  kept[kind] = stands[kind].stands.filter((stand) => objects.has(idOf(stand)));
}

const inner = await Promise.all(
  kinds.map(async (kind) => {
    const { name, head, tail } = stands[kind];
    const xml = {
      name: name.replace('.zip', '-000001.xml'),
      bytes: Buffer.from(head + kept[kind].join('') + tail),
      compress: true,
    };
    return { name, bytes: await writeZip([xml]), compress: false };
  }),
);
const [relationsName = '', relations] =
  [...outer].find(([name]) => name.startsWith('GEM-WPL-RELATIE')) ?? [];
if (!relations) throw new Error(`${source} has no relations.`);
const relationFiles = await Promise.all(
  [...(await filesOf(relations))].map(async ([name, bytes]) => {
    const text = bytes
      .toString('utf8')
      .replace(
        /\s*<gwr-product:GemeenteWoonplaatsRelatie>.*?<\/gwr-product:GemeenteWoonplaatsRelatie>/gs,
        (relation) =>
          [...places].some((place) => relation.includes(`>${place}<`)) ? relation : '',
      );
    return { name, bytes: Buffer.from(text), compress: true };
  }),
);
const delivery = 'Leveringsdocument-BAG-Extract.xml';
const demo = await writeZip([
  { name: delivery, bytes: outer.get(delivery) as Buffer, compress: true },
  { name: gemName, bytes: await writeZip(inner), compress: false },
  { name: relationsName, bytes: await writeZip(relationFiles), compress: false },
]);
writeFileSync(demoSource, demo);
const counts = kinds.map((kind) => `${kept[kind].length} ${kind}`).join(', ');
console.log(
  `${fileURLToPath(demoSource)}: ${demo.length} bytes; ${chosen.size} addresses; occurrences: ${counts}`,
);

/** The files in a zip, by name, without folders and what macOS adds. */
async function filesOf(zip: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const opened = await fromBufferPromise(zip);
  for await (const entry of opened.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue;
    const stream = await opened.openReadStreamPromise(entry);
    files.set(entry.fileName, Buffer.concat(await stream.toArray()));
  }
  return files;
}
