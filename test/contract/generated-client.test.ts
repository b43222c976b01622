import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import { StoreUnavailable } from '../../lambdas/shared/dynamodb.ts';
import { newAccount } from '../support/address-service.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tool = (path: string) => join(root, 'node_modules', path);
const run = (script: string, options: string[]) =>
  promisify(execFile)(process.execPath, [script, ...options], { cwd: root });

/** What `docs/examples/generated-client/consumer.ts` exports, as far as it is used here. */
type Consumer = {
  createClient(baseUrl: string, key: string): { auth: { validateKey(): Promise<{ data: unknown }> } };
  describeLookup(client: unknown, query: object): Promise<string>;
};

let service: HttpService;
let folder: string;
let consumer: Consumer;

/** Generates the client as the examples say, beside the program that uses it. */
beforeAll(async () => {
  service = await startHttpService();
  folder = await mkdtemp(join(tmpdir(), 'generated-client-'));
  const file = join(folder, 'client.ts');
  const options = [
    '--path',
    'docs/openapi.json',
    '--output',
    folder,
    '--name',
    'client.ts',
    '--disable-throw-on-error',
  ];
  await run(tool('swagger-typescript-api/dist/cli.mjs'), ['generate', ...options]);
  // The generator tells compilers to look away; we want to see.
  await writeFile(file, (await readFile(file, 'utf8')).replace('// @ts-nocheck', ''));
  await copyFile(join(root, 'docs/examples/generated-client/consumer.ts'), join(folder, 'consumer.ts'));
  const outfile = join(folder, 'consumer.mjs');
  await build({ entryPoints: [join(folder, 'consumer.ts')], outfile, bundle: true, format: 'esm', logLevel: 'error' });
  consumer = await import(pathToFileURL(outfile).href);
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

/** What the program makes of a lookup with a key of a new account. */
async function describeWith(query: object, limits: Record<string, number> = { minute: 100 }): Promise<string> {
  const { key } = await newAccount(service, limits);
  return await consumer.describeLookup(consumer.createClient(service.baseUrl, key), query);
}

/** What the compiler has to say of a program with the client. */
async function compile(program: string): Promise<string> {
  const compilerOptions = {
    target: 'es2024',
    lib: ['es2024', 'dom'],
    module: 'nodenext',
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    noEmit: true,
    types: [],
  };
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['client.ts', program] }));
  const { stdout } = await run(tool('typescript/bin/tsc'), ['--project', folder]).catch((error) => error);
  return stdout;
}

const address = { postcode: '1012RJ', huisnummer: 147 };

describe('a client that a public generator makes of the description', () => {
  it('compiles under strict, and so does a program that names every outcome and every problem', async () => {
    expect(await compile('consumer.ts')).toBe('');
  });

  it.each(["case 'not_found':", "case '/problems/plan-inactive':"])(
    'does not let a program forget %s',
    async (line) => {
      const source = await readFile(join(folder, 'consumer.ts'), 'utf8');
      await writeFile(join(folder, 'forgetful.ts'), source.replace(line, ''));
      expect(await compile('forgetful.ts')).toContain("does not satisfy the expected type 'never'");
    },
  );

  it.each([
    ['ok', address, 'Nieuwezijds Voorburgwal, Amsterdam'],
    ['ok with a toevoeging', { postcode: '1381 de', huisnummer: 30, toevoeging: 'a 100' }, 'Hugo de Grootlaan, Weesp'],
    ['not_found', { postcode: '9999SD', huisnummer: 2 }, 'no such address; existing toevoegingen: A, B'],
    ['ambiguous', { postcode: '9999ZZ', huisnummer: 1 }, 'several: Kerkstraat, Amsterdam; Dorpsstraat, Utrecht'],
    ['invalid input', { postcode: '', huisnummer: 0 }, 'invalid: postcode missing, huisnummer huisnummer-zero'],
  ])('tells %s', async (_outcome, query, told) => {
    expect(await describeWith(query)).toBe(told);
  });

  it('tells quota exceeded, with the windows', async () => {
    expect(await describeWith(address, { minute: 0, day: 0 })).toBe('no quota left this minute and day');
  });

  it('tells each refusal and each failure apart', async () => {
    const { id, key } = await newAccount(service, { minute: 100 });
    const plan = await newAccount(service, { minute: 100 });
    await service.admin.accounts.suspend(id);
    await service.admin.plans.put({ code: plan.plan, limits: { minute: 100 }, state: 'inactive' });
    const told = (apiKey: string) => consumer.describeLookup(consumer.createClient(service.baseUrl, apiKey), address);
    expect(await told('no key')).toBe('refused: Unauthorized');
    expect(await told(key)).toBe('refused: Account inactive');
    expect(await told(plan.key)).toBe('refused: Plan inactive');
    service.faults.failing = Object.assign(new StoreUnavailable('a moment'), { times: 1 });
    expect(await describeWith(address)).toBe('failed: Temporarily unavailable');
    service.faults.failing = Object.assign(new Error('a fault of ours'), { times: 1 });
    expect(await describeWith(address)).toBe('failed: Internal error');
  });

  it('checks a key', async () => {
    const { key, plan } = await newAccount(service, { day: 9 });
    const { data } = await consumer.createClient(service.baseUrl, key).auth.validateKey();
    expect(data).toEqual({ valid: true, key_label: 'the webshop of the tests', plan_code: plan, limits: { day: 9 } });
  });
});
