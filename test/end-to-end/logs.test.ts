import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { readyText, type Start, start } from '../support/start.ts';

/** Found nowhere else, so that a search for it means something. */
const label = 'Etiket-5b81e0';

describe('the service, from creating a key to revoking it', () => {
  let data: string;
  let run: Start;
  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'logs-'));
    run = start(['--port', '0', '--data', data]);
    await run.until(readyText);
  });
  afterAll(async () => {
    run.child.kill('SIGKILL');
    await run.ended;
    await rm(data, { recursive: true, force: true });
  });

  it('logs no key, secret or label', async () => {
    const { baseUrl, endpoint, accessKeyId, accountsTable } = await readLocalState(data);
    const client = localDynamoDb(endpoint, accessKeyId);
    const admin = createAdmin({ client: DynamoDBDocumentClient.from(client), table: accountsTable });
    await admin.plans.put({ code: 'small', limits: { minute: 1, hour: 1 } });
    await admin.accounts.create({ id: 'logged', plan: 'small' });
    const { key, keyId } = await admin.keys.create({ account: 'logged', label });
    const secret = key.slice(key.indexOf(keyId) + keyId.length);
    const query = 'postcode=1381AA&huisnummer=9';
    const send = async (path: string, init: RequestInit = { headers: { 'x-api-key': key } }) =>
      (await fetch(baseUrl + path, init)).status;

    const statuses = [
      await send('/v1/auth/validate'),
      await send(`/v1/address?${query}`),
      await send(`/v1/address?${query}`),
      await send('/v1/address'),
      await send(`/v1/address?${query}&key=${key}`, {}),
      await send(`/v1/address/${key}`),
      await send('/v1/address', { method: 'POST', body: key, headers: { 'x-api-key': key } }),
      await send(`/v1/address?${query}`, { headers: { 'x-api-key': `${key}x`, cookie: key, 'user-agent': key } }),
    ];
    await admin.accounts.suspend('logged');
    statuses.push(await send(`/v1/address?${query}`));
    await admin.accounts.activate('logged');
    await admin.keys.revoke({ account: 'logged', keyId });
    statuses.push(await send(`/v1/address?${query}`));
    client.destroy();
    // A minute may end between the two lookups; the hour is there for that.
    expect(statuses).toEqual([200, 200, 429, 422, 401, 404, 405, 401, 403, 401]);

    run.child.kill('SIGINT');
    expect(await run.ended).toBe(0);
    const functions = await readFile(join(data, 'functions.log'), 'utf8');
    const [, access = ''] = run.output().split(readyText);
    expect(functions.trim().split('\n').length).toBeGreaterThanOrEqual(statuses.length);
    expect(access.match(/ in \d+ ms/g)).toHaveLength(statuses.length);
    for (const log of [functions, access]) {
      for (const hidden of [key, secret, label, '1381AA']) expect(log).not.toContain(hidden);
    }
  });
});
