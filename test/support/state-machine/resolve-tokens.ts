import type { Json, JsonObject } from './json.ts';

/** A template as far as state machines are looked for in it. */
export type Template = { Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }> };

/** What stands for a logical id, or for the name of another stack's output. */
export type Rename = (name: string) => string;

const asItIs: Rename = (name) => name;

/**
 * The definitions of a template's state machines by logical id, their tokens resolved to names that a reader knows: a
 * reference to a resource is its logical id, whichever attribute it is of; what comes from another stack is the name of
 * that stack's output. `rename` may give any other value for such a name.
 * @throws Error for a function of CloudFormation that it does not know
 */
export function resolveTokens(template: Template, rename: Rename = asItIs): Record<string, Json> {
  const resolve = tokenResolver(rename);
  const machines = Object.entries(template.Resources).filter(
    ([, { Type }]) => Type === 'AWS::StepFunctions::StateMachine',
  );
  return Object.fromEntries(
    machines.map(([id, { Properties }]) => {
      const { DefinitionString, DefinitionSubstitutions } = Properties ?? {};
      if (typeof DefinitionString !== 'string' && !isObject(DefinitionString as Json)) {
        throw new Error(`${id} has no DefinitionString; where else its definition lies is not looked for.`);
      }
      if (DefinitionSubstitutions !== undefined) throw new Error(`${id} has DefinitionSubstitutions.`);
      return [id, JSON.parse(String(resolve(DefinitionString as Json))) as Json];
    }),
  );
}

/** Resolves any value of a template, as `resolveTokens` does. */
export function tokenResolver(rename: Rename = asItIs): (value: Json) => Json {
  const named = (id: string) => pseudoParameters[id] ?? rename(id);
  function resolve(value: Json): Json {
    if (Array.isArray(value)) return value.map(resolve);
    if (!isObject(value)) return value;
    const [[name, argument] = [], ...more] = Object.entries(value);
    const isCall = more.length === 0 && name !== undefined && (name === 'Ref' || name.startsWith('Fn::'));
    if (!isCall) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
    return call(name, argument as Json);
  }
  function call(name: string, argument: Json): Json {
    if (name === 'Ref') return named(String(argument));
    if (name === 'Fn::GetAtt')
      return named(String(Array.isArray(argument) ? argument[0] : argument).split('.')[0] ?? '');
    if (name === 'Fn::Join') {
      const [separator, parts] = argument as [string, Json[]];
      return parts.map((part) => String(resolve(part))).join(separator);
    }
    if (name === 'Fn::Sub') return substitute(argument);
    if (name === 'Fn::Split') {
      const [separator, text] = argument as [string, Json];
      return String(resolve(text)).split(separator);
    }
    if (name === 'Fn::Select') {
      const [index, list] = argument as [number, Json];
      const parts = resolve(list) as Json[];
      // What stands for an ARN is a name without parts: then the whole is any part of it.
      return parts[Number(index)] ?? parts[0] ?? '';
    }
    if (name === 'Fn::GetStackOutput') return importedName(argument as JsonObject);
    if (name === 'Fn::ImportValue') return named(String(resolve(argument)));
    throw new Error(`${name} is not known here: resolve it too.`);
  }
  function substitute(argument: Json): string {
    const [text, own] = Array.isArray(argument) ? (argument as [string, JsonObject]) : [String(argument), {}];
    return text.replace(/\$\{(!?)([^}]+)\}/g, (_, literal: string, id: string) => {
      if (literal) return `\${${id}}`;
      return own[id] === undefined ? named(id.split('.')[0] ?? id) : String(resolve(own[id]));
    });
  }
  function importedName(argument: JsonObject): string {
    return named(String(argument.OutputName ?? JSON.stringify(argument)));
  }
  return resolve;
}

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-west-1',
  'AWS::AccountId': '123456789012',
  'AWS::URLSuffix': 'amazonaws.com',
};

function isObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
