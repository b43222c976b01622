import type { NativeAttributeValue } from '@aws-sdk/util-dynamodb';

/**
 * The attributes of an item to write, to raise and to drop; the others stay, also while a request is charged at the same
 * time. An attribute is named in one of them only, and one that is raised is there.
 */
export type Changes = { set: Record<string, NativeAttributeValue>; raise?: Record<string, number>; remove: string[] };

/** What an attribute must be for a change to happen. */
export type Guard =
  | { attribute: string; is: '=' | '<='; value: NativeAttributeValue }
  | { attribute: string; is: 'absent' | 'there' };

/**
 * The parts of an `UpdateItem` for `changes`. Each attribute `a` is aliased `#a` and its value `:a`, since many of our
 * names are reserved words; attribute names are lower case letters and `_`.
 */
export function updateChanges({ set, raise = {}, remove }: Changes) {
  const sets = [
    ...Object.keys(set).map((name) => `#${name} = :${name}`),
    ...Object.keys(raise).map((name) => `#${name} = #${name} + :${name}`),
  ];
  const removes = remove.map((name) => `#${name}`);
  return {
    UpdateExpression: [sets.length && `SET ${sets.join(', ')}`, removes.length && `REMOVE ${removes.join(', ')}`]
      .filter(Boolean)
      .join(' '),
    names: aliases([...Object.keys(set), ...Object.keys(raise), ...remove]),
    values: Object.fromEntries(Object.entries({ ...set, ...raise }).map(([name, value]) => [`:${name}`, value])),
  };
}

/** An update of the item under `Key` in `table`, that happens if all of `guards` hold. */
export function guardedUpdate(table: string, Key: Record<string, string>, changes: Changes, guards: Guard[]) {
  const { UpdateExpression, names, values } = updateChanges(changes);
  const guard = guardExpression(guards);
  return {
    TableName: table,
    Key,
    UpdateExpression,
    ConditionExpression: guard.ConditionExpression,
    ExpressionAttributeNames: { ...names, ...guard.names },
    ExpressionAttributeValues: { ...values, ...guard.values },
  };
}

/** The parts of a condition that all of `guards` hold. */
export function guardExpression(guards: Guard[]) {
  const conditions = guards.map((guard, i) => {
    if (guard.is === 'absent') return `attribute_not_exists(#${guard.attribute})`;
    if (guard.is === 'there') return `attribute_exists(#${guard.attribute})`;
    return `#${guard.attribute} ${guard.is} :seen${i}`;
  });
  const values = guards.flatMap((guard, i) => ('value' in guard ? [[`:seen${i}`, guard.value] as const] : []));
  return {
    ConditionExpression: conditions.join(' AND '),
    names: aliases(guards.map(({ attribute }) => attribute)),
    values: Object.fromEntries(values) as Record<string, NativeAttributeValue>,
  };
}

function aliases(names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [`#${name}`, name]));
}
