import jsonata, { type Expression } from 'jsonata';
import { NotInterpretedError, StateError } from './errors.ts';
import { addStepFunctions } from './functions.ts';
import { isJsonObject, type Json, type JsonObject } from './json.ts';

/** What an expression can name: the variables, and `states` for `$states`. */
export type Names = Readonly<Record<string, Json>>;

/** The JSONata in `{% … %}`, or `null` where the text is just text. */
export function expressionIn(text: string): string | null {
  return /^\{%([\s\S]*)%\}$/.exec(text)?.[1]?.trim() ?? null;
}

/**
 * The value of a field: every string of it that is an expression is evaluated. An expression that gives nothing is an
 * error, as JSON can't say `undefined`; inside an object that an expression makes, the member is left out.
 * @throws StateError States.QueryEvaluationError
 */
export async function evaluate(template: Json, names: Names, field: string): Promise<Json> {
  if (typeof template === 'string') {
    const source = expressionIn(template);
    return source === null ? template : evaluateSource(source, names, field);
  }
  if (Array.isArray(template)) {
    const items: Json[] = [];
    for (const [index, item] of template.entries()) items.push(await evaluate(item, names, `${field}[${index}]`));
    return items;
  }
  if (!isJsonObject(template)) return template;
  const object: JsonObject = {};
  for (const [name, value] of Object.entries(template)) {
    object[name] = await evaluate(value, names, `${field}/${name}`);
  }
  return object;
}

/** As `evaluate`, and the value has to be a whole number from `least` to `most`. */
export async function evaluateInteger(
  template: Json,
  names: Names,
  field: string,
  [least, most]: readonly [number, number],
): Promise<number> {
  const value = await evaluate(template, names, field);
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  throw queryError(`${JSON.stringify(value)} for the field '${field}' is no whole number from ${least} to ${most}.`);
}

/** As `evaluate`, and the value has to be a text. */
export async function evaluateText(template: Json, names: Names, field: string): Promise<string> {
  const value = await evaluate(template, names, field);
  if (typeof value === 'string') return value;
  throw queryError(`${JSON.stringify(value)} for the field '${field}' is no text.`);
}

/** What a state fails with when an expression can't be evaluated. */
export function queryError(reason: string): StateError {
  return new StateError('States.QueryEvaluationError', reason);
}

const compiled = new Map<string, Expression>();

function compile(source: string): Expression {
  let expression = compiled.get(source);
  if (!expression) {
    expression = jsonata(source);
    addStepFunctions(expression);
    compiled.set(source, expression);
  }
  return expression;
}

async function evaluateSource(source: string, names: Names, field: string): Promise<Json> {
  const about = `The JSONata expression '${source}' specified for the field '${field}'`;
  let value: unknown;
  try {
    value = await compile(source).evaluate(nothingAround, { ...names });
    if (value === nothingAround) throw unqualified('$');
    if (isFunction(value)) throw new Error('a function is no JSON');
    value = JSON.stringify(value);
  } catch (error) {
    if (error instanceof NotInterpretedError) throw error;
    const { message = String(error) } = error as { message?: string };
    throw queryError(`${about} threw an error during evaluation. ${message}`);
  }
  if (value === undefined) throw queryError(`${about} returned nothing (undefined).`);
  return JSON.parse(value as string) as Json;
}

function isFunction(value: unknown): boolean {
  return typeof value === 'function' || (value as { _jsonata_lambda?: boolean } | undefined)?._jsonata_lambda === true;
}

/** What JSONata itself asks of any value. */
const internals = new Set(['then', 'sequence', 'keepSingleton', 'cons', 'tupleStream', 'outerWrapper', 'length']);

/**
 * Stands where an expression has its input elsewhere: Step Functions has none, so a name without `$states` or a
 * variable before it is a mistake, and the service refuses the definition.
 */
const nothingAround = new Proxy(
  {},
  {
    get(_, name) {
      if (typeof name === 'symbol' || internals.has(name) || name.startsWith('_jsonata')) return undefined;
      throw unqualified(name === 'toJSON' ? '$' : name);
    },
    ownKeys() {
      throw unqualified('$');
    },
  },
);

function unqualified(name: string): NotInterpretedError {
  return new NotInterpretedError([`\`${name}\` has nothing to look at: begin with $states or a variable`]);
}
