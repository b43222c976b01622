import { readdirSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it, jest } from '@jest/globals';
import { apiCompare, type Diff } from 'api-smart-diff';
import { sweep } from '../support/sweep.ts';

/** As much of an OpenAPI document as the changes below touch. */
type Node = { [member: string | number]: Node };

const docs = new URL('../../docs/', import.meta.url);
const read = (file: string): Node => JSON.parse(readFileSync(new URL(file, docs), 'utf8'));
const version = (file: string) =>
  file
    .replace(/^openapi-|\.json$/g, '')
    .split('.')
    .map(Number);
const byVersion = (a: string, b: string) => compare(version(a), version(b));
const releases = readdirSync(new URL('releases/', docs))
  .filter((file) => /^openapi-.*\.json$/.test(file))
  .sort(byVersion);
const last = releases.at(-1) ?? '';
const released = read(`releases/${last}`);

function compare(
  [major = 0, minor = 0, patch = 0]: number[],
  [a = 0, b = 0, c = 0]: number[],
): number {
  return major - a || minor - b || patch - c;
}

/**
 * The document with its references in place: only where a schema is used does a change of it have a
 * direction.
 */
function inlined({ components, ...document }: Node): Node {
  function walk(value: unknown): unknown {
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== 'object' || value === null) return value;
    if ('$ref' in value) return walk(referred(String(value.$ref)));
    const members = Object.entries(value).filter(
      ([name]) => name !== 'examples' && name !== 'mapping',
    );
    return Object.fromEntries(members.map(([name, member]) => [name, walk(member)]));
  }
  function referred(reference: string): Node {
    const [, kind = '', name = ''] = /^#\/components\/(\w+)\/(\w+)$/.exec(reference) ?? [];
    const found = components?.[kind]?.[name];
    if (!found) throw new Error(`${reference} leads nowhere`);
    return found;
  }
  return walk({
    ...document,
    components: { securitySchemes: components?.securitySchemes },
  }) as Node;
}

/** What is compared at once: up to the content of a response. */
const depth = 6;

function changes(changed: Node): Diff[] {
  // Each time anew: the library changes what it compares.
  const before = inlined(released);
  const after = inlined(changed);
  const paths = unequal(before.paths, after.paths, depth);
  return apiCompare({ ...before, paths: paths[0] }, { ...after, paths: paths[1] }).diffs;
}

/**
 * Both without the members that are equal: the library would take most of its time to find no
 * difference in them.
 */
function unequal(
  one: Node | undefined,
  other: Node | undefined,
  depth: number,
): [Node | undefined, Node | undefined] {
  const isObject = (value: unknown) =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  if (depth === 0 || !one || !other || !isObject(one) || !isObject(other)) return [one, other];
  const left: Node = {};
  const right: Node = {};
  for (const name of new Set([...Object.keys(one), ...Object.keys(other)])) {
    if (JSON.stringify(one[name]) === JSON.stringify(other[name])) continue;
    const [a, b] = unequal(one[name], other[name], depth - 1);
    if (a !== undefined) left[name] = a;
    if (b !== undefined) right[name] = b;
  }
  return [left, right];
}

/**
 * The changes that break a consumer. The library decides, except for three things: it considers a
 * replaced `type`, `const` or `enum` value of a response compatible, and names of operations and
 * the base path descriptions; and it does not know that clients treat an unknown code of a fault
 * like any other fault, and an unknown window like any other window.
 */
function breaking(diffs: Diff[]): string[] {
  return diffs
    .filter(({ type, action, path }) => {
      const isOpen =
        /\.(errors\.items\.(anyOf\.\d+\.)?properties\.code|violated_windows\.items)\.enum\.\d+$/.test(
          path.join('.'),
        );
      if (isOpen && action === 'add') return false;
      const isReplaced = /(^|\.)(type|const|enum\.\d+|operationId)$|^servers\.\d+\.url$/.test(
        path.join('.'),
      );
      return type === 'breaking' || (action === 'replace' && isReplaced);
    })
    .map(({ action, path }) => `${action} ${path.join('.')}`);
}

// The library says so on the console where a rule of its own fails; it then calls the change
// breaking or unclassified.
beforeAll(() => {
  jest.spyOn(console, 'error').mockImplementation(() => undefined);
});

describe('the OpenAPI document', () => {
  const present = read('openapi.json');
  let sinceRelease: Diff[];
  beforeAll(() => {
    sinceRelease = changes(present);
  });

  it('has no breaking change since the last release', () => {
    expect(breaking(sinceRelease)).toEqual([]);
  });

  it('has a higher version than the last release if it differs from it', () => {
    const meant = sinceRelease.filter(({ path }) => path.join('.') !== 'info.version');
    const from = version(last);
    const to = version(String(present.info?.version));
    const added = meant.some(({ type }) => type === 'non-breaking');
    const enough = added ? compare(to.slice(0, 2), from.slice(0, 2)) > 0 : compare(to, from) > 0;
    expect(enough ? [] : meant.map(({ path }) => path.join('.'))).toEqual([]);
  });

  it('is stored for each release, under its own version, within one major version', () => {
    expect(releases.length).toBeGreaterThan(0);
    for (const file of releases) {
      expect(read(`releases/${file}`).info?.version).toBe(version(file).join('.'));
    }
    expect(new Set(releases.map((file) => version(file)[0])).size).toBe(1);
  });

  it('is described in the changelog', () => {
    const changelog = readFileSync(new URL('../CHANGELOG.md', docs), 'utf8');
    const headings = [...changelog.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading);
    const { version: software } = JSON.parse(
      readFileSync(new URL('../package.json', docs), 'utf8'),
    );
    expect(['Unreleased', software]).toContain(headings[0]);
  });
});

const lookUp = (document: Node) => document.paths?.['/address']?.get;
const schema = (document: Node, name: string) => document.components?.schemas?.[name];
const landOf = (required: boolean) => ({
  in: 'query',
  name: 'land',
  required,
  schema: { type: 'string' },
});

/**
 * Each change: the object or the list that it is about, the member (or `+` for another item), and
 * its new value.
 */
type Change = [
  what: string,
  of: (document: Node) => Node | undefined,
  member: string | number,
  value: unknown,
];

const breakingChanges: Change[] = [
  ['a path is removed', (d) => d.paths, '/auth/validate', undefined],
  ['a new parameter is required', (d) => lookUp(d)?.parameters, '+', landOf(true)],
  [
    'a member has another type',
    (d) => schema(d, 'Place')?.properties,
    'straat',
    { type: 'integer' },
  ],
  [
    'a problem has another type',
    (d) => schema(d, 'QuotaExceeded')?.properties?.type,
    'const',
    '/problems/too-many',
  ],
  [
    'an outcome has another name',
    (d) => schema(d, 'AddressFound')?.properties?.status,
    'const',
    'found',
  ],
  ['a status is removed', (d) => lookUp(d)?.responses, '429', undefined],
  [
    'the document itself needs a key',
    (d) => d.paths?.['/openapi.json']?.get,
    'security',
    [{ apiKey: [] }],
  ],
  ['the path has another version', (d) => d.servers?.[0], 'url', '/v2'],
  ['an operation has another name', lookUp, 'operationId', 'lookup'],
];

const compatibleChanges: Change[] = [
  ['a 422 has one more code', (d) => schema(d, 'InputFault')?.properties?.code?.enum, '+', 'odd'],
  ['a member is added', (d) => schema(d, 'Place')?.properties, 'provincie', { type: 'string' }],
  ['an optional parameter is added', (d) => lookUp(d)?.parameters, '+', landOf(false)],
  [
    'a header is added',
    (d) => lookUp(d)?.responses?.['200']?.headers,
    'Link',
    { schema: { type: 'string' } },
  ],
  ['words change', (d) => schema(d, 'Place'), 'description', 'Other words'],
];

/** What the comparison reports of the last release with one change. */
function changesBy([what, of, member, value]: Change): Diff[] {
  const document = structuredClone(released);
  const target = of(document);
  if (!target) throw new Error(`the document has no place where ${what}`);
  if (value === undefined) delete target[member];
  else {
    target[member === '+' ? Object.keys(target).length : member] = value as Node;
  }
  return changes(document);
}

describe('the comparison with the last release', () => {
  it.each(sweep(breakingChanges, 3))('reports as breaking that %s', (...change) => {
    expect(breaking(changesBy(change))).not.toEqual([]);
  });

  it.each(sweep(compatibleChanges, 2))('reports as compatible that %s', (...change) => {
    const diffs = changesBy(change);
    expect(diffs).not.toEqual([]);
    expect(breaking(diffs)).toEqual([]);
  });
});
