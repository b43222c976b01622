/**
 * An object (`WPL 1012`) that stays as it was until a delivery of it matches or an extract comes.
 */
export type SetAsideObject = { object: string; file: string; why: string; addresses: number };

/**
 * How many of the `objects` that one delivery changes were set aside, and why the first ones were.
 */
export type SetAsideOfDay = { file: string; objects: number; count: number; examples: string[] };

/**
 * How many objects are remembered, those with the most addresses: more are of a delivery that is
 * wrong as a whole.
 */
const mostRemembered = 200;

/** The objects with the most addresses first. */
export function remembered(objects: readonly SetAsideObject[]): SetAsideObject[] {
  return objects.toSorted((a, b) => b.addresses - a.addresses).slice(0, mostRemembered);
}
