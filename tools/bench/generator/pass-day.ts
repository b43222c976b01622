import type { MutationGroup } from '../../../test/support/mutation-delivery.ts';
import type { NumStand, Voorkomens } from '../../../test/support/stand-xml.ts';
import type { Random } from './random.ts';

/**
 * Changes a day in each of the 1,230 blocks: in the country they are some 3,000 nummeraanduidingen
 * and five streets.
 */
const objectsADay = 3_000 / 1_230;
const streetsADay = 5 / 1_230;

/**
 * Changes a block as a day does, in place, and gives the mutations that say so. Nothing leaves the
 * register.
 */
export function passDay({ NUM, OPR }: Voorkomens, random: Random, date: string): MutationGroup[] {
  const groups: MutationGroup[] = [];
  const touched = new Set<string>();
  const objects = Math.floor(objectsADay) + (random.chance(objectsADay % 1) ? 1 : 0);
  for (let tries = 0; touched.size < objects && tries < 100; tries++) {
    const at = random.int(NUM.length);
    const num = NUM[at] as NumStand;
    const isLast = NUM[at + 1]?.identificatie !== num.identificatie;
    if (touched.has(num.identificatie) || !isLast || !isOpen(num, date)) continue;
    touched.add(num.identificatie);
    if (random.chance(0.2)) groups.push(added(NUM, num, random, date));
    else {
      groups.push(
        random.chance(0.15) ? corrected(NUM, at, random, date) : changed(NUM, at, random, date),
      );
    }
  }
  if (random.chance(streetsADay)) {
    const at = random.int(OPR.length);
    const street = OPR[at] as (typeof OPR)[number];
    if (isOpen(street, date)) {
      const { verkorteNaam: _, ...kept } = street;
      const ended = { ...street, eind: date };
      const next = { ...kept, naam: `Nieuw ${street.naam}`.slice(0, 80), ...after(street, date) };
      OPR.splice(at, 1, ended, next);
      groups.push({ kind: 'OPR', changes: [{ was: street, wordt: ended }, { wordt: next }] });
    }
  }
  return groups;
}

function isOpen(
  {
    eind,
    live,
    begin,
    tijdstipInactief,
    tijdstipInactiefLV,
  }: Voorkomens['NUM'][number] | Voorkomens['OPR'][number],
  date: string,
): boolean {
  return (
    eind === undefined && live !== false && begin < date && !tijdstipInactief && !tijdstipInactiefLV
  );
}

function after({ volgnummer = 1 }: { volgnummer?: number }, begin: string) {
  return { volgnummer: volgnummer + 1, begin };
}

function changed(NUM: NumStand[], at: number, random: Random, date: string): MutationGroup {
  const was = NUM[at] as NumStand;
  const wordt = { ...was, eind: date };
  const next: NumStand = { ...was, ...after(was, date) };
  if (random.chance(0.3)) next.live = false;
  else if (random.chance(0.5)) next.huisnummertoevoeging = random.pick(['1', '2', 'bis']);
  else {
    next.huisnummer = 300 + random.int(200);
  }
  NUM.splice(at, 1, wordt, next);
  return { kind: 'NUM', changes: [{ was, wordt }, { wordt: next }] };
}

function corrected(NUM: NumStand[], at: number, random: Random, date: string): MutationGroup {
  const was = NUM[at] as NumStand;
  const wordt = {
    ...was,
    tijdstipInactief: `${date}T01:00:00.000`,
    tijdstipInactiefLV: `${date}T01:05:00.000`,
  };
  const next = { ...was, ...after(was, was.begin), huisnummer: 500 + random.int(200) };
  NUM.splice(at, 1, wordt, next);
  return { kind: 'NUM', changes: [{ was, wordt }, { wordt: next }] };
}

/** A new neighbour; one in five begins some days later. */
function added(NUM: NumStand[], neighbour: NumStand, random: Random, date: string): MutationGroup {
  const { eind: _, volgnummer: __, ...kept } = neighbour;
  const identificatie = String(Number(NUM.at(-1)?.identificatie) + 1).padStart(16, '0');
  const later = new Date(Date.parse(date) + 3 * 86_400_000).toISOString().slice(0, 10);
  const num = {
    ...kept,
    identificatie,
    begin: random.chance(0.2) ? later : date,
    huisnummer: 700 + random.int(200),
  };
  NUM.push(num);
  return { kind: 'NUM', changes: [{ wordt: num }] };
}
