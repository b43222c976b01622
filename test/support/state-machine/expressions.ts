import jsonata, { type Expression } from 'jsonata';
import { StateError } from './state-error.ts';

/** What states pass on to each other. */
export type Json = null | boolean | number | string | Json[] | JsonObject;
export type JsonObject = { [name: string]: Json };

/** What an expression can name: the variables, and `states` for `$states`. */
export type Names = Readonly<Record<string, Json>> & { states: JsonObject };

/** Whether the value is a JSON object, so neither an array nor `null`. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * A deep copy as JSON carries it over; `undefined` becomes `null`, as a Lambda's missing answer
 * does.
 */
export function asJson(value: unknown): Json {
  return JSON.parse(JSON.stringify(value) ?? 'null') as Json;
}

/**
 * The value of a field: each string in it that is an expression, `{% ... %}`, is evaluated.
 * @throws StateError States.QueryEvaluationError if an expression fails or has no value, which JSON
 * can't say
 */
export async function evaluate(template: Json, names: Names): Promise<Json> {
  if (typeof template === 'string') {
    const [, source] = /^\{%([\s\S]*)%\}$/.exec(template) ?? [];
    if (source !== undefined) return evaluateSource(source.trim(), names);
    if (/\{%|%\}/.test(template)) throw new Error(`An expression is the whole text: ${template}`);
    return template;
  }
  if (Array.isArray(template)) return Promise.all(template.map((item) => evaluate(item, names)));
  if (!isJsonObject(template)) return template;
  const values = await Promise.all(
    Object.entries(template).map(
      async ([name, value]) => [name, await evaluate(value, names)] as const,
    ),
  );
  return Object.fromEntries(values);
}

/** As `evaluate`; the value has to be of this type. */
export async function evaluateAs<T extends string | number | boolean>(
  type: 'string' | 'number' | 'boolean',
  template: Json,
  names: Names,
): Promise<T> {
  const value = await evaluate(template, names);
  if (typeof value === type) return value as T;
  throw new StateError('States.QueryEvaluationError', `${JSON.stringify(value)} is no ${type}.`);
}

async function evaluateSource(source: string, names: Names): Promise<Json> {
  const { expression, variables, statesMembers } = compile(source);
  const unknown = [
    ...variables.filter((name) => !(name in names)),
    ...statesMembers.filter((name) => !(name in names.states)).map((name) => `states.${name}`),
  ];
  if (unknown.length > 0) throw new Error(`${source}: nothing assigns $${unknown.join(', $')}`);
  const failed = (why: string) =>
    new StateError('States.QueryEvaluationError', `The JSONata expression '${source}' ${why}`);
  const value = await expression.evaluate(undefined, { ...names }).catch(({ message }: Error) => {
    throw failed(`threw an error during evaluation. ${message}`);
  });
  if (value === undefined) throw failed('returned nothing (undefined).');
  return asJson(value);
}

type Compiled = { expression: Expression; variables: string[]; statesMembers: string[] };
type Node = { [name: string]: unknown; type?: string; value?: unknown; steps?: Node[] };

const compiled = new Map<string, Compiled>();

/**
 * The functions of JSONata that our expressions call. Step Functions has nearly all: `$eval` it has
 * not.
 */
const functions = ['exists', 'floor', 'max', 'merge', 'min', 'replace', 'string'];

function compile(source: string): Compiled {
  const known = compiled.get(source);
  if (known) return known;
  const expression = jsonata(source);
  const made: Compiled = { expression, variables: [], statesMembers: [] };
  visit(expression.ast(), made, source);
  made.variables = made.variables.filter((name) => !functions.includes(name));
  compiled.set(source, made);
  return made;
}

/** Notes what an expression names. Without an input, a name must be a member of something. */
function visit(value: unknown, found: Compiled, source: string): void {
  if (typeof value !== 'object' || value === null) return;
  const { type, value: name, steps = [] } = value as Node;
  const [first, second] = steps;
  if (type === 'path' && first?.type === 'name') {
    throw new Error(`${source}: begin ${first.value} with $states`);
  }
  if (type === 'path' && first?.value === 'states') found.statesMembers.push(String(second?.value));
  if (type === 'variable') found.variables.push(String(name));
  for (const child of Object.values(value)) visit(child, found, source);
}
