import jsonata from 'jsonata';
import { stepFunctions } from './functions.ts';

/** What an expression names from outside itself: variables, and the members of `$states`. */
export type References = { variables: Set<string>; states: Set<string> };

/** The functions of JSONata 2.0.6 that Step Functions has; `$eval` it has not. */
const functions = new Set([
  ...Object.keys(stepFunctions).filter((name) => name !== 'eval'),
  ...'abs append assert average base64decode base64encode boolean ceil clone contains count decodeUrl'.split(' '),
  ...'decodeUrlComponent distinct each encodeUrl encodeUrlComponent error exists filter floor foldLeft'.split(' '),
  ...'formatBase formatInteger formatNumber fromMillis join keys length lookup lowercase map match max'.split(' '),
  ...'merge millis min not now number pad parseInteger power reduce replace reverse round shuffle sift'.split(' '),
  ...'single sort split spread sqrt string substring substringAfter substringBefore sum toMillis trim type'.split(' '),
  ...'uppercase zip'.split(' '),
]);

type Node = { [name: string]: unknown; type?: string; value?: unknown };

/** Parses the expression and tells what it names. @throws the parser's error, with its `message` */
export function referencesOf(source: string): References {
  const found: References = { variables: new Set(), states: new Set() };
  const own = new Set<string>();
  visit(jsonata(source).ast(), found, own);
  for (const name of [...found.variables]) if (own.has(name) || functions.has(name)) found.variables.delete(name);
  return found;
}

function visit(value: unknown, found: References, own: Set<string>): void {
  if (Array.isArray(value)) for (const item of value) visit(item, found, own);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
  const node = value as Node;
  if (node.type === 'bind') own.add(String((node.lhs as Node).value));
  if (node.type === 'lambda') for (const argument of node.arguments as Node[]) own.add(String(argument.value));
  if (typeof node.focus === 'string') own.add(node.focus);
  if (typeof node.index === 'string') own.add(node.index);
  if (node.type === 'index') own.add(String(node.value));
  if (node.type === 'path') {
    const [first, second] = node.steps as Node[];
    if (first?.type === 'variable' && first.value === 'states') {
      found.states.add(second?.type === 'name' ? String(second.value) : '');
      for (const step of (node.steps as Node[]).slice(1)) visit(step, found, own);
      for (const part of [first.predicate, first.stages, node.group]) visit(part, found, own);
      return;
    }
  }
  if (node.type === 'variable' && typeof node.value === 'string' && node.value !== '') {
    if (node.value === 'states') found.states.add('');
    else found.variables.add(node.value);
  }
  for (const child of Object.values(node)) visit(child, found, own);
}
