/**
 * Builds the folder that becomes the npm package `bag-adres`: this repository compiled, with the
 * bundles of its Lambdas.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { toolPath } from '../../.ci/tools/installed.ts';
import { pinnedVersions } from '../../lib/config/deployment.ts';
import { writeBundle } from '../../lib/shared/bundle.ts';
import { bundles } from '../../lib/shared/bundles.ts';
import { configInputDeclaration, configJsonSchema } from './config-types.ts';
import { withoutDeadLinks } from './installed-docs.ts';

const root = resolve(import.meta.dirname, '../..');

/** What is compiled, with all that it imports: the command line, the app and the constructs. */
const entries = ['bin/bag-adres.ts', 'bin/app.ts', 'bin/constructs.ts'];

/** The oldest Node on which the package runs: `commander` needs it. A clone has one of its own. */
export const packageNode = '22.12';

/**
 * The oldest CDK that the stacks can be made with: an app has one copy of it, its own. Older ones
 * refuse the ids of rules that `acknowledge` writes.
 */
export const oldestCdk: Readonly<Record<string, string>> = {
  'aws-cdk-lib': '2.269.0',
  constructs: '10.5.0',
};

/** What is copied as it is. */
const copied = ['bin/installed.js', 'CHANGELOG.md', 'LICENSE', 'SECURITY.md', 'docs'];

/**
 * Loaded only by what a release does not have: the rules for templates, which its tests have
 * checked, and bundling.
 */
const notInstalled = new Set(['cdk-nag', 'esbuild']);

/** A file of the package with its SHA-256, or a bundle with one SHA-256 of all its files. */
export type Hashes = Readonly<Record<string, string>>;

/** Where `buildPackage` puts the source maps of the bundles. */
export const sourceMapsOf = (folder: string) => `${folder}-source-maps`;

/**
 * Writes the package to `folder`, which it empties first. Returns the hashes of the bundles, by
 * name.
 */
export async function buildPackage(folder: string, version: string): Promise<Hashes> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  compile(folder, await toolPath('typescript/bin/tsc'));
  documentProps(join(folder, 'lib/config/config-schema.d.ts'));
  for (const path of copied) cpSync(join(root, path), join(folder, path), { recursive: true });
  const hashes = writeBundles(join(folder, 'bundles'), sourceMapsOf(folder));
  const write = (file: string, text: string) => writeFileSync(join(folder, file), text);
  write('release.json', json({ version, bundles: hashes }));
  write('config.schema.json', json(configJsonSchema()));
  write('package.json', json(manifest(version, importedBy(folder))));
  const readme = readFileSync(join(import.meta.dirname, 'README.md'), 'utf8');
  write('README.md', readme.replaceAll('](../../', ']('));
  const has = (path: string) => existsSync(join(folder, path));
  for (const page of globSync('**/*.md', { cwd: folder })) {
    write(page, withoutDeadLinks(page, readFileSync(join(folder, page), 'utf8'), has));
  }
  return hashes;
}

/**
 * Compiles the entries with the compiler `tsc`, file by file, so that paths between files are the
 * same as here.
 */
function compile(folder: string, tsc: string): void {
  const project = `${folder}-tsconfig.json`;
  const compilerOptions = {
    noEmit: false,
    // It would not write again what it wrote last time, into a folder that is empty now.
    incremental: false,
    tsBuildInfoFile: null,
    declaration: true,
    rewriteRelativeImportExtensions: true,
    // The oldest Node of the package.
    target: 'es2023',
    rootDir: root,
    outDir: folder,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  const files = entries.map((entry) => join(root, entry));
  writeFileSync(
    project,
    json({ extends: join(root, 'tsconfig.json'), compilerOptions, files, include: [] }),
  );
  execFileSync(process.execPath, [tsc, '--project', project], { stdio: 'inherit' });
  rmSync(project);
  for (const file of globSync('**/*.d.ts', { cwd: folder })) {
    const path = join(folder, file);
    writeFileSync(
      path,
      readFileSync(path, 'utf8').replaceAll(/(['"]\.{1,2}\/[^'"]*)\.ts(['"])/g, '$1.js$2'),
    );
  }
}

/**
 * Gives the props the documentation of each field, which the type that is derived from the schema
 * does not have.
 */
function documentProps(file: string): void {
  const derived = 'export type ConfigInput = z.input<typeof configSchema>;';
  const text = readFileSync(file, 'utf8');
  if (!text.includes(derived)) {
    throw new Error(`${file} has no ConfigInput: correct what documentProps looks for.`);
  }
  writeFileSync(
    file,
    text.replace(derived, () => configInputDeclaration()),
  );
}

/** Writes the bundles, and their source maps to a folder of their own. */
function writeBundles(folder: string, sourceMaps: string): Hashes {
  const hashes: Record<string, string> = {};
  for (const [name, source] of Object.entries(bundles)) {
    const to = join(folder, name);
    mkdirSync(to, { recursive: true });
    writeBundle(name, source, to);
    hashes[name] = hashOf(to);
  }
  // Stack traces need them; they are larger than the rest of the package, so they go beside it.
  rmSync(sourceMaps, { recursive: true, force: true });
  renameSync(join(folder, 'source-maps'), sourceMaps);
  return hashes;
}

function hashOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(folder, join(parentPath, name)))
    .sort()) {
    hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  }
  return hash.digest('hex');
}

/** The packages that the compiled files import. */
function importedBy(folder: string): string[] {
  const names = globSync('**/*.js', { cwd: folder, exclude: ['bundles/**', 'docs/**'] }).flatMap(
    (file) =>
      [
        ...readFileSync(join(folder, file), 'utf8').matchAll(
          /\b(?:from |import\()'((?:@[^/']+\/)?[^./'][^/']*)/g,
        ),
      ].map(([, name = '']) => name),
  );
  return [...new Set(names)]
    .filter((name) => !name.startsWith('node:') && !notInstalled.has(name))
    .sort();
}

/** The manifest of the package: the versions are those that are tested here. */
function manifest(version: string, imported: readonly string[]): object {
  const own = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const versions: Record<string, string> = { ...own.devDependencies, ...own.dependencies };
  const unknown = imported.filter((name) => versions[name] === undefined);
  if (unknown.length > 0) {
    throw new Error(`Not in package.json: ${unknown.join(', ')}. Install what is imported.`);
  }
  const versionsOf = (names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, versions[name]]));
  return {
    name: own.name,
    version,
    description: own.description,
    keywords: ['bag', 'postcode', 'address', 'netherlands', 'aws-cdk'],
    license: own.license,
    type: 'module',
    engines: { node: `>=${packageNode}` },
    bin: { 'bag-adres': 'bin/installed.js' },
    exports: {
      '.': { types: './bin/constructs.d.ts', default: './bin/constructs.js' },
      './config.schema.json': './config.schema.json',
      './package.json': './package.json',
    },
    dependencies: versionsOf(imported.filter((name) => !(name in oldestCdk))),
    peerDependencies: Object.fromEntries(
      Object.entries(oldestCdk).map(([name, oldest]) => [name, `^${oldest}`]),
    ),
    // What this release was tested with, which `init` pins.
    devDependencies: {
      ...versionsOf(Object.keys(oldestCdk)),
      'aws-cdk': pinnedVersions()['aws-cdk'],
    },
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
