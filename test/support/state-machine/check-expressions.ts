import { expressionIn } from './evaluate.ts';
import type { Json, JsonObject } from './json.ts';
import { referencesOf } from './references.ts';
import type { Branch, State } from './schema.ts';

/** A field that may hold expressions, and what of `$states` there is in it. */
type Field = { field: string; value: Json | undefined; states: readonly string[] };

/** What is wrong with expressions, and with the variables that they read and that states assign. */
export function checkExpressions(machine: Branch): string[] {
  return checkScope(machine);
}

function checkScope(branch: Branch): string[] {
  const issues: string[] = [];
  const own = new Set<string>();
  for (const [name, state] of Object.entries(branch.States)) {
    for (const assigned of assignedBy(state)) {
      if (assigned === 'states') issues.push(`${name}: $states can't be assigned`);
      own.add(assigned);
    }
  }
  for (const [name, state] of Object.entries(branch.States)) {
    for (const field of fieldsOf(state)) {
      issues.push(...checkField(field, own).map((issue) => `${name}/${issue}`));
    }
    // A child execution sees no variable from outside.
    if (state.Type === 'Map') issues.push(...checkScope(state.ItemProcessor));
  }
  return issues;
}

function assignedBy(state: State): string[] {
  const assigns: (JsonObject | undefined)[] = [];
  if ('Assign' in state) assigns.push(state.Assign);
  if (state.Type === 'Choice') assigns.push(...state.Choices.map(({ Assign }) => Assign));
  if ('Catch' in state) assigns.push(...state.Catch.map(({ Assign }) => Assign));
  return assigns.flatMap((assign) => Object.keys(assign ?? {}));
}

const around = ['input', 'context'];
const withResult = [...around, 'result'];
const withError = [...around, 'errorOutput'];

/** Fields that are no expressions, or that are looked at apart. */
const others = ['Type', 'Comment', 'Next', 'End', 'Default', 'Label', 'Retry', 'Catch', 'Choices'];

function fieldsOf(state: State): Field[] {
  const mayFail = state.Type === 'Task' || state.Type === 'Map';
  const fields: Field[] = [];
  for (const [field, value] of Object.entries(state) as [string, Json | undefined][]) {
    if (field === 'ItemProcessor' || others.includes(field)) continue;
    const leaving = field === 'Assign' || field === 'Output';
    fields.push({ field, value, states: mayFail && leaving ? withResult : around });
  }
  if (state.Type === 'Choice') {
    state.Choices.forEach(({ Condition, Assign, Output }, index) => {
      fields.push({ field: `Choices[${index}]`, value: { Condition, ...members({ Assign, Output }) }, states: around });
    });
  }
  if (mayFail) {
    state.Catch.forEach(({ Assign, Output }, index) => {
      fields.push({ field: `Catch[${index}]`, value: members({ Assign, Output }), states: withError });
    });
  }
  return fields;
}

function members(values: Record<string, Json | undefined>): JsonObject {
  return Object.fromEntries(Object.entries(values).filter((entry): entry is [string, Json] => entry[1] !== undefined));
}

function checkField({ field, value, states }: Field, visible: ReadonlySet<string>): string[] {
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).flatMap(([name, inner]) =>
      checkField({ field: `${field}/${name}`, value: inner, states }, visible),
    );
  }
  if (typeof value !== 'string') return [];
  const source = expressionIn(value);
  if (source === null) {
    return value.includes('{%') || value.includes('%}') ? [`${field}: an expression is the whole text`] : [];
  }
  try {
    const found = referencesOf(source);
    return [
      ...[...found.states]
        .filter((member) => !states.includes(member))
        .map((member) => `${field}: $states${member && `.${member}`} is not there`),
      ...[...found.variables]
        .filter((variable) => !visible.has(variable))
        .map((variable) => `${field}: no state assigns $${variable}`),
    ];
  } catch (error) {
    return [`${field}: ${(error as { message?: string }).message}`];
  }
}
