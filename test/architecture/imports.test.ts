import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sources = globSync('{bin,lib,lambdas,loader,local}/**/*.ts', { cwd: root }).map(normalize).sort();

/** What a file imports: paths from the root for our own files, names for packages. Types count too. */
function importsOf(file: string): string[] {
  const source = readFileSync(join(root, file), 'utf8');
  const found = [...source.matchAll(/(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'/g)];
  return found.map(([, from, dynamic]) => {
    const name = from ?? dynamic ?? '';
    return name.startsWith('.') ? relative('.', join(dirname(file), name)) : name;
  });
}

const imports = new Map(sources.map((file) => [file, importsOf(file)]));
const isPackage = (name: string) => !/^(bin|lib|lambdas|loader|local|test)\//.test(name);
const isAws = (name: string) => /^(@aws-|@smithy\/|aws-)/.test(name);

/** Each row: the files it is about, and what they may import. */
const rules: [string, RegExp, (imported: string) => boolean][] = [
  [
    'the domain imports nothing outside itself but schemas and node:crypto',
    /^lambdas\/shared\/domain\//,
    (name) => /^lambdas\/shared\/(domain|contract)\//.test(name) || ['zod/mini', 'node:crypto'].includes(name),
  ],
  [
    'the HTTP layer imports the domain, the contract and no AWS client',
    /^lambdas\/shared\/http\//,
    (name) =>
      /^lambdas\/shared\/((domain|http|contract)\/|metric-names\.ts)/.test(name) ||
      (isPackage(name) && !/^@aws-sdk\//.test(name)),
  ],
  [
    'the store imports the domain, and nothing of HTTP',
    /^lambdas\/shared\/store\//,
    (name) => /^lambdas\/shared\/((domain|store)\/|tables\.ts)/.test(name) || isPackage(name),
  ],
  [
    'a route imports HTTP and the domain, and no store',
    /^lambdas\/[a-z]+\/route\.ts$/,
    (name) => /^lambdas\/(shared\/(domain|http|contract)|(?!shared)[a-z]+)\//.test(name) || name === '@middy/core',
  ],
  [
    'reading the register knows no AWS, no storage and no step',
    /^loader\/(bag|pipeline|dataset)\//,
    (name) =>
      /^(loader\/(bag|pipeline|dataset|progress)|lambdas\/shared\/domain\/)/.test(name) ||
      (isPackage(name) && !isAws(name)),
  ],
  [
    'the stacks import no runtime code but names',
    /^lib\//,
    (name) => /^(lib\/|lambdas\/shared\/(tables|metric-names)\.ts$|loader\/names\.ts$)/.test(name) || isPackage(name),
  ],
  [
    'what is deployed imports nothing of the command line, the stacks or the local run',
    /^(lambdas|loader)\//,
    (name) => !/^(bin|lib|local|test)\//.test(name),
  ],
  ['nothing imports a test', /./, (name) => !name.startsWith('test/')],
];

describe('the imports', () => {
  it('are seen: every room has files, and they import each other', () => {
    for (const room of ['bin', 'lib', 'lambdas', 'loader', 'local']) {
      expect(sources.filter((file) => file.startsWith(`${room}/`)).length).toBeGreaterThan(0);
    }
    expect(imports.get('lambdas/address/route.ts')).toContain('lambdas/shared/domain/lookup.ts');
    for (const [, about] of rules) expect(sources.filter((file) => about.test(file)).length).toBeGreaterThan(0);
  });

  it.each(rules)('%s', (_, about, allowed) => {
    const broken = sources
      .filter((file) => about.test(file))
      .flatMap((file) =>
        (imports.get(file) ?? []).filter((name) => !allowed(name)).map((name) => `${file} -> ${name}`),
      );
    expect(broken).toEqual([]);
  });

  it('make no circle', () => {
    const done = new Set<string>();
    const circles: string[] = [];
    function visit(file: string, path: string[]): void {
      if (path.includes(file)) circles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
      else if (!done.has(file)) {
        for (const next of imports.get(file) ?? []) visit(next, [...path, file]);
        done.add(file);
      }
    }
    for (const file of sources) visit(file, []);
    expect(circles).toEqual([]);
  });
});
