/** The days of mutations since an extract, applied once more to the objects behind one address. */

import type { Mutation } from '../../loader/bag/mutations.ts';
import { isObjectenKind } from '../../loader/bag/schema.ts';
import {
  type AdresseerbaarVoorkomen,
  dayOf,
  type GemeenteRelatie,
  type NumVoorkomen,
  type OprVoorkomen,
  type Span,
  type WplVoorkomen,
} from '../../loader/bag/voorkomen.ts';
import { adresObjectLines } from '../../loader/dataset/adres-objects.ts';
import { applyMutations, type Objects, objectKey } from '../../loader/dataset/apply-mutations.ts';
import { ObjectsOfAddresses } from '../../loader/dataset/derive-objects.ts';
import { deriveRows } from '../../loader/dataset/derive-rows.ts';
import { RowJoiner } from '../../loader/dataset/join-rows.ts';
import { keyOf, parseLine } from '../../loader/dataset/lines.ts';
import type { MutationFile } from '../../loader/dataset/load.ts';
import { keyOfNum, objectLines } from '../../loader/dataset/objects.ts';
import { bytesOf, linesOf } from '../../loader/dataset/stored-form.ts';

/** What a delivery changes; `relaties` are all that hold after it, or `null` where it does not say. */
export type ReplayedDay = {
  day: Pick<MutationFile, 'name' | 'vanaf' | 'tot'>;
  mutations: readonly Mutation[];
  relaties: readonly GemeenteRelatie[] | null;
};

/** The objects behind an address, with all occurrences that count or may count later, and relations of its places. */
export type Behind = { objects: Objects; relaties: readonly GemeenteRelatie[] };

/** The occurrences of one object that hold on a day: the first counts, and the others lose to it. */
export function holdingOn<T extends Omit<Span, 'volgnummer'> & { volgnummer?: number }>(
  occurrences: Iterable<T>,
  day: number,
): T[] {
  const holding = [...occurrences].filter(({ begin, eind }) => begin <= day && eind > day);
  return holding.sort((a, b) => b.begin - a.begin || (b.volgnummer ?? 0) - (a.volgnummer ?? 0));
}

/** What a dataset of a date serves under a key, as text; the load itself derives it in the same way. */
export function servedOn({ objects, relaties }: Behind, key: string, peildatum: string, objecten: boolean): string {
  const [day, part] = [dayOf(peildatum), key.slice(0, 3)];
  const all = (isWanted: (kind: string) => boolean) =>
    [...objects].filter(([name]) => isWanted(name.slice(0, 3))).map(([, held]) => [...held.values()]);
  const current = <T>(kind: string) =>
    new Map(
      all((one) => one === kind).flatMap((held) =>
        holdingOn(held, day)
          .slice(0, 1)
          .map((one) => [one.identificatie, one as T]),
      ),
    );
  const openbareRuimten = current<OprVoorkomen>('OPR');
  const woonplaatsen = current<WplVoorkomen>('WPL');
  const inGemeente = {
    get(id: string) {
      const found = woonplaatsen.get(id);
      const [relatie] = holdingOn(
        relaties.filter(({ woonplaats }) => woonplaats === id),
        day,
      );
      return found && { ...found, ...(relatie && { gemeente: relatie.gemeente }) };
    },
  };
  const nums = all((kind) => kind === 'NUM') as NumVoorkomen[][];
  const lines = nums.flatMap((held) => objectLines(held, peildatum).get(part) ?? []).sort();
  const keysOf = (num: string) =>
    new Set(nums.flatMap((held) => held.filter((one) => one.identificatie === num && one.eind > day).map(keyOfNum)));
  const ofObjecten = (all(isObjectenKind) as AdresseerbaarVoorkomen[][])
    .flatMap((held) => adresObjectLines(held, peildatum, keysOf).get(part) ?? [])
    .sort();
  const by = { reference: { openbareRuimten, woonplaatsen: inGemeente }, peildatum, file: '' };
  const ignore = () => undefined;
  const text = bytesOf(lines);
  const joiner = new RowJoiner(text, objecten ? new ObjectsOfAddresses(bytesOf(ofObjecten), by, ignore) : undefined);
  deriveRows(text, by, joiner, ignore);
  return servedIn(linesOf(joiner.end()), key);
}

/** What lines say is served under a key, as text. */
export function servedIn(lines: readonly string[], key: string): string {
  const line = lines.find((one) => keyOf(one) === key);
  return JSON.stringify(line ? parseLine(line).places : []);
}

/** The objects as they were before some days. */
export function undone(after: Objects, days: readonly ReplayedDay[]): Objects {
  const objects: Objects = new Map(Array.from(after, ([key, held]) => [key, new Map(held)]));
  for (const { mutations } of days.toReversed()) {
    for (const mutation of mutations.toReversed()) {
      const held = objects.get(objectKey(mutation)) ?? new Map();
      objects.set(objectKey(mutation), held);
      if (mutation.was) held.set(mutation.volgnummer, mutation.was);
      else held.delete(mutation.volgnummer);
    }
  }
  return objects;
}

/**
 * The last of the days after which something else was served under a key, and why, with what is served in the end.
 * Changes the objects of `behind`, which are those of `from`.
 */
export function lastChange(
  behind: Behind,
  days: readonly ReplayedDay[],
  { key, from, objecten }: { key: string; from: string; objecten: boolean },
): { since: { date: string; because: string } | null; served: string } {
  let { relaties } = behind;
  let since: { date: string; because: string } | null = null;
  let served = servedOn(behind, key, from, objecten);
  for (const { day, mutations, ...later } of days) {
    const { name, vanaf, tot } = day;
    const turned = servedOn({ ...behind, relaties }, key, tot, objecten);
    const because = turning({ ...behind, relaties }, day) ?? name;
    applyMutations(behind.objects, { file: name, vanaf, tot, mutations });
    relaties = later.relaties ?? relaties;
    const after = servedOn({ ...behind, relaties }, key, tot, objecten);
    if (after !== served) since = { date: tot, because: after === turned ? because : name };
    served = after;
  }
  return { since, served };
}

/** What begins or ends by its date alone on a day. */
function turning(
  { objects, relaties }: Behind,
  { vanaf, tot }: Pick<MutationFile, 'vanaf' | 'tot'>,
): string | undefined {
  const [from, to] = [dayOf(vanaf), dayOf(tot)];
  const turns = ({ begin, eind }: Omit<Span, 'volgnummer'>) => [begin, eind].some((day) => day > from && day <= to);
  const object = [...objects.values()].flatMap((held) => [...held.values()]).find(turns);
  if (object) return `voorkomen ${object.volgnummer} of ${object.kind} ${object.identificatie}`;
  const relatie = relaties.find(turns);
  return relatie && `the relation of woonplaats ${relatie.woonplaats} to gemeente ${relatie.gemeente}`;
}
