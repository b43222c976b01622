import type { SetAsideObject, SetAsideOfDay } from '../register/set-aside.ts';
import { grouped, type Objection } from './objections.ts';

/** All objects that are set aside and not settled yet. */
export type SetAside = { count: number; addresses: number; examples: string[] };

const examplesKept = 5;

export function setAsideOf(objects: readonly SetAsideObject[]): SetAside {
  return {
    count: objects.length,
    addresses: objects.reduce((sum, { addresses }) => sum + addresses, 0),
    examples: objects.slice(0, examplesKept).map(({ why, addresses }) => `${why} (${grouped(addresses)} addresses)`),
  };
}

/** The share of a delivery's objects. Usually none is set aside; of a wrong or a replaced delivery nearly all are. */
const mostSetAsideShare = 0.01;

/** Objections to deliveries with over 1% of objects not matching, and to over `alwaysAllowed` addresses together. */
export function objectionsToSetAside(
  days: readonly SetAsideOfDay[],
  all: readonly SetAsideObject[],
  alwaysAllowed: number,
): Objection[] {
  const { count, addresses, examples } = setAsideOf(all);
  const found = days.flatMap(({ file, objects, count, examples }): Objection[] => {
    if (count <= Math.max(1, objects * mostSetAsideShare)) return [];
    const message =
      `${count} of the ${objects} objects that ${file} changes do not match it: it was replaced, or an earlier delivery is wrong. ` +
      `Among them: ${examples[0]}`;
    return [{ code: 'too_many_set_aside', message, count, of: objects, examples }];
  });
  if (days.length === 0 || addresses <= alwaysAllowed) return found;
  const message =
    `${grouped(addresses)} addresses of ${count} objects would stay as they were, as their changes do not match, over the limit of ` +
    `${grouped(alwaysAllowed)}: ${examples[0]}`;
  return [...found, { code: 'too_many_set_aside', message, count: addresses, examples }];
}
