/**
 * Holds `docs/openapi.json`, and the document of a service with objects, against the rules of
 * `docs/spectral.yaml`, and a broken document too, to see that they find something:
 * `npm run check:openapi`. Spectral brings 170 packages and telemetry, so it is installed under
 * `node_modules/.cache`, without scripts. Without the npm registry and its cache nothing is
 * checked, and this says so.
 */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { installTools } from '../../test/support/install-tools.ts';
import { createOpenApiDocument } from '../openapi/reference.ts';

const root = resolve(import.meta.dirname, '../..');
const tools = join(root, 'node_modules/.cache/openapi-rules');
const spectral = join(tools, 'node_modules/@stoplight/spectral-cli/dist/index.js');

/** The rule that a file breaks, and where. */
type Violation = { code: string; source: string; message: string; path: string[] };

/** The rules that `brokenDocument` breaks. */
const expected = [
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
];

function brokenDocument(): object {
  const document = JSON.parse(readFileSync(join(root, 'docs/openapi.json'), 'utf8'));
  document.info.version = '1.0';
  document.servers[0].url = '/';
  document.paths['/v1/Adres/'] = {
    get: { responses: { 200: { description: 'Odd' }, 400: { description: 'Bad' } } },
  };
  document.paths['/openapi.json'].get.security = [{ apiKey: [] }];
  delete document.paths['/address'].get.responses['200'].headers['API-Version'];
  document.components.responses.NotFound.headers['Access-Control-Allow-Origin'] = {
    schema: { type: 'string' },
  };
  delete document.paths['/auth/validate'].get.responses['200'].content['application/json'].examples;
  return document;
}

/** One run for all files, since starting the linter takes longer than its work. */
async function lint(...files: string[]): Promise<Violation[]> {
  const options = [
    '--ruleset',
    'docs/spectral.yaml',
    '--fail-severity',
    'hint',
    '--format',
    'json',
    '--quiet',
  ];
  const env = { ...process.env, SCARF_ANALYTICS: 'false' };
  const run = promisify(execFile)(process.execPath, [spectral, 'lint', ...files, ...options], {
    cwd: root,
    env,
  });
  const { stdout } = await run.catch((error: { stdout: string }) => error);
  return JSON.parse(stdout);
}

const folder = mkdtempSync(join(tmpdir(), 'bag-adres-openapi-'));
try {
  if (await installTools(import.meta.dirname, tools)) {
    const broken = join(folder, 'broken.json');
    writeFileSync(broken, JSON.stringify(brokenDocument()));
    const withObjects = join(folder, 'with-objects.json');
    writeFileSync(withObjects, JSON.stringify(createOpenApiDocument(true)));
    const found = await lint('docs/openapi.json', withObjects, broken);
    const ours = found.filter(({ source }) => source !== broken);
    for (const { code, path, message, source } of ours) {
      console.error(`${source}: ${path.join('.')}: ${message} (${code})`);
    }
    const unseen = expected.filter(
      (rule) => !found.some(({ code, source }) => source === broken && code === rule),
    );
    assert.deepEqual(unseen, [], 'These rules find nothing in a document that breaks them.');
    console.log(
      `docs/openapi.json, and the one with objects: ${ours.length} violations; ${expected.length} rules find what breaks them.`,
    );
    process.exitCode = ours.length === 0 ? 0 : 1;
  } else {
    console.log('docs/openapi.json: NOT checked, because the npm registry does not answer.');
  }
} finally {
  rmSync(folder, { recursive: true });
}
