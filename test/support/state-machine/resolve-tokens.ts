import type { Json, JsonObject } from './expressions.ts';

/** A template as far as it is read here. */
export type Template = {
  Resources: Record<string, { Type: string; Properties?: Record<string, unknown> }>;
};

/**
 * Resolves any value of a template, its tokens to names that a reader knows: a reference to a
 * resource is its logical id, whichever attribute it is of; what comes from another stack is the
 * name of that stack's output. `rename` may give any other value for such a name.
 * @throws Error for a function of CloudFormation that it does not know
 */
export function tokenResolver(rename: (name: string) => string): (value: unknown) => Json {
  const named = (id: string) => pseudoParameters[id] ?? rename(id);
  function resolve(value: unknown): Json {
    if (Array.isArray(value)) return value.map(resolve);
    if (typeof value !== 'object' || value === null) return value as Json;
    const [[name = '', argument] = [], ...more] = Object.entries(value);
    const isCall = more.length === 0 && (name === 'Ref' || name.startsWith('Fn::'));
    if (isCall) return call(name, argument);
    return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, resolve(inner)]));
  }
  function call(name: string, argument: unknown): Json {
    if (name === 'Ref') return named(String(argument));
    if (name === 'Fn::GetAtt') return named(String((argument as string[])[0]));
    if (name === 'Fn::GetStackOutput') return named(String((argument as JsonObject).OutputName));
    const [first, second] = argument as [string, unknown];
    if (name === 'Fn::Join') {
      return (second as unknown[]).map((part) => String(resolve(part))).join(first);
    }
    if (name === 'Fn::Split') return String(resolve(second)).split(first);
    if (name === 'Fn::Select') {
      const parts = resolve(second) as Json[];
      // What stands for an ARN is a name without parts: then the whole is any part of it.
      return parts[Number(first)] ?? parts[0] ?? '';
    }
    throw new Error(`${name} is not known here: resolve it too.`);
  }
  return resolve;
}

const pseudoParameters: Readonly<Record<string, string>> = {
  'AWS::Partition': 'aws',
  'AWS::Region': 'eu-west-1',
  'AWS::AccountId': '123456789012',
  'AWS::URLSuffix': 'amazonaws.com',
};
