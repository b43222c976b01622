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

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'lint-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The codes of the rules that a file breaks. */
async function lint(file: string): Promise<string[]> {
  const options = [
    'lint',
    file,
    '--ruleset',
    'docs/spectral.yaml',
    '--fail-severity',
    'hint',
    '--format',
    'json',
    '--quiet',
  ];
  const run = promisify(execFile)(process.execPath, [spectral, ...options], { cwd: root });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  const results: { code: string }[] = JSON.parse(stdout);
  return [...new Set(results.map(({ code }) => code))].sort();
}

describe('the linter', () => {
  it('finds nothing in the OpenAPI document', async () => {
    expect(await lint('docs/openapi.json')).toEqual([]);
  });

  it('reports an introduced violation', async () => {
    const document = JSON.parse(await readFile(join(root, 'docs/openapi.json'), 'utf8'));
    document.info.version = '1.0';
    document.servers[0].url = '/';
    document.paths['/v1/Adres/'] = { get: { responses: { 200: { description: 'Odd' }, 400: { description: 'Bad' } } } };
    document.paths['/openapi.json'].get.security = [{ apiKey: [] }];
    delete document.paths['/address'].get.responses['200'].headers['API-Version'];
    document.components.responses.NotFound.headers['Access-Control-Allow-Origin'] = { schema: { type: 'string' } };
    delete document.paths['/auth/validate'].get.responses['200'].content['application/json'].examples;
    const file = join(folder, 'broken.json');
    await writeFile(file, JSON.stringify(document));
    expect(await lint(file)).toEqual(
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
