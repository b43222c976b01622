import type { Objection } from './load-counts.ts';

/**
 * Objects whose change in a delivery does not match what the dataset holds. They stay as they were until the next
 * extract; the rest of the delivery is applied.
 */
export type SetAside = { count: number; examples: string[] };

/** What was set aside of one delivery; `objects` is how many it changes. */
export type SetAsideOfDay = SetAside & { file: string; objects: number };

const examplesKept = 5;

/** Adds one object. `why` says what was expected, and what is there. */
export function addSetAside(day: SetAside, why: string): void {
  day.count++;
  if (day.examples.length < examplesKept) day.examples.push(why);
}

/** What was set aside of all days together. */
export function setAsideOf(days: readonly SetAsideOfDay[]): SetAside {
  return {
    count: days.reduce((sum, { count }) => sum + count, 0),
    examples: days.flatMap(({ examples }) => examples).slice(0, examplesKept),
  };
}

/** The share of a delivery's objects. Usually none is set aside; of a wrong or a replaced delivery nearly all are. */
const mostSetAsideShare = 0.01;

/** Objections to deliveries of which more than one object, and more than a hundredth, does not match. */
export function objectionsToSetAside(days: readonly SetAsideOfDay[]): Objection[] {
  return days.flatMap(({ file, objects, count, examples }) => {
    if (count <= Math.max(1, objects * mostSetAsideShare)) return [];
    const message =
      `${count} of the ${objects} objects that ${file} changes are not what it expects: it was replaced, or one before it is wrong. ` +
      `Among them: ${examples[0]}`;
    return [{ code: 'too_many_set_aside', message }];
  });
}
