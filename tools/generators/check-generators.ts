/**
 * Generates a client with each generator of `generators.ts`, compiles it under `strict` beside its
 * example, and runs it against the service for every outcome: `npm run check:generators`. The table
 * in docs/compatibility.md must be what it reports. Without the npm registry and its cache it
 * checks nothing, and says so.
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import '../../test/support/quiet.js';
import { toolPath } from '../../.ci/tools/installed.ts';
import type { HttpService } from '../../test/support/http-service.ts';
import { installTools } from '../../test/support/install-tools.ts';
import { run } from '../package/checks.ts';
import { generators } from './generators.ts';
import type { Program } from './lookups.ts';

const root = resolve(import.meta.dirname, '../..');
const examples = join(root, 'docs/examples/generated-client');
const page = join(root, 'docs/compatibility.md');
const manifest = join(import.meta.dirname, 'package.json');
/** Beside what npm installs, so that `git status`, the tests and the linters don't see it. */
const folder = join(root, 'node_modules/.cache/generators');
const versions: Record<string, string> = JSON.parse(readFileSync(manifest, 'utf8')).devDependencies;

/**
 * Lays out the example of a generator with the client that its first line generates; returns the
 * folder.
 */
async function generate(name: string): Promise<string> {
  const project = join(folder, 'clients', name);
  rmSync(project, { recursive: true, force: true });
  mkdirSync(project, { recursive: true });
  cpSync(join(root, 'docs/openapi.json'), join(project, 'openapi.json'));
  cpSync(join(examples, `${name}.ts`), join(project, 'consumer.ts'));
  for (const file of ['outcomes.ts', 'problems.ts', 'requests.ts', 'orval.config.js']) {
    cpSync(join(examples, file), join(project, file));
  }
  const [, command] =
    /^\/\/ npx (.+)\n/.exec(readFileSync(join(project, 'consumer.ts'), 'utf8')) ?? [];
  if (command === undefined) {
    throw new Error(`${name}.ts: make its first line the command, "// npx ...".`);
  }
  await run(project, 'sh', ['-c', command], {
    PATH: `${join(folder, 'node_modules/.bin')}:${process.env.PATH}`,
  });
  // Some generators tell the compiler not to look; we want it to.
  for (const file of globSync('{client.ts,client/**/*.ts}', { cwd: project })) {
    const source = readFileSync(join(project, file), 'utf8');
    writeFileSync(join(project, file), source.replace('// @ts-nocheck', ''));
  }
  return project;
}

/**
 * What the compiler reports under `strict`, with `changes` to files of the project: `''` if
 * nothing.
 */
async function compile(
  project: string,
  changes: Record<string, (source: string) => string> = {},
): Promise<string> {
  const originals = Object.keys(changes).map(
    (file) => [file, readFileSync(join(project, file), 'utf8')] as const,
  );
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'dom', 'dom.iterable'],
    module: 'esnext',
    moduleResolution: 'bundler',
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    types: [],
  };
  writeFileSync(
    join(project, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['consumer.ts'] }),
  );
  try {
    for (const [file, source] of originals) {
      const changed = changes[file]?.(source) ?? source;
      if (changed === source) throw new Error(`${file} no longer has what this check changes.`);
      writeFileSync(join(project, file), changed);
    }
    return await run(project, await toolPath('.bin/tsc'), ['--project', '.']).catch(String);
  } finally {
    for (const [file, source] of originals) writeFileSync(join(project, file), source);
  }
}

/** Whether the compiler notices that a `case` of a file is gone. */
async function notices(project: string, file: string, line: string): Promise<boolean> {
  const output = await compile(project, { [file]: (source) => source.replace(line, '') });
  return output.includes("does not satisfy the expected type 'never'");
}

/** The example with its client, in one script that this process can import. */
async function load(project: string): Promise<Program> {
  const outfile = join(project, 'consumer.mjs');
  await build({
    entryPoints: [join(project, 'consumer.ts')],
    outfile,
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
    // Dependencies in CommonJS require modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  });
  return await import(pathToFileURL(outfile).href);
}

/** The row of a generator in the table, and everything that it gets wrong. */
async function check(name: string, service: HttpService) {
  const { packages = [], note } = generators[name] ?? {};
  const project = await generate(name);
  const compiled = await compile(project);
  const outcomes = await notices(project, 'outcomes.ts', "case 'not_found':");
  const problems = await notices(project, 'problems.ts', "case '/problems/plan-inactive':");
  const { calls, runLookups } = await import('./lookups.ts');
  const wrong = await runLookups(await load(project), service);
  const union = (narrows: boolean) =>
    narrows ? 'discriminated union' : 'not a discriminated union';
  const [generator = '', ...beside] = packages.map((used) => `${used} ${versions[used]}`);
  const cells = [
    `[${generator}](examples/generated-client/${name}.ts)${beside.map((used) => ` with ${used}`).join('')}`,
    union(outcomes),
    union(problems),
    `${calls - wrong.length} of ${calls}`,
    note,
  ];
  const faults = [
    ...(compiled === '' ? [] : [`does not compile: ${compiled}`]),
    ...(outcomes ? [] : ['the type of an outcome does not narrow by status']),
    ...(problems ? [] : ['the type of a problem does not narrow by type']),
    ...wrong,
  ];
  return { row: `| ${cells.join(' | ')} |`, faults: faults.map((fault) => `${name}: ${fault}`) };
}

async function main(): Promise<void> {
  if (process.argv.length > 2) {
    console.error('Usage: npm run check:generators (it takes no options)');
    process.exitCode = 2;
    return;
  }
  if (!(await installTools(import.meta.dirname, folder))) {
    console.log(
      'Generated clients: NOT checked, because the npm registry does not answer. Run this where it does.',
    );
    return;
  }
  const rows = [
    '| generator | outcomes | problems | responses as expected | note |',
    '|---|---|---|---|---|',
  ];
  const faults: string[] = [];
  // Loaded here, as the lookups below, because that takes a while, which a wrong call should not.
  const { startHttpService } = await import('../../test/support/http-service.ts');
  const service = await startHttpService();
  try {
    for (const name of Object.keys(generators)) {
      const result = await check(name, service);
      rows.push(result.row);
      faults.push(...result.faults);
      console.log(result.row);
    }
  } finally {
    await service.stop();
  }
  const table = rows.join('\n');
  if (
    !readFileSync(page, 'utf8').includes(`<!-- generators -->\n\n${table}\n\n<!-- /generators -->`)
  ) {
    faults.push(
      `docs/compatibility.md: replace the table between its marks by this one:\n${table}`,
    );
  }
  for (const fault of faults) console.error(fault);
  process.exitCode = faults.length === 0 ? 0 : 1;
}

await main();
