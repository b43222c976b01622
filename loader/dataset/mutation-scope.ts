import type { Mutation } from '../bag/mutations.ts';
import type { ObjectVoorkomen } from '../bag/voorkomen.ts';
import { type MutationDay, objectKey } from './apply-mutations.ts';

/** What a dataset holds, as far as that decides which mutations concern it. */
export type Register = {
  /** Whether an object is among those that count now or later, by `objectKey`. */
  holds(key: string): boolean;
};

/**
 * The mutations that concern the dataset of one municipality; files of mutations cover the whole country. Its places
 * are those that it holds, its streets those in its places, and its nummeraanduidingen those on its streets, before or
 * after a change.
 */
export function withinRegister(days: readonly MutationDay[], register: Register): MutationDay[] {
  const added = new Set<string>();
  const holds = (key: string) => added.has(key) || register.holds(key);
  const refersToIt = (voorkomen: ObjectVoorkomen | null): boolean => {
    if (voorkomen?.kind === 'NUM') return holds(`OPR ${voorkomen.openbareRuimte}`);
    return voorkomen?.kind === 'OPR' && holds(`WPL ${voorkomen.woonplaats}`);
  };
  const concerns = (mutation: Mutation) =>
    holds(objectKey(mutation)) || refersToIt(mutation.was) || refersToIt(mutation.wordt);
  return days.map((day) => {
    // Streets first: a street and the nummeraanduidingen on it may be new on the same day.
    for (const mutation of day.mutations) {
      if (mutation.kind === 'OPR' && concerns(mutation)) added.add(objectKey(mutation));
    }
    const mutations = day.mutations.filter(concerns);
    for (const mutation of mutations) added.add(objectKey(mutation));
    return { ...day, mutations };
  });
}
