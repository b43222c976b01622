import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

/** The attributes of an item to write and to drop; the others stay, also while a request is charged at the same time. */
export type Changes = { set: Record<string, NativeAttributeValue>; remove: string[] };

/**
 * The parts of an `UpdateItem` for `changes`. Each attribute `a` is aliased `#a` and its value `:a`, since many of our
 * names are reserved words; attribute names are lower case letters and `_`.
 */
export function updateChanges({ set, remove }: Changes) {
  const sets = Object.keys(set).map((name) => `#${name} = :${name}`);
  const removes = remove.map((name) => `#${name}`);
  return {
    UpdateExpression: [sets.length && `SET ${sets.join(', ')}`, removes.length && `REMOVE ${removes.join(', ')}`]
      .filter(Boolean)
      .join(' '),
    names: Object.fromEntries([...Object.keys(set), ...remove].map((name) => [`#${name}`, name])),
    values: Object.fromEntries(Object.entries(set).map(([name, value]) => [`:${name}`, value])),
  };
}
