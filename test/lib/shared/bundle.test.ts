import { execFile } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { writeBundle } from '../../../lib/shared/bundle.ts';
import { bundles } from '../../../lib/shared/bundles.ts';
import { stepNames } from '../../../loader/steps/load-steps.ts';
import { sourcePositions } from '../../../tools/stack-trace.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { gatewayEvent } from '../../support/gateway-event.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';
import { ofType, type Resource, type Template } from '../synthesized.ts';
import { app } from '../unbundled-app.ts';

/** Every file of a cloud assembly: its path and what it holds. */
function contents(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  );
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(directory.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

const again = folderForNow('bag-adres-bundle-');
/** A synthesis with its bundles, and its files. */
let directory: string;
let synthesized: Record<string, string>;

beforeAll(() => {
  ({ directory } = app({}, { bundle: true }).synth());
  synthesized = contents(directory);
});

/** The folder and the handler of each function of a stack. */
function functions(stack: string): { path: string; handler: string }[] {
  const template: Template = JSON.parse(
    readFileSync(join(directory, `bag-adres-prod-${stack}.template.json`), 'utf8'),
  );
  return Object.values(ofType(template, 'AWS::Lambda::Function')).map(({ Properties }) => {
    const { Code, Handler } = Properties as { Code: { S3Key: string }; Handler: string };
    return { path: join(directory, `asset.${Code.S3Key.replace('.zip', '')}`), handler: Handler };
  });
}

describe('a bundle', () => {
  it('is byte for byte the same when made again, in another process and folder', () => {
    mkdirSync(join(again, 'Address'));
    const maps = join('source-maps', 'Address');
    mkdirSync(join(again, maps), { recursive: true });
    writeFileSync(join(again, maps, 'former.mjs.map'), 'of a module that is no more');
    writeBundle('Address', bundles.Address, join(again, 'Address'));
    const made = contents(join(again, 'Address'));
    expect(Object.keys(made)).toContain('index.mjs');
    const { path } = functions('service')[0] ?? { path: '' };
    expect(contents(path)).toEqual(made);
    expect(contents(join(again, maps))).toEqual(contents(join(directory, maps)));
  });

  (isFullSweep ? it : it.skip)(
    'is byte for byte the same when all are synthesized again, as are the templates',
    () => {
      const again = contents(app({}, { bundle: true }).synth().directory);
      // The others say where the templates are, and which line made a construct.
      const compared = Object.keys(again).filter((path) =>
        /^asset\.|^source-maps\/|\.(template|assets)\.json$/.test(path),
      );
      expect(compared).toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^asset\.[0-9a-f]{64}\/index\.mjs$/),
          'bag-adres-prod-service.template.json',
          'source-maps/Address/index.mjs.map',
        ]),
      );
      for (const path of compared) {
        if (again[path] !== synthesized[path]) throw new Error(`${path} differs`);
      }
    },
  );

  it('has a module of its own for the handler of each function', () => {
    const functions = Object.entries(synthesized)
      .filter(([path]) => path.endsWith('.template.json'))
      .flatMap(([, text]) => Object.values<Resource>(JSON.parse(text).Resources))
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => {
        const { Code, Handler } = Properties as { Code: { S3Key: string }; Handler: string };
        return `asset.${Code.S3Key.replace('.zip', '')}/${Handler.replace('.handler', '.mjs')}`;
      });
    expect(functions.length).toBeGreaterThan(10);
    expect(new Set(functions).size).toBe(functions.length);
    expect(Object.keys(synthesized)).toEqual(expect.arrayContaining(functions));
  });

  it('ships no source map and no path of the machine that made it', () => {
    const bundles = Object.entries(synthesized).filter(([path]) => path.startsWith('asset.'));
    for (const [path, text] of bundles) {
      // Modules, and the style and scripts of the pages.
      expect(path).toMatch(/\.mjs$|\/assets\/[a-z-]+\.(?:js|css)$/);
      if (path.endsWith('.mjs')) {
        expect([path, text.includes('sourceMappingURL')]).toEqual([path, false]);
      }
      expect([path, text.includes(process.cwd())]).toEqual([path, false]);
    }
    expect(Object.keys(synthesized)).toEqual(
      expect.arrayContaining([
        'source-maps/Address/index.mjs.map',
        'source-maps/Loader/merge.mjs.map',
      ]),
    );
  });

  it('looks for credentials in the environment only, and ships no client of SSO or STS', () => {
    const modules = Object.entries(synthesized).filter(
      ([path]) => path.startsWith('asset.') && path.endsWith('.mjs'),
    );
    const withSdk = modules.filter(([, text]) =>
      text.includes('Unable to find environment variable credentials'),
    );
    expect(withSdk.length).toBeGreaterThan(3);
    for (const [path, text] of modules) {
      expect([path, text.match(/defaultProvider::|sso-oidc|AssumeRole/)]).toEqual([path, null]);
    }
  });

  it('reads the credentials once, not for every call', async () => {
    // @ts-expect-error -- a module for the bundles alone, in JavaScript
    const { defaultProvider } = await import('../../../lib/shared/aliases/credentials.js');
    const before = { ...process.env };
    Object.assign(process.env, { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'x' });
    try {
      const credentials = defaultProvider();
      expect(await credentials()).toMatchObject({ accessKeyId: 'key' });
      expect(await credentials()).toBe(await credentials());
    } finally {
      process.env = before;
    }
  });
});

type Answer = { statusCode?: number; error?: { name: string; message: string; stack: string } };

/**
 * Imports a bundle with nothing but its files and its environment, and prints what its handler
 * answers to events.
 */
const program = `
  const [file, name, events] = process.argv.slice(1);
  const errorOf = ({ name, message, stack }) => ({ error: { name, message, stack } });
  const answers = [];
  try {
    const { [name]: handler } = await import(file);
    for (const event of JSON.parse(events)) answers.push(await handler(event, {}).catch(errorOf));
  } catch (error) {
    answers.push(errorOf(error));
  }
  const hasUndici = process.moduleLoadList.some((module) => module.includes('undici'));
  console.log(JSON.stringify({ answers, hasUndici }));`;

/** The bundles lie outside of the project, so that nothing but what is in them can be found. */
describe('a bundle in a process of its own', () => {
  const region = { AWS_REGION: 'eu-central-1', AWS_ACCESS_KEY_ID: 'x', AWS_SECRET_ACCESS_KEY: 'x' };
  const settings = { ...region, ACCOUNTS_TABLE: 'accounts', ADDRESSES_TABLE: 'addresses' };

  async function run(
    { path = '', handler = '' } = {},
    env: Record<string, string> = {},
    ...events: unknown[]
  ) {
    const [module, name = ''] = handler.split('.');
    const args = [
      '--input-type=module',
      '-e',
      program,
      join(path, `${module}.mjs`),
      name,
      JSON.stringify(events),
    ];
    const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: path, env });
    const { answers, hasUndici } = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
    return { answers: answers as Answer[], hasUndici, log: stdout };
  }

  it('loads the texts of the reference only on demand, not when the validate function starts', () => {
    const { path } = functions('service')[1] ?? { path: '' };
    const textOf = (file: string) => readFileSync(join(path, file), 'utf8');
    const isText = (file: string) => textOf(file).includes('Compare the path with the reference');
    const [lazy, ...others] = readdirSync(path).filter(
      (file) => file.endsWith('.mjs') && isText(file),
    );
    expect([lazy, others]).toEqual([expect.stringMatching(/^reference-route-/), []]);
    const imported = /(?:^|[;}])(?:import|export)[^;(]*?from"\.\/([^"]+)"|import"\.\/([^"]+)"/g;
    const atStart = new Set(['index.mjs']);
    for (const file of atStart) {
      for (const [, from, bare] of textOf(file).matchAll(imported)) atStart.add(from ?? bare ?? '');
    }
    expect([...atStart]).not.toContain(lazy);
    expect(atStart.size).toBeGreaterThan(1);
  });

  it.each([
    ['address', 0, '/v1/address?postcode=1012RJ&huisnummer=147'],
    ['validate', 1, '/v1/auth/validate'],
  ])(
    'starts the %s function, which responds and calls the store without optional modules',
    async (_, index, url) => {
      const { key } = issueApiKey('account', 'any');
      const { answers, hasUndici, log } = await run(
        functions('service')[index],
        { ...settings, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' }, // nobody listens there
        gatewayEvent(url),
        gatewayEvent(url, { method: 'PUT' }),
        gatewayEvent(url, { headers: { 'x-api-key': key } }),
      );
      expect([answers.map(({ statusCode }) => statusCode), hasUndici]).toEqual([
        [401, 405, 503],
        false,
      ]);
      expect(log).toContain('"Requests"');
    },
  );

  it('starts each step of a load, which fails on invalid input with a named error', async () => {
    const steps = functions('loader');
    expect(steps).toHaveLength(stepNames.length);
    for (const step of sweep(steps, 1)) {
      const { answers } = await run(step, { ...settings, SNAPSHOT_BUCKET: 'bucket' }, 'nonsense');
      const error = {
        name: expect.stringMatching(/^(Zod|\$Zod)Error$/),
        message: expect.stringContaining('expected'),
      };
      expect([step.handler, answers]).toMatchObject([step.handler, [{ error }]]);
    }
  });

  it('does not start without its settings, and names the missing one and the source line', async () => {
    const { error } = (await run(functions('service')[0], region)).answers[0] ?? {};
    expect(error?.message).toContain('ACCOUNTS_TABLE is not set');
    const maps = join(directory, 'source-maps', 'Address');
    const mapOf = (module: string) =>
      new SourceMap(JSON.parse(readFileSync(join(maps, `${module}.map`), 'utf8')));
    expect(error?.stack).not.toContain('environment.ts');
    expect(sourcePositions(error?.stack ?? '', mapOf)).toMatch(/core\/environment\.ts:\d+:\d+/);
  });
});
