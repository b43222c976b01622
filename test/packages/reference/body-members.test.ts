import { describe, expect, it } from '@jest/globals';
import { availableIncludes } from '../../../core/place-fields.ts';
import type { BodyMember, Schema } from '../../../packages/reference/body-members.ts';
import { BodyMembers } from '../../../packages/reference/body-members.ts';
import { OpenApi } from '../../../packages/reference/openapi-document.ts';

const api = new OpenApi(availableIncludes(true));

/** Every member by its path, an item of a list by that of the list. */
function pathsOf(members: readonly BodyMember[], before = ''): string[] {
  return members.flatMap(({ name, members: inner }) => {
    const path = before + name;
    return [path, ...pathsOf(inner, `${path}.`)];
  });
}

/** The paths that a value has. */
function pathsIn(value: unknown, before = ''): string[] {
  if (typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value)) return value.flatMap((item) => pathsIn(item, before));
  return Object.entries(value).flatMap(([name, inner]) => [
    before + name,
    ...pathsIn(inner, `${before}${name}.`),
  ]);
}

describe('the members that the reference shows', () => {
  it.each([
    ['lookUpAddress', '200', api.answerMembers('lookUpAddress')],
    ['lookUpAddresses', '200', api.answerMembers('lookUpAddresses')],
    ['validateKey', '200', api.answerMembers('validateKey')],
    ['lookUpAddress', '422', api.problemMembers()],
    ['lookUpAddresses', '422', api.problemMembers()],
    ['lookUpAddress', '429', api.problemMembers()],
  ])('include all that the examples of %s have in a %s', (operation, status, members) => {
    const examples = Object.values(api.responseExamples(operation, status));
    const used = new Set(examples.flatMap(({ value }) => pathsIn(value)));
    expect(used.size).toBeGreaterThan(4);
    const shown = new Set(pathsOf(members));
    expect([...used].filter((path) => !shown.has(path))).toEqual([]);
  });

  it('are those of the objects, however deep, without what an operator has not turned on', () => {
    const paths = (available: ReturnType<typeof availableIncludes>) =>
      pathsOf(new OpenApi(available).answerMembers('lookUpAddress'));
    expect(paths(availableIncludes(true))).toContain('candidates.objecten.locatie.lat');
    expect(paths(availableIncludes(false)).filter((path) => path.includes('objecten'))).toEqual([]);
  });
});

describe('members', () => {
  const text: Schema = { type: 'string' };
  const schemas: Record<string, Schema> = {
    Full: {
      properties: {
        kind: { const: 'full', enum: ['full'], type: 'string' },
        place: { $ref: '#/Place' },
        rest: { type: 'array', items: { anyOf: [text, { type: 'null' }] }, description: 'More.' },
      },
      required: ['kind', 'place'],
    },
    Empty: {
      properties: {
        kind: { const: 'empty', enum: ['empty'], type: 'string' },
        place: { type: 'null' },
        rest: { type: 'array', items: text, description: 'Always.' },
      },
      required: ['kind', 'place', 'rest'],
    },
    Either: { oneOf: [{ $ref: '#/Full' }, { $ref: '#/Empty' }] },
    Place: {
      properties: {
        town: text,
        code: { enum: [...'abcdefg'], type: 'string', description: 'Each.' },
      },
      description: 'A place.',
      type: 'object',
      required: ['town', 'code'],
    },
  };
  const shown = new BodyMembers(schemas).of([{ type: 'array', items: { $ref: '#/Either' } }]);

  it('have every type that a value can be, as TypeScript writes it, null last', () => {
    expect(shown.map(({ name, type }) => [name, type])).toEqual([
      ['kind', '"full" | "empty"'],
      ['place', 'object | null'],
      ['rest', '(string | null)[] | string[]'],
    ]);
  });

  it('are optional unless every object has them', () => {
    expect(shown.map(({ isOptional }) => isOptional)).toEqual([false, false, true]);
  });

  it('say for which outcome a text holds that does not hold for all', () => {
    expect(shown.flatMap(({ meanings }) => meanings)).toEqual([
      { key: 'Place', text: 'A place.', only: ['full'] },
      { key: 'Full.rest', text: 'More.', only: ['full'] },
      { key: 'Empty.rest', text: 'Always.', only: ['empty'] },
    ]);
  });

  it('list no values that are too many, nor the text that explains each', () => {
    expect(shown[1]?.members).toEqual([
      { name: 'town', type: 'string', isOptional: false, meanings: [], members: [] },
      { name: 'code', type: 'string', isOptional: false, meanings: [], members: [] },
    ]);
  });

  it('fail for a schema that the document does not have', () => {
    expect(() => new BodyMembers({}).of([{ $ref: '#/components/schemas/Lost' }])).toThrow(
      'the OpenAPI document has no schema Lost',
    );
  });
});
