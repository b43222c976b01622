import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const spectral = join(root, 'node_modules/@stoplight/spectral-cli/dist/index.js');
let folder: string;
let broken: string;
let found: Violation[];

/** The code of a rule that a file breaks. */
type Violation = { code: string; source: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lint-'));
  broken = join(folder, 'broken.json');
  await writeFile(broken, JSON.stringify(await brokenDocument()));
  found = await lint('docs/openapi.json', broken);
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** One run for all files, since starting the linter takes longer than its work. */
async function lint(...files: string[]): Promise<Violation[]> {
  const options = ['--ruleset', 'docs/spectral.yaml', '--fail-severity', 'hint', '--format', 'json', '--quiet'];
  const run = promisify(execFile)(process.execPath, [spectral, 'lint', ...files, ...options], { cwd: root });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return JSON.parse(stdout);
}

async function brokenDocument(): Promise<object> {
  const document = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8'));
  document.info.version = '1.0';
  document.servers[0].url = '/';
  document.paths['/v1/Adres/'] = { get: { responses: { 200: { description: 'Odd' }, 400: { description: 'Bad' } } } };
  document.paths['/openapi.json'].get.security = [{ apiKey: [] }];
  delete document.paths['/address'].get.responses['200'].headers['API-Version'];
  document.components.responses.NotFound.headers['Access-Control-Allow-Origin'] = { schema: { type: 'string' } };
  delete document.paths['/auth/validate'].get.responses['200'].content['application/json'].examples;
  return document;
}

describe('the linter', () => {
  it('finds nothing in the OpenAPI document', () => {
    expect(found.filter(({ source }) => source !== broken)).toEqual([]);
  });

  it('reports an introduced violation', () => {
    expect(found.flatMap(({ source, code }) => (source === broken ? [code] : []))).toEqual(
      expect.arrayContaining([
        'every-answer-has-an-example',
        'every-answer-has-headers',
        'headers-of-every-answer',
        'major-version-in-uri',
        'no-trailing-slash',
        'no-version-in-paths',
        'operation-operationId',
        'paths-kebab-case',
        'publishes-itself-without-a-key',
        'semantic-version',
      ]),
    );
  });
});
