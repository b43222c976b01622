import { expect, it } from '@jest/globals';
import { localGuardDefaults } from '../../../loader/names.ts';
import type { NumStand, Voorkomens } from '../../../local/demo/stand-xml.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { explainAddress } from '../../../operator/explain/explain-address.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { deliveryName, newDataset, Register, start } from '../../loader/steps/mutation-register.ts';
import { dateAfter } from '../../support/register.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const bench = startForTests(startLoadBench);

type Stand = { volgnummer?: number; begin: string; eind?: string; live?: boolean; tijdstipInactief?: string };

/** Of some occurrences the one that counts on a date. */
function counting<T extends Stand>(all: readonly T[], date: string): T | undefined {
  const holds = ({ live, tijdstipInactief, begin, eind }: T) =>
    live !== false && !tijdstipInactief && begin <= date && (eind === undefined || eind > date);
  const last = (a: T, b: T) =>
    a.begin < b.begin ? 1 : a.begin > b.begin ? -1 : (b.volgnummer ?? 1) - (a.volgnummer ?? 1);
  return all.filter(holds).sort(last)[0];
}

const keyOf = ({ postcode, huisnummer, huisletter = '', huisnummertoevoeging = '' }: NumStand) =>
  `${postcode}#${huisnummer}#${(huisletter + huisnummertoevoeging).toUpperCase()}`;

/** What is served on a date under each key by the rules of the register, with or without adresseerbare objecten. */
function servedBy(state: Voorkomens, date: string, objecten: boolean): Map<string, string> {
  const one = <T extends Stand & { identificatie: string }>(all: readonly T[] = []) =>
    [...Map.groupBy(all, ({ identificatie }) => identificatie).values()].flatMap(
      (found) => counting(found, date) ?? [],
    );
  const [streets, places] = [one(state.OPR), one(state.WPL)];
  const objects = objecten ? [...one(state.VBO), ...one(state.LIG), ...one(state.STA)] : [];
  const served = new Map<string, string[]>();
  for (const num of one(state.NUM)) {
    const street = streets.find(({ identificatie }) => identificatie === num.openbareRuimte);
    const place = places.find(({ identificatie }) => identificatie === (num.woonplaats ?? street?.woonplaats));
    if (!num.postcode || !street || !place) continue;
    const relaties = state.relaties?.filter(({ woonplaats }) => woonplaats === place.identificatie) ?? [];
    const here = objects.filter(({ hoofdadres, nevenadressen = [] }) =>
      [hoofdadres, ...nevenadressen].includes(num.identificatie),
    );
    const texts = here.map(({ identificatie, hoofdadres, status, ...object }) => {
      const { punt, corners, oppervlakte, gebruiksdoelen } = object as Record<string, unknown>;
      return [identificatie, hoofdadres === num.identificatie, status, punt, corners, oppervlakte, gebruiksdoelen];
    });
    const found = JSON.stringify([
      street.naam,
      place.naam,
      counting(relaties, date)?.gemeente,
      num.identificatie,
      texts.sort(),
    ]);
    served.set(keyOf(num), [...(served.get(keyOf(num)) ?? []), found].sort());
  }
  return new Map([...served].map(([key, all]) => [key, all.join()]));
}

const days = 9;
const again = 4;
const variants = [
  ['', {}],
  [' with its objects', { objecten: true }],
  [' of a municipality', { layout: 'municipality' }],
  [' whose extract was brought forward', { extractAgain: dateAfter(start, again), objecten: true }],
] as { 0: string; 1: { objecten?: boolean; layout?: 'municipality'; extractAgain?: string } }[];

const cases = [1, 2, 3, 4, 5].flatMap((seed) =>
  variants.toReversed().map(({ 0: what, 1: how }) => [what, seed, how] as const),
);
it.each(sweep(cases, 1))(
  'an explanation of a dataset%s says since when an address is what it is, as a model does (seed %i)',
  async (_, seed, { objecten = false, extractAgain, ...packing }) => {
    const register = new Register(bench, 40 + seed, days, 60, objecten);
    const { options } = await newDataset(bench);
    const thresholds = { ...localGuardDefaults, alwaysAllowed: 1e6, maximumProblemShare: 1 };
    const judged = { ...options, objecten, thresholds };
    await register.deliver(extractAgain ? register.days.slice(0, again + 2) : register.days);
    await runLoad({ ...judged, source: await register.extract(start, packing), mutations: [register.mutations] });
    if (extractAgain) {
      await runLoad({ ...judged, source: await register.extract(extractAgain), mutations: [register.mutations] });
      await register.deliver();
      await runLoad({ ...judged, mutations: [register.mutations] });
    }
    const from = extractAgain ?? start;
    const states = [{ date: start, state: register.first }, ...register.days].filter(({ date }) => date >= from);
    const served = states.map(({ date, state }) => servedBy(state, date, objecten));
    const turned = states.slice(1).map(({ date }, day) => servedBy(states[day]?.state as Voorkomens, date, objecten));
    const keys = [...new Set(states.flatMap(({ state }) => state.NUM.filter(({ postcode }) => postcode).map(keyOf)))];
    const said: Record<string, unknown> = {};
    const expected: Record<string, unknown> = {};
    for (const key of sweep(keys, 12)) {
      const last = served.findLastIndex((one, day) => day > 0 && one.get(key) !== served[day - 1]?.get(key));
      const date = states[last]?.date ?? '';
      const isTurned = turned[last - 1]?.get(key) === served[last]?.get(key);
      // What ended before the extract was brought forward, without a delivery that says so, left no trace.
      if (extractAgain && isTurned && date <= dateAfter(start, again + 2)) continue;
      const because = isTurned ? expect.stringMatching(/^(voorkomen|the) /) : deliveryName(dateAfter(date, -1), date);
      expected[key] = last < 0 ? null : { date, because };
      said[key] = (await explainAddress(options.storage, key)).since;
    }
    expect(said).toEqual(expected);
  },
  120_000,
);
