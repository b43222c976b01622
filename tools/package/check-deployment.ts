/**
 * Makes a release without publishing it, publishes it to a registry on this machine, installs it by
 * name in an empty folder as an operator does, and goes from `init` to an upgrade and back:
 * `npm run check:package`. It needs the npm registry or its cache; without them only the packing is
 * checked.
 */
import {
  copyFileSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { toolPath } from '../../.ci/tools/installed.ts';
import { lossesBetween } from '../../operator/gate/compare-templates.ts';
import { everything, portal } from '../../test/lib/synthesized.ts';
import { installNode } from '../../test/support/oldest-node.ts';
import { isOffline } from '../../test/support/registry.ts';
import { configurations } from '../judges/templates/configurations.ts';
import { oldestCdk, packageNode } from '../release/build-package.ts';
import { deadLinks } from '../release/installed-docs.ts';
import { checks, run as runIn } from './checks.ts';
import { openHandlers, synthesizeInstalled } from './handlers.ts';
import { type LocalRegistry, startRegistry } from './local-registry.ts';

const root = resolve(import.meta.dirname, '../..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'bag-adres-release-'));
const operator = join(folder, 'operator');
const installed = join(operator, 'node_modules/bag-adres');
const { require, report } = checks('bag-adres');
const account = '111111111111';
const mostBytes = 300_000_000;
const logo = { ...everything, portal, branding: { logo: 'logo.svg' } };
let registry: LocalRegistry | undefined;

async function check(): Promise<void> {
  const packed = await release(version);
  report(`packed: ${megabytes(statSync(packed).size)}`);
  mkdirSync(operator);
  registry = await startRegistry(join(folder, 'registry'));
  await registry?.publish(packed);
  const started = Date.now();
  if (!registry || !(await install(`bag-adres@${version}`))) {
    report('NOT checked in a folder of an operator: the npm registry does not answer.');
    return;
  }
  const bytes = sizeOf(join(operator, 'node_modules'));
  require(bytes <
    mostBytes, `less than ${megabytes(mostBytes)}, but ${megabytes(bytes)} are installed`);
  const has = (path: string) => existsSync(join(installed, path));
  const pages = globSync('**/*.md', { cwd: installed });
  const dead = pages.flatMap((page) =>
    deadLinks(page, readFileSync(join(installed, page), 'utf8'), has),
  );
  require(pages.length > 20 && dead.length === 0, `docs without dead links, but found ${dead}`);
  const seconds = Math.round((Date.now() - started) / 1000);
  report(`published to a registry here and installed from it in ${seconds} s: ${megabytes(bytes)}`);

  await npx(
    'bag-adres',
    'init',
    '--yes',
    '--alarm-email',
    'beheer@example.nl',
    '--account',
    `test=${account}`,
  );
  // The CDK that init pins, beside the package: `npx cdk` and the templates are those that this
  // release was tested with.
  await run(operator, 'npm', ['install', ...quick]);
  const unnamed = await npx('cdk', 'deploy', '--all').catch(String);
  const isRefused = unnamed.includes('"account": "123456789012" to stages.prod');
  require(isRefused, `prod without an account to be refused, but got\n${unnamed}`);
  const settings = join(operator, 'bag-adres.json');
  writeFileSync(
    settings,
    readFileSync(settings, 'utf8').replace('"prod": {}', `"prod": { "account": "${account}" }`),
  );
  await npx('bag-adres', 'config', 'check');
  const shown = JSON.parse(await npx('bag-adres', 'config', 'show', '--stage', 'test', '--json'));
  require(shown.origins.alarmEmail === 'shared', 'the origin of a setting in "config show"');
  await npx('cdk', 'synth', '--quiet');
  const templates = globSync('cdk.out/bag-adres-prod-*.template.json', { cwd: operator });
  require(templates.length === 3, `three templates of prod, but found ${templates}`);
  await sameAsClone();
  report('init, config check, config show and cdk synth: the templates of a clone');
  const refused = await npx('bag-adres', 'account', 'list', '--local').catch(String);
  require(refused.includes(
    'add --data',
  ), `--local to ask for the data folder of a clone, but got\n${refused}`);

  await onOldestNode();
  const functions = await everyHandler();
  report(
    `${functions} functions of every configuration open their handlers, with the bundles of the release`,
  );
  await ownApp('oldest', oldestCdk);
  await ownApp(
    'newest',
    Object.fromEntries(Object.keys(oldestCdk).map((name) => [name, 'latest'])),
  );

  const next = await release('1.0.1', 'next');
  await registry.publish(next);
  await run(operator, 'npm', ['install', ...quick, 'bag-adres@1.0.1']);
  await npx('cdk', 'synth', '--quiet', '--output', 'cdk.next');
  const templateOf = (assembly: string, file: string) =>
    JSON.parse(readFileSync(join(operator, assembly, basename(file)), 'utf8'));
  const losses = templates.flatMap((file) =>
    lossesBetween(templateOf('cdk.out', file), templateOf('cdk.next', file)),
  );
  require(losses.length === 0, `an upgrade that loses nothing, but got ${JSON.stringify(losses)}`);
  await run(operator, 'npm', ['install', ...quick, `bag-adres@${version}`]);
  await npx('bag-adres', 'config', 'check');
  report('upgrade to 1.0.1, which loses nothing, and back');
}

const quick = ['--no-audit', '--no-fund', '--prefer-offline', '--fetch-retries=1'];

async function release(as: string, name = 'release'): Promise<string> {
  const out = join(folder, name);
  await run(root, 'npm', ['run', 'release', '--', '--dry-run', '--out', out, '--as', as]);
  const packed = join(out, `bag-adres-${as}.tgz`);
  for (const file of [packed, join(out, 'SHA256SUMS'), join(out, 'sbom.cdx.json')]) statSync(file);
  return packed;
}

async function install(wanted: string): Promise<boolean> {
  try {
    await run(operator, 'npm', ['install', ...quick, wanted]);
    return true;
  } catch (error) {
    if (isOffline(error)) return false;
    throw error;
  }
}

/**
 * What is installed deploys what a clone deploys, but for the subscription that the settings add.
 */
async function sameAsClone(): Promise<void> {
  const out = join(folder, 'clone');
  const context = JSON.stringify({ bagAdres: { alarmEmail: 'beheer@example.nl', account } });
  const variables = { CDK_OUTDIR: out, CDK_CONTEXT_JSON: context, CDK_VALIDATION: 'false' };
  // Not in the root, where a bag-adres.json of the developer could be.
  await run(folder, process.execPath, [join(root, 'bin/app.ts')], variables);
  for (const part of ['data', 'service', 'loader']) {
    const file = `bag-adres-prod-${part}.template.json`;
    const [ours, theirs] = [join(out, file), join(operator, 'cdk.out', file)].map((path) =>
      resourcesOf(path),
    );
    require(ours === theirs, `the same ${file} from the package and from a clone`);
  }
}

/** Without metadata, which has the positions of constructs in the sources. */
function resourcesOf(path: string): string {
  const { Resources } = JSON.parse(readFileSync(path, 'utf8')) as {
    Resources: Record<string, { Metadata?: unknown }>;
  };
  return JSON.stringify(Resources, (key, value) => (key === 'Metadata' ? undefined : value));
}

/** Imports modules, and prints those that name what this Node lacks. */
const importAll = `
  const lacks = ({ name, code }) => name === 'SyntaxError' || code === 'ERR_UNKNOWN_BUILTIN_MODULE';
  for (const file of process.argv.slice(1))
    await import(file).catch((error) => lacks(error) && console.log(file + ': ' + error.message));
  process.exit();`;

/** Not by npx, which uses the Node of npm. */
async function onOldestNode(): Promise<void> {
  const old = await installNode(packageNode, join(folder, 'oldest-node'), run);
  if (!old) {
    report(`NOT checked on Node ${packageNode}: the npm registry does not answer.`);
    return;
  }
  const used = (await run(operator, old, ['--version'])).trim();
  require(used.startsWith(`v${packageNode}.`), `Node ${packageNode}, but got ${used}`);
  const command = join(operator, 'node_modules/.bin/bag-adres');
  const output = await run(operator, old, [command, 'config', 'check']);
  require(output ===
    (await npx(
      'bag-adres',
      'config',
      'check',
    )), `the same answer on Node ${used}, but got\n${output}`);
  const out = join(folder, 'oldest');
  await run(operator, old, [command, 'app'], { CDK_OUTDIR: out, CDK_CONTEXT_JSON: '{}' });
  const templates = globSync('bag-adres-prod-*.template.json', { cwd: out });
  require(templates.length ===
    3, `three templates of prod on Node ${used}, but found ${templates}`);
  // What is in `bin` runs when it is imported.
  const modules = globSync('{core,lambdas,lib,loader,local,operator,packages,portal}/**/*.js', {
    cwd: installed,
  });
  const files = modules.map((file) => join(installed, file));
  const lacking = await run(operator, old, ['--input-type=module', '-e', importAll, ...files]);
  require(files.length > 100 &&
    lacking === '', `modules that Node ${used} can import, but got\n${lacking}`);
  // npm itself refuses what a dependency says of this Node.
  const npm = process.env.npm_execpath ?? '';
  await run(operator, old, [
    npm,
    'install',
    ...quick,
    '--engine-strict',
    '--dry-run',
    `bag-adres@${version}`,
  ]);
  report(
    `config check, the app of the CDK, every module and npm install --engine-strict on Node ${used}`,
  );
}

/** @returns how many functions there are in all configurations */
async function everyHandler(): Promise<number> {
  writeFileSync(join(folder, 'logo.svg'), '<svg xmlns="http://www.w3.org/2000/svg"/>');
  let functions = 0;
  for (const [name, settings] of Object.entries({ ...configurations, logo })) {
    const out = join(folder, 'handlers', name);
    await synthesizeInstalled(installed, out, settings, folder);
    const { opened, faults } = await openHandlers(out);
    require(faults.length ===
      0, `every handler of the configuration ${name}, but\n${faults.join('\n')}`);
    functions += opened;
  }
  const logos = globSync('asset.*/{page/,}logo', { cwd: join(folder, 'handlers/logo') });
  require(logos.length ===
    2, `the logo in the bundles of the reference and of the portal, but found ${logos}`);
  return functions;
}

/**
 * The construct in an app of its own, with this CDK: there is one copy of it, it synthesizes, and
 * the types compile.
 */
async function ownApp(name: string, cdk: Readonly<Record<string, string>>): Promise<void> {
  const app = join(folder, `${name}-cdk`);
  mkdirSync(app);
  const wanted = Object.entries({ ...cdk, 'bag-adres': version }).map((named) => named.join('@'));
  await run(app, 'npm', ['install', ...quick, '--ignore-scripts', ...wanted]);
  const used = join(app, 'node_modules/aws-cdk-lib/package.json');
  const copies = globSync('node_modules/**/aws-cdk-lib/package.json', { cwd: app });
  require(copies.length === 1, `one copy of the CDK, but found ${copies}`);
  copyFileSync(join(root, 'docs/examples/construct/own-app.ts'), join(app, 'own-app.mts'));
  await run(app, process.execPath, ['own-app.mts'], { CDK_OUTDIR: join(app, 'out') });
  const own = readFileSync(join(app, 'out/Own.template.json'), 'utf8');
  for (const needed of ['dynamodb:UpdateItem', 'ADDRESS_API']) {
    require(own.includes(needed), `${needed} in the template of the app`);
  }
  const compilerOptions = {
    noEmit: true,
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    typeRoots: [join(root, 'node_modules/@types')],
  };
  writeFileSync(
    join(app, 'tsconfig.json'),
    JSON.stringify({ compilerOptions, files: ['own-app.mts'] }),
  );
  const printed = await run(app, await toolPath('.bin/tsc'), []).catch(String);
  // Those of the CDK are not ours to correct.
  const ours = printed
    .split('\n')
    .filter((line) => /^(own-app|node_modules\/bag-adres\/).*error TS/.test(line));
  require(ours.length === 0, `no error in the types, but tsc reports\n${ours.join('\n')}`);
  const { version: of } = JSON.parse(readFileSync(used, 'utf8'));
  report(`an app of its own on CDK ${of}: synthesized, and its types compile`);
}

function sizeOf(path: string): number {
  return globSync('**/*', { cwd: path }).reduce(
    (sum, file) => sum + statSync(join(path, file)).size,
    0,
  );
}

const npx = (...args: string[]) => run(operator, 'npx', ['--no', ...args]);

/** Runs a command, in the folder of the operator with the registry of this machine. */
function run(
  cwd: string,
  command: string,
  args: string[],
  variables: NodeJS.ProcessEnv = {},
): Promise<string> {
  // INIT_CWD is where npm was run, not the folder of the operator.
  const isOfOperator = cwd !== root && cwd !== folder;
  return runIn(cwd, command, args, {
    INIT_CWD: cwd,
    ...(isOfOperator && registry?.variables),
    ...variables,
  });
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_000_000)} MB`;
}

try {
  await check();
} finally {
  await registry?.stop();
  rmSync(folder, { recursive: true, force: true });
}
