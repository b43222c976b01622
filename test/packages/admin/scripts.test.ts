import { globSync, readFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import * as admin from 'bag-adres-admin';
import { packageScripts } from '../../../packages/admin/scripts.ts';

const root = join(import.meta.dirname, '../../..');
const read = (file: string) => readFileSync(join(root, file), 'utf8');
const manifest = JSON.parse(read('packages/admin/package.json'));
const ours = JSON.parse(read('package.json'));

let scripts: Record<string, string>;

/**
 * The packages that a script imports when it is loaded, also by the scripts that it shares with
 * others.
 */
function importsOf(script: string): string[] {
  return [
    ...(scripts[script] ?? '').matchAll(/^(?:import|export) (?:[^'"]*? from )?["']([^"']+)["']/gm),
  ]
    .flatMap(([, name = '']) => (name.startsWith('./') ? importsOf(name.slice(2)) : name))
    .filter((name) => !name.startsWith('node:') && !builtinModules.includes(name))
    .map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? '')
    .filter((name, at, all) => all.indexOf(name) === at)
    .sort();
}

describe('the package bag-adres-admin', () => {
  beforeAll(async () => {
    scripts = await packageScripts();
  });

  it('imports the AWS SDK and nothing of CDK, Redoc or the rest of this project', () => {
    const shared = Object.keys(scripts).filter((name) => /^shared-\w+\.js$/.test(name));
    expect(shared.length).toBeGreaterThan(0);
    expect(importsOf('index.js')).toEqual(['@aws-sdk/lib-dynamodb']);
    const statements = ['@aws-sdk/client-s3', '@aws-sdk/lib-dynamodb'];
    expect(importsOf('loads.js')).toEqual([...statements, '@aws-sdk/client-sfn'].sort());
    expect(importsOf('statements.js')).toEqual(statements);
    expect(importsOf('access.js')).toEqual(['aws-cdk-lib', 'constructs']);
  });

  it('declares its imports as peer dependencies, with a range that includes our own versions', () => {
    const imported = [...new Set(Object.keys(scripts).flatMap(importsOf))].sort();
    expect(Object.keys(manifest.peerDependencies).sort()).toEqual(imported);
    expect(manifest.dependencies).toBeUndefined();
    for (const [name, range] of Object.entries<string>(manifest.peerDependencies)) {
      const lowest = range.slice(1);
      const own = ours.dependencies[name] as string;
      expect(range).toMatch(/^\^\d+\.\d+\.\d+$/);
      expect(own.split('.')[0]).toBe(lowest.split('.')[0]);
      expect(own.localeCompare(lowest, 'en', { numeric: true })).toBeGreaterThanOrEqual(0);
    }
  });

  it('is plain JavaScript, because Node does not strip types under node_modules', () => {
    const names = ['index', 'loads', 'statements', 'access'];
    const own = Object.keys(scripts).filter((name) => !name.startsWith('shared-'));
    expect(own.sort()).toEqual(names.flatMap((name) => [`${name}.cjs`, `${name}.js`]).sort());
    const { './package.json': _, ...exports } = manifest.exports;
    const exported = names.map((name) => {
      const file = (types: string, script: string) => ({
        types: `./dist/${name}.${types}`,
        default: `./dist/${name}.${script}`,
      });
      return [
        name === 'index' ? '.' : `./${name}`,
        { import: file('d.ts', 'js'), require: file('d.cts', 'cjs') },
      ];
    });
    expect(exports).toEqual(Object.fromEntries(exported));
  });

  it('is the same as CommonJS, of which each part requires the others as CommonJS', () => {
    for (const [name, script] of Object.entries(scripts).filter(([name]) =>
      name.endsWith('.cjs'),
    )) {
      expect([name, script]).toEqual([name, expect.not.stringMatching(/^(import|export) /m)]);
      const required = [...script.matchAll(/require\("\.\/([^"]+)"\)/g)].map(
        ([, path = '']) => path,
      );
      expect(required.filter((path) => scripts[path] === undefined)).toEqual([]);
      expect(required.filter((path) => !path.endsWith('.cjs'))).toEqual([]);
    }
  });

  it('has the version of the software, whose changelog it shares', () => {
    expect(manifest.version).toBe(JSON.parse(readFileSync('package.json', 'utf8')).version);
  });

  it('exports what portals call, and allows no deep imports', () => {
    expect(Object.keys(admin).sort()).toEqual([
      'AdminError',
      'allPages',
      'announceWith',
      'changeEventTypes',
      'createAdmin',
      'dutchTime',
      'isAdminError',
      'isPerson',
      'labelAfter',
      'longWindowNames',
      'maxLimit',
      'pagesOf',
      'roles',
      'windowNames',
    ]);
    expect(ours.exports).toBeUndefined();
  });

  it('refuses a client of another copy of the AWS SDK before anything is written', () => {
    const client = { send: () => Promise.reject(new Error('sent')) } as never;
    const create = () => admin.createAdmin({ client, table: 'accounts' });
    expect(create).toThrow(/DynamoDBDocumentClient.from\(\).*two copies are installed/);
  });
});

describe('the page for portals', () => {
  const page = read('docs/portal.md');

  it('describes every call of the package', () => {
    const files = ['accounts/admin-error', 'monthly-statements', 'load-approvals'];
    const source = files.map((file) => read(`packages/admin/${file}.ts`)).join('\n');
    const refusals = [...source.matchAll(/^ {2}'(\w+)\.(\w+)': (.+);$/gm)];
    expect(refusals.length).toBeGreaterThan(20);
    const rows = page.split('\n').filter((line) => line.startsWith('| `'));
    const described = ([, group, call]: RegExpExecArray) =>
      rows.some((line) => line.includes(`\`${group}.${call}(`));
    expect(refusals.filter((refusal) => !described(refusal)).map(([line]) => line)).toEqual([]);
  });

  it('shows all imports of the package', () => {
    const pages = globSync(['docs/*.md', 'docs/examples/portal/*', 'packages/admin/README.md'], {
      cwd: root,
    });
    const imported = pages.flatMap((file) =>
      [...read(file).matchAll(/from '(bag-adres-admin[^']*)'/g)].map(([, name]) => name),
    );
    const paths = ['', '/access', '/loads', '/statements'];
    expect(new Set(imported)).toEqual(new Set(paths.map((path) => `bag-adres-admin${path}`)));
  });
});
