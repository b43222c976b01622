import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../../core/names.ts';
import type { Answer } from '../../lambdas/http/middleware.ts';
import { writeBundle } from '../../lib/shared/bundle.ts';
import { expectContract } from '../support/contract.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';

let folder: string;
let handler: (event: object, context: object) => Promise<Answer>;

/** The function behind `$default` as it is deployed; what it publishes needs no table, so none is there. */
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'reference-'));
  await mkdir(join(folder, 'bundle'));
  writeBundle({ name: 'Validate', entries: { index: 'lambdas/validate/handler.ts' } }, join(folder, 'bundle'));
  process.env[environment.accountsTable] = 'none';
  process.env[environment.keyChecksumSecret] = 'none';
  ({ handler } = await import(pathToFileURL(join(folder, 'bundle/index.mjs')).href));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function send(path: string, method = 'GET') {
  const { statusCode = 0, headers, body = '' } = await handler(gatewayEvent(path, { method }), lambdaContext);
  expectContract(method, path, { status: statusCode, headers, body });
  return { status: statusCode, body };
}

describe('the deployed function', () => {
  it('publishes the OpenAPI document of the repository, without a key', async () => {
    const { body } = await send('/v1/openapi.json');
    expect(JSON.parse(body)).toEqual(JSON.parse(await readFile('docs/openapi.json', 'utf8')));
  });

  it('publishes the problem pages, and a 404 for an unknown one', async () => {
    expect((await send('/problems/invalid-input')).body).toContain('What to do');
    expect((await send('/problems/unknown')).status).toBe(404);
    expect((await send('/problems/invalid-input', 'POST')).status).toBe(405);
  });
});
