import { describe, expect, it } from '@jest/globals';
import { lookupRequest, programSources, type SampleRequest } from '../../../packages/ui/samples.ts';

const get = lookupRequest('https://api.example/v1/address?postcode=1381AA&huisnummer=9');
const post = { ...get, body: '{\n  "addresses": []\n}', answered: 'results' };
const requests: [name: string, request: SampleRequest][] = [
  ['prints the street', get],
  ['prints a member', { ...get, does: { prints: 'member', member: 'valid' } }],
  ['prints a list', { ...post, does: { prints: 'each', list: 'results', member: 'status' } }],
  ['prints faults', { ...get, does: { prints: 'faults' } }],
];

/** The first words of names with a dot, without those that `own` finds to be its own. */
function wordsUsed(source: string, own: RegExp): Set<string> {
  const code = source.replaceAll(/"[^"]*"|`[^`]*`/g, '""');
  const owned = [...code.matchAll(own)].flatMap(([names]) => names.match(/\w+/g) ?? []);
  const used = [...code.matchAll(/(?<![\w.])([a-z]\w*)\.[A-Za-z]/g)].map(([, name = '']) => name);
  return new Set(used.filter((name) => !owned.includes(name)));
}

describe.each(requests)('the program that %s', (_, request) => {
  const sourceIn = (language: string) =>
    programSources(request).find(({ label }) => label === language)?.source ?? '';

  it('imports in Python what it uses, and nothing else', () => {
    const source = sourceIn('Python');
    const [, imported = ''] = /^import (.+)$/m.exec(source) ?? [];
    const modules = imported.split(', ').map((name) => name.split('.')[0]);
    const code = source.replace(/^import .+$/m, '');
    expect(wordsUsed(code, /\bas \w+|\bfor \w+|^\w+ =/gm)).toEqual(new Set(modules));
  });

  it('imports in Go what it uses, and nothing else', () => {
    const source = sourceIn('Go');
    const [block = '', imported = ''] = /^import \(([^)]+)\)$/m.exec(source) ?? [];
    const packages = [...imported.matchAll(/(\w+)"/g)].map(([, name]) => name);
    const code = source.replace(block, '');
    expect(wordsUsed(code, /\w+(?:, \w+)? :=/g)).toEqual(new Set(packages));
  });
});
