/**
 * Packs `bag-adres-admin`, installs it in an empty project with the oldest AWS SDK that it accepts,
 * and uses it there as a portal does: `npm run check:package`. Without the npm registry and its
 * cache, only the packed files are checked. Then the same with `bag-adres-form`, as a shop does.
 */
import {
  copyFileSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { toolPath } from '../../.ci/tools/installed.ts';
import { createTables, startDynamoDb } from '../../test/support/dynamodb.ts';
import { installNode, oldestNode } from '../../test/support/oldest-node.ts';
import { isOffline } from '../../test/support/registry.ts';
import { checks, run } from './checks.ts';
import { installPackageTools } from './package-tools.ts';

const root = resolve(import.meta.dirname, '../..');
const source = join(root, 'packages/admin');
const { peerDependencies } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
const oldestSdk: string = peerDependencies['@aws-sdk/lib-dynamodb'].slice(1);

/** What a portal may set in its tsconfig.json beyond `strict`. */
const strictest = [
  '--strict',
  '--exactOptionalPropertyTypes',
  '--noPropertyAccessFromIndexSignature',
  '--noUncheckedIndexedAccess',
  '--verbatimModuleSyntax',
];

const { require, report } = checks('packages');
const kilobytes = (bytes: number) => `${Math.round(bytes / 1000)} kB`;
const folder = mkdtempSync(join(tmpdir(), 'bag-adres-admin-'));
async function check(): Promise<void> {
  const tools = await installPackageTools();
  const packed = await pack(source, tools, 'strict');
  await checkForm(await pack(join(root, 'packages/form'), tools, 'esm-only'));

  const portal = join(folder, 'portal');
  if (!(await install(portal, packed))) {
    report(
      'NOT checked in a portal: the npm registry does not answer. Run "npm run check:package" where it does.',
    );
    return;
  }
  const copies = installed(portal, '@aws-sdk/lib-dynamodb');
  const foreign = installed(portal, '{aws-cdk-lib,redoc,zod,hono}');
  require(copies.length === 1, `one copy of the SDK, but found ${copies.join(', ')}`);
  require(foreign.length ===
    0, `nothing that a portal does not run, but found ${foreign.join(', ')}`);
  const bytes = globSync(join(portal, 'node_modules/**/*')).reduce(
    (sum, file) => sum + statSync(file).size,
    0,
  );
  require(bytes < 100_000_000, `less than 100 MB, but ${kilobytes(bytes)} are installed`);
  report(`installed beside SDK ${oldestSdk}: ${kilobytes(bytes)} with the SDK, one copy of it`);

  for (const file of globSync(join(root, 'tools/package/portal/*.ts'))) copyInto(portal, file);
  copyInto(portal, join(root, 'docs/examples/portal/portal.ts'));
  link(portal, '@types', 'aws-cdk-lib', 'constructs');
  await compile(portal, 'nodenext', 'nodenext');
  await compile(portal, 'esnext', 'bundler');
  report('compiled under tsc with nodenext and with bundler');

  await makeAllCalls(portal, 'calls.ts', 'Node');
  const bundling = ['--bundle', '--platform=node', '--format=esm', '--outfile=bundled.mjs', banner];
  await tool(portal, 'esbuild', ['calls.ts', ...bundling]);
  await makeAllCalls(portal, 'bundled.mjs', 'esbuild');
  await checkCommonJs(portal, tools);
  await node(portal, ['stack.ts']);
  report('granted by the construct of bag-adres-admin/access');

  // What `npm install ../bag-adres/packages/admin` makes: a link, so that the package finds our SDK
  // and the portal its own.
  rmSync(join(portal, 'node_modules/bag-adres-admin'), { recursive: true });
  symlinkSync(source, join(portal, 'node_modules/bag-adres-admin'));
  const refused = String(
    await makeAllCalls(portal, 'calls.ts', 'two copies of the SDK').catch(String),
  );
  const isClear = refused.includes('two copies are installed');
  require(isClear, `a clear refusal of a second copy of the SDK, but got\n${refused}`);
  report('two copies of the SDK: refused before the first call');
}

/** Packs a package, and lets `publint` and `attw` judge what is in it. */
async function pack(from: string, tools: string | undefined, profile: string): Promise<string> {
  const name =
    (await run(from, 'npm', ['pack', '--pack-destination', folder])).trim().split('\n').at(-1) ??
    '';
  const packed = join(folder, name);
  if (tools) {
    await run(folder, join(tools, 'publint'), ['run', '--strict', packed]);
    await run(folder, join(tools, 'attw'), [packed, '--profile', profile]);
  }
  const found = tools ? 'publint and attw find nothing' : 'NOT checked by publint and attw';
  report(`packed ${name}: ${kilobytes(statSync(packed).size)}, ${found}`);
  return packed;
}

/**
 * What a shop does with the form: its page has the element in a bundle, and its server asks the
 * route.
 */
async function checkForm(packed: string): Promise<void> {
  const shop = join(folder, 'shop');
  mkdirSync(shop);
  writeFileSync(
    join(shop, 'package.json'),
    '{ "name": "shop", "private": true, "type": "module" }',
  );
  // It depends on nothing, so no registry is needed.
  await run(shop, 'npm', ['install', '--offline', '--no-audit', '--no-fund', packed]);
  const page =
    "import 'bag-adres-form'; document.querySelector('bag-adres-form')!.texts = { take: 'Neem over' };";
  const server =
    "import { lookUp } from 'bag-adres-form/routes/node';\n" +
    'console.log((await lookUp(new URLSearchParams(), () => undefined)).status);';
  writeFileSync(join(shop, 'page.ts'), page);
  writeFileSync(join(shop, 'server.ts'), server);
  link(shop, '@types');
  const options = [
    '--noEmit',
    '--module',
    'nodenext',
    '--lib',
    'es2024,dom',
    '--types',
    'node',
    ...strictest,
  ];
  await tool(shop, 'tsc', [...options, 'page.ts', 'server.ts']);
  await tool(shop, 'esbuild', ['page.ts', '--bundle', '--minify', '--outfile=page.js']);
  require(readFileSync(join(shop, 'page.js'), 'utf8').includes(
    'attachInternals',
  ), 'the element in the bundle');
  const answered = await node(shop, ['server.ts'], {
    BAG_ADRES_URL: 'http://127.0.0.1:1',
    BAG_ADRES_KEY: 'none',
  });
  require(answered.trim() ===
    'unavailable', `a route without a service to answer unavailable, but got ${answered}`);
  report('bag-adres-form: installed in a shop, compiled, bundled, and asked');
}

/**
 * Compiles a CommonJS program under the resolutions of node10 and node16, and runs it, also on the
 * oldest Node that the package names.
 */
async function checkCommonJs(portal: string, tools: string | undefined): Promise<void> {
  copyInto(portal, join(root, 'tools/package/commonjs/calls.cts'));
  const options = [
    '--target',
    'es2022',
    '--types',
    'node',
    '--strict',
    '--skipLibCheck',
    'calls.cts',
  ];
  const node10 = ['--module', 'commonjs', '--moduleResolution', 'node10', '--noEmit'];
  // TypeScript 7, which is ours, no longer has it.
  if (tools) await run(portal, join(tools, 'tsc'), [...node10, ...options]);
  report(`CommonJS ${tools ? 'compiled' : 'NOT compiled'} under the resolution of node10`);
  await tool(portal, 'tsc', ['--module', 'node16', '--moduleResolution', 'node16', ...options]);
  await makeAllCalls(portal, 'calls.cjs', 'node16', ['accounts']);
  const old = await installNode(oldestNode, join(folder, 'oldest-node'), run);
  if (old) await makeAllCalls(portal, 'calls.cjs', 'node16', ['accounts'], old);
  else {
    report(`NOT checked on Node ${oldestNode}: the npm registry does not answer`);
  }
}

/** The CommonJS parts of the SDK require Node's modules at run time. */
const banner =
  "--banner:js=import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);";

/** Returns whether the registry or the cache of npm had what it takes. */
async function install(portal: string, packed: string): Promise<boolean> {
  mkdirSync(portal);
  writeFileSync(
    join(portal, 'package.json'),
    '{ "name": "portal", "private": true, "type": "module" }',
  );
  const clients = ['client-dynamodb', 'lib-dynamodb', 'client-s3', 'client-sfn'];
  const sdk = clients.map((name) => `@aws-sdk/${name}@${oldestSdk}`);
  const flags = [
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--prefer-offline',
    '--fetch-retries=1',
  ];
  try {
    // First what only the registry has: with the package beside it, npm reports an unreachable
    // registry as a conflict.
    await run(portal, 'npm', ['install', ...flags, ...sdk]);
    await run(portal, 'npm', ['install', ...flags, packed]);
    return true;
  } catch (error) {
    if (isOffline(error)) return false;
    throw error;
  }
}

function installed(portal: string, name: string): string[] {
  return globSync(`node_modules/**/${name}/package.json`, { cwd: portal }).filter((file) =>
    /node_modules\/[^/]+(\/[^/]+)?\/package.json$/.test(file),
  );
}

function copyInto(portal: string, file: string): void {
  copyFileSync(file, join(portal, file.slice(file.lastIndexOf('/') + 1)));
}

/** Packages that are too large to install once more, or that only types need. */
function link(portal: string, ...names: string[]): void {
  for (const name of names) {
    symlinkSync(join(root, 'node_modules', name), join(portal, 'node_modules', name));
  }
}

/**
 * Checks the types of the package too, which most portals leave out; types of other packages are
 * not ours to correct.
 */
async function compile(portal: string, module: string, resolution: string): Promise<void> {
  const options = [
    '--noEmit',
    '--target',
    'es2024',
    '--module',
    module,
    '--moduleResolution',
    resolution,
  ];
  const checked = [
    ...strictest,
    '--skipLibCheck',
    'false',
    '--types',
    'node',
    ...globSync('*.ts', { cwd: portal }),
  ];
  const output = await tool(portal, 'tsc', [...options, ...checked]).catch(String);
  const ours = output
    .split('\n')
    .filter((line) => /error TS/.test(line) && !/node_modules\/(?!bag-adres-admin\/)/.test(line));
  require(ours.length === 0, `no errors under ${resolution}, but tsc reports\n${ours.join('\n')}`);
}

async function makeAllCalls(
  portal: string,
  script: string,
  what: string,
  tables = ['accounts', 'others'],
  program = process.execPath,
): Promise<void> {
  const engine = await startDynamoDb();
  try {
    for (const accounts of tables) {
      await createTables(engine.client, { addresses: `addresses-of-${accounts}`, accounts });
    }
    const variables = {
      DYNAMODB_ENDPOINT: engine.endpoint,
      ACCOUNTS_TABLE: 'accounts',
      OTHER_TABLE: 'others',
    };
    report(`${what}: ${(await run(portal, program, [script, 'jo@example.nl'], variables)).trim()}`);
  } finally {
    await engine.stop();
  }
}

const node = (cwd: string, args: string[], variables = {}) =>
  run(cwd, process.execPath, args, variables);
const tool = async (cwd: string, name: 'tsc' | 'esbuild', args: string[]) =>
  run(
    cwd,
    name === 'tsc' ? await toolPath('.bin/tsc') : join(root, 'node_modules/.bin', name),
    args,
  );

try {
  await check();
} finally {
  rmSync(folder, { recursive: true, force: true });
}
