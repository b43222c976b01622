import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { languages } from '../../core/languages.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Which layer may import which: a top folder, or one of the folders of `packages`. */
const mayImport: Record<string, readonly string[]> = {
  core: [],
  'packages/admin/accounts': ['core'],
  loader: ['core'],
  'packages/ui': ['core'],
  'packages/reference': ['core', 'packages/ui'],
  lambdas: ['core', 'packages/ui', 'packages/reference'],
  lib: ['core', 'loader'],
  'packages/form': [],
  'packages/admin': ['core', 'packages/admin/accounts', 'loader', 'lib'],
  portal: ['core', 'loader', 'lib', 'packages/admin', 'packages/ui'],
  local: [
    'core',
    'packages/admin/accounts',
    'loader',
    'lambdas',
    'portal',
    'packages/admin',
    'lib',
  ],
  operator: [
    'core',
    'packages/admin/accounts',
    'packages/ui',
    'loader',
    'lambdas',
    'lib',
    'packages/admin',
    'local',
  ],
  bin: [
    'core',
    'packages/admin/accounts',
    'loader',
    'lambdas',
    'lib',
    'packages/admin',
    'local',
    'portal',
    'operator',
  ],
};
const layers = Object.keys(mayImport);
/** The layer of a path; the longest, as one stands in another. */
const layerOf = (name: string) =>
  layers.filter((layer) => name.startsWith(`${layer}/`)).sort((a, b) => b.length - a.length)[0];
const sources = globSync(`{${layers}}/**/*.ts`, { cwd: root, exclude: ['**/dist/**'] })
  .map(normalize)
  .sort();
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');

/**
 * What a file imports: paths from the root for our own files, names for packages. Types count too.
 */
function importsOf(file: string): string[] {
  const found = [
    ...textOf(file).matchAll(
      /(?:^|\n)\s*(?:import|export)\b[^'"`;]*?from\s*'([^']+)'|\bimport\(\s*'([^']+)'/g,
    ),
  ];
  return found.map(([, from, dynamic]) => {
    const name = from ?? dynamic ?? '';
    return name.startsWith('.') ? relative('.', join(dirname(file), name)) : name;
  });
}

const imports = new Map(sources.map((file) => [file, importsOf(file)]));
const isPackage = (name: string) => !layerOf(name) && !/^(test|tools)\//.test(name);
/**
 * The look that the reference and the portal share: style, scripts, tables, fields, code samples
 * and languages.
 */
const isPage = (name: string) => name.startsWith('packages/ui/');
/** What stacks and their Lambdas agree on: tables, variables, metrics and events by name. */
const isNames = (name: string) =>
  /^core\/(environment|event-types|languages|metrics|tables)\.ts$/.test(name);
const isAws = (name: string) => /^(@aws-|@smithy\/|aws-)/.test(name);

/** What the rest of the product sees of the loader: the list may only become shorter. */
const isFaceOfLoader = (name: string) =>
  [
    'names',
    'load-error',
    'is-running',
    'steps/load-steps',
    'steps/step',
    'dataset/load',
    'addresses/lines',
    'bag/extract-members',
    'guard/load-report',
    'guard/load-counts',
    'storage/storage',
    'storage/stored-loads',
    'storage/stored-register',
    'storage/address-table',
    'storage/lock',
    'storage/open',
    'storage/source',
    'mutations/mutation-lists',
    'storage/s3',
  ].some((file) => name === `loader/${file}.ts`);

/**
 * Files of `core` that decide without a database: what an account or an address is, and what a
 * request gets.
 */
const pure =
  /^core\/(address-form|adres-object|calendar|contract|environment|gemeenten|place-fields|rd-to-etrs89|similar|accounts\/(quota|api-key|account)|addresses\/(address-key|address-input|batch-input|input-faults|parameter-names))\.ts$/;

/** Files of the loader that read, derive and judge, without storage. */
const pureLoader =
  /^loader\/((zip|bag|register|addresses|dataset|guard)\/|mutations\/(mutation-delivery|read-mutations|apply-mutations)\.ts$)/;

/** Each row: the files that it is about, and what they may import. */
const rules: [string, RegExp, (imported: string) => boolean][] = [
  [
    'decisions on accounts and addresses import no AWS, HTTP or storage',
    pure,
    (name) => pure.test(name) || ['zod/mini', 'node:crypto'].includes(name),
  ],
  [
    'what reads a single lookup imports no zod, which every start of the function would load',
    /^core\/(address-form|adres-object|gemeenten|place-fields|addresses\/(address-input|address-store|input-faults|lookup-answer|parameter-names))\.ts$/,
    (name) => !name.startsWith('zod'),
  ],
  [
    'the HTTP layer imports no AWS client',
    /^lambdas\/http\//,
    (name) =>
      /^(core|lambdas\/http)\//.test(name) || (isPackage(name) && !/^@aws-sdk\//.test(name)),
  ],
  [
    'a route imports no AWS client',
    /^lambdas\/[a-z]+\/[a-z]+-route\.ts$/,
    (name) =>
      /^(core|lambdas|packages\/(reference|ui))\//.test(name) ||
      name.startsWith('docs/') ||
      (isPackage(name) && !isAws(name)),
  ],
  [
    'what the portal shares with the reference imports nothing else of it',
    /^packages\/ui\//,
    (name) => name.startsWith('core/') || isPage(name) || isPackage(name),
  ],
  [
    'reading the register and judging a load import no AWS, storage or step',
    pureLoader,
    (name) =>
      pureLoader.test(name) ||
      /^(loader\/[a-z-]+\.ts$|core\/(addresses\/|(adres-object|gemeenten|place-fields)\.ts$))/.test(
        name,
      ) ||
      (isPackage(name) && !isAws(name)),
  ],
  [
    'the rest of the product sees of the loader what it is asked, stores and reports',
    /^(?!loader\/|operator\/explain\/|local\/load\/repair\.ts$)/,
    (name) => !name.startsWith('loader/') || isFaceOfLoader(name),
  ],
  [
    'an explanation and a repair also see the stored register',
    /^(operator\/explain\/|local\/load\/repair\.ts$)/,
    (name) =>
      !/^loader\/(?!bag\/(gemeente-relaties|voorkomen)|mutations\/(read-mutations|apply-mutations|delivery-copies)|register\/(record|stored-form))/.test(
        name,
      ) || isFaceOfLoader(name),
  ],
  [
    'a step knows storage and the register, and no other step',
    /^loader\/(?!steps\/(load-steps|lambda-step)\.ts$)/,
    (name) => !/^loader\/steps\/(?!(step|step-input|lambda-step)\.ts$)/.test(name),
  ],
  [
    // The table says what each step is given and may do, and imports the step itself only when it
    // is run.
    'the stacks import no runtime code but names and the table of steps',
    /^lib\//,
    (name) =>
      /^(lib\/|loader\/(names|steps\/load-steps)\.ts$)/.test(name) ||
      isNames(name) ||
      isPackage(name),
  ],
  [
    'the portal uses what the package for portals exports',
    /^portal\/(?!stack\/|(portal-handler|canary)\.ts$)/,
    (name) =>
      /^(portal\/|packages\/admin\/(index|loads|statements)\.ts$)/.test(name) ||
      isPage(name) ||
      isPackage(name),
  ],
  [
    // The variables and metrics that a stack and its Lambdas agree on, and a client with deadlines,
    // have one owner.
    'the Lambdas of the portal also use what pages share, names of the stacks and the client of the core',
    /^portal\/(portal-handler|canary)\.ts$/,
    (name) =>
      /^(portal\/|packages\/admin\/(index|loads|statements)\.ts$|core\/dynamodb\.ts$)/.test(name) ||
      isNames(name) ||
      isPackage(name) ||
      isPage(name),
  ],
  [
    'the stack of the portal imports no runtime code but names',
    /^portal\/stack\//,
    (name) =>
      /^(portal\/stack\/|lib\/|packages\/admin\/access\.ts$|loader\/names\.ts$)/.test(name) ||
      isNames(name) ||
      isPackage(name),
  ],
  [
    'nothing imports the portal but its local run and the composition of the stacks',
    /^(?!portal\/|local\/portal\.ts$|bin\/constructs\.ts$)/,
    (name) => !name.startsWith('portal/'),
  ],
  [
    'pages of the portal import no AWS client and no storage',
    /^portal\/(pages|request|text)\//,
    (name) =>
      /^(portal|packages)\//.test(name) || isPage(name) || (isPackage(name) && !isAws(name)),
  ],
  ['product code imports no test and no tool', /./, (name) => !/^(test|tools)\//.test(name)],
];

describe('imports', () => {
  it('are found in every layer', () => {
    for (const layer of layers) {
      expect(sources.filter((file) => layerOf(file) === layer)).not.toEqual([]);
    }
    expect(imports.get('lambdas/address/address-route.ts')).toContain('core/contract.ts');
    for (const [, about] of rules) {
      expect(sources.filter((file) => about.test(file)).length).toBeGreaterThan(0);
    }
  });

  it.each(rules)('%s', (_, about, allowed) => {
    const broken = sources
      .filter((file) => about.test(file))
      .flatMap((file) =>
        (imports.get(file) ?? [])
          .filter((name) => !allowed(name))
          .map((name) => `${file} -> ${name}`),
      );
    expect(broken).toEqual([]);
  });

  it('go from one layer to another only where the table allows it', () => {
    const broken = [...imports].flatMap(([file, names]) =>
      names
        .map((name) => [name, layerOf(name)] as const)
        .filter(
          ([, layer]) =>
            layer && layer !== layerOf(file) && !mayImport[layerOf(file) ?? '']?.includes(layer),
        )
        .map(([name]) => name)
        .map((name) => `${file} -> ${name}`),
    );
    expect(broken).toEqual([]);
  });

  it('form no cycle of layers, by the table', () => {
    expect(
      cyclesOf(new Map(Object.entries(mayImport).map(([layer, others]) => [layer, [...others]]))),
    ).toEqual([]);
  });

  it('lead from a Lambda or a stack to every file of the core: what only commands and one machine use is elsewhere', () => {
    const isDeployed = (file: string) =>
      /(^lib\/|-handler\.ts$)/.test(file) || /export const handler\b/.test(textOf(file));
    const reached = new Set<string>();
    const visit = (file: string) => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const next of imports.get(file) ?? []) visit(next);
    };
    for (const file of sources.filter(isDeployed)) visit(file);
    expect(
      sources.filter((file) => /^(core|loader|lambdas)\//.test(file) && !reached.has(file)),
    ).toEqual([]);
  });

  it('of the portal take nothing but types of what most visits do without', () => {
    const values =
      /^import (?!type )[^;]*? from '[./]+packages\/admin\/(?:loads|statements)\.ts';/m;
    const example = `import { once } from 'a';\nimport { get, type Two } from '../packages/admin/loads.ts';`;
    expect(example).toMatch(values);
    const ofPortal = sources.filter((file) => file.startsWith('portal/'));
    expect(ofPortal.filter((file) => values.test(textOf(file)))).toEqual([]);
  });

  it('form no cycle of files', () => {
    expect(cyclesOf(imports)).toEqual([]);
  });

  it.each([
    ['folders', dirname],
    ['top folders', (file: string) => file.slice(0, file.indexOf('/'))],
  ])('form no cycle of %s', (_, folderOf) => {
    const folders = new Map<string, Set<string>>();
    for (const [file, names] of imports) {
      for (const name of names.filter(
        (name) => sources.includes(name) && folderOf(name) !== folderOf(file),
      )) {
        folders.set(folderOf(file), (folders.get(folderOf(file)) ?? new Set()).add(folderOf(name)));
      }
    }
    expect(folders.size).toBeGreaterThan(5);
    expect(
      cyclesOf(new Map([...folders].map(([folder, others]) => [folder, [...others]]))),
    ).toEqual([]);
  });
});

describe('the command line', () => {
  it('starts with no package but the one for its options; a command imports the others when it runs', () => {
    const loaded = new Set<string>();
    function load(name: string): void {
      if (loaded.has(name)) return;
      loaded.add(name);
      if (isPackage(name)) return;
      const values = textOf(name).matchAll(
        /(?:^|\n)(?:import|export)\b(?! type)[^'"`;]*?from\s*'([^']+)'/g,
      );
      for (const [, from = ''] of values) {
        load(from.startsWith('.') ? normalize(relative('.', join(dirname(name), from))) : from);
      }
    }
    load('bin/bag-adres.ts');
    expect(loaded.size).toBeGreaterThan(30);
    const packages = [...loaded].filter((name) => isPackage(name) && !name.startsWith('node:'));
    expect(packages.sort()).toEqual(['commander']);
  });
});

describe('files', () => {
  it('other than the one of the address key write or split no key', () => {
    const splits =
      /\.(?:split|indexOf|lastIndexOf|startsWith|replaceAll)\('#'|\/\^?[^/\n]*\]\)?#\(?\[/;
    const found = sources.filter((file) => splits.test(textOf(file)));
    expect(found).toEqual([]);
  });

  it('have names of their own, so that a name says of what a file is', () => {
    // The texts of the portal and of the reference, in each language.
    const shared = new Set(languages.map((language) => `${language}.ts`));
    const places = [...Map.groupBy(sources, (file) => basename(file))].filter(
      ([name]) => !shared.has(name),
    );
    expect(places.filter(([, files]) => files.length > 1)).toEqual([]);
  });

  it('do more than forward', () => {
    const forwards = (file: string) =>
      /^(\s*(\/\*\*[\s\S]*?\*\/|export\s[^;]*?from\s*'[^']+';))*\s*$/.test(textOf(file));
    // What a package shows of itself is its own list.
    expect(
      sources.filter((file) => !/^packages\/admin\/[^/]+$/.test(file)).filter(forwards),
    ).toEqual([]);
  });
});

describe('tests', () => {
  const tests = globSync('test/**/*.{test,property,fuzz}.ts', { cwd: root }).map(normalize);
  const products = globSync(`{${layers}}/**/*.{ts,js}`, { cwd: root }).map((file) =>
    file.replace(/\.(ts|js)$/, ''),
  );

  it('mirror the tree: each has the name of the file that it tests, with a topic after it where there are several', () => {
    const mirrored = tests.flatMap((test) => {
      const [, name = ''] = /^test\/(.+)\.(?:test|property|fuzz)\.ts$/.exec(test) ?? [];
      return layerOf(name) ? [name] : [];
    });
    expect(mirrored.length).toBeGreaterThan(200);
    const isOf = (name: string) =>
      products.some((file) => name === file || name.startsWith(`${file}-`));
    expect(mirrored.filter((name) => !isOf(name))).toEqual([]);
  });

  it('of more than one file, or of none, are in a folder that says what they test', () => {
    // Rules on the tree, the API as a whole, the service with its real parts, releases, engines of
    // the tests, tools.
    const whole = [
      'architecture',
      'contract',
      'end-to-end',
      'releases',
      'smoke',
      'support',
      'templates',
      'tools',
    ];
    const elsewhere = tests.filter((test) => !layerOf(test.slice('test/'.length)));
    expect([...new Set(elsewhere.map((test) => test.split('/')[1]))].sort()).toEqual(whole);
  });
});

/** Each cycle once, as the files along it. */
function cyclesOf(graph: ReadonlyMap<string, string[]>): string[] {
  const done = new Set<string>();
  const cycles: string[] = [];
  function visit(file: string, path: string[]): void {
    if (path.includes(file)) cycles.push([...path.slice(path.indexOf(file)), file].join(' -> '));
    else if (!done.has(file)) {
      for (const next of graph.get(file) ?? []) visit(next, [...path, file]);
      done.add(file);
    }
  }
  for (const file of graph.keys()) visit(file, []);
  return cycles;
}
