import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { developPortal } from '../../docs/examples/portal/develop.ts';
import { createPortal } from '../../docs/examples/portal/portal.ts';
import { writeLocalState } from '../../local/data-folder.ts';
import { guardEndpoint } from '../../local/engine/client.ts';
import { testTables } from '../support/address-service.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

let service: HttpService;
let portal: ReturnType<typeof createPortal>;

beforeAll(async () => {
  service = await startHttpService();
  await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
  await service.admin.plans.put({ code: 'large', limits: { day: 1000 } });
  await service.admin.plans.put({ code: 'secret', limits: { day: null } });
  portal = createPortal({
    client: service.client,
    table: testTables.accounts,
    plansOnOffer: ['small', 'large'],
    // In the test whoever says so is signed in.
    customerOf: async ({ headers }) => {
      const account = headers['x-test-account'];
      return typeof account === 'string'
        ? { account, email: `someone@${account}.example` }
        : undefined;
    },
  }).listen(0, '127.0.0.1');
  await once(portal, 'listening');
});
afterAll(async () => {
  portal.close();
  portal.closeAllConnections();
  await service.stop();
});

let accounts = 0;

/** The portal as a new customer sees it. */
async function newCustomer() {
  const account = `customer-${++accounts}`;
  await service.admin.accounts.create({ id: account, plan: 'small' });
  const { port } = portal.address() as AddressInfo;
  async function ask(method: string, path: string, body?: object) {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      method,
      headers: { 'x-test-account': account, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Record<string, string> };
  }
  return { account, ask, port };
}

function lookUp(key = '') {
  return service.send('/v1/address?postcode=1012RJ&huisnummer=147', {
    headers: { 'X-API-Key': key },
  });
}

describe('the example for development', () => {
  it('creates a key on the database of npm start, behind its secret, that works at its API', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'develop-portal-'));
    await service.admin.accounts.create({ id: 'demo', plan: 'small' });
    const guarded = await guardEndpoint(service.endpoint);
    await writeLocalState(folder, {
      pid: process.pid,
      baseUrl: service.baseUrl,
      endpoint: guarded.endpoint,
      accessKeyId: guarded.accessKeyId,
      addressesTable: testTables.addresses,
      accountsTable: testTables.accounts,
      storageFolder: folder,
    });
    const server = developPortal(folder).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const headers = { 'content-type': 'application/json' };
    const init = { method: 'POST', headers, body: JSON.stringify({ label: 'webshop' }) };
    const made = (await (await fetch(`http://127.0.0.1:${port}/keys`, init)).json()) as {
      key: string;
    };
    expect((await lookUp(made.key)).status).toBe(200);
    server.close();
    server.closeAllConnections();
    await guarded.stop();
    await rm(folder, { recursive: true });
  });
});

describe('the worked example of a portal', () => {
  it('creates a key that works at once, and never shows it again', async () => {
    const { ask } = await newCustomer();
    const made = await ask('POST', '/keys', { label: 'webshop' });
    expect(made.status).toBe(201);
    expect((await lookUp(made.body.key)).status).toBe(200);
    const listed = await ask('GET', '/keys');
    expect(listed.body).toMatchObject([
      { keyId: made.body.keyId, label: 'webshop', state: 'active' },
    ]);
    expect(JSON.stringify(listed.body)).not.toContain(made.body.key?.slice(-30));
  });

  it('rotates a key while it is in use, without one refused request', async () => {
    const { ask } = await newCustomer();
    const old = (await ask('POST', '/keys', { label: 'old' })).body;
    const statuses: number[] = [];
    let key = old.key ?? '';
    let over = false;
    const traffic = (async () => {
      while (!over) statuses.push((await lookUp(key)).status);
    })();
    const next = (await ask('POST', '/keys', { label: 'new' })).body;
    key = next.key ?? '';
    const answered = statuses.length;
    // What was sent with the old key has been answered once another one after it has.
    while (statuses.length < answered + 2) await setImmediate();
    expect((await ask('DELETE', `/keys/${old.keyId}`)).body).toMatchObject({ state: 'revoked' });
    const revoked = statuses.length;
    while (statuses.length < revoked + 5) await setImmediate();
    over = true;
    await traffic;
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect((await lookUp(old.key)).status).toBe(401);
  });

  it('shows the usage of each window, and lets a customer choose from the offered plans', async () => {
    const { ask } = await newCustomer();
    const { key } = (await ask('POST', '/keys', { label: 'webshop' })).body;
    await lookUp(key);
    const usageOn = (plan: string, limit: number) => ({
      plan,
      windows: { day: { limit, used: 1 } },
    });
    expect((await ask('GET', '/usage')).body).toMatchObject(usageOn('small', 100));
    expect(await ask('POST', '/plan', { plan: 'secret' })).toMatchObject({ status: 403 });
    await ask('POST', '/plan', { plan: 'large' });
    expect((await ask('GET', '/usage')).body).toMatchObject(usageOn('large', 1000));
  });

  it('records who was signed in in the audit, without a key', async () => {
    const { ask, account } = await newCustomer();
    const { key, keyId } = (await ask('POST', '/keys', { label: 'webshop' })).body;
    await ask('POST', '/plan', { plan: 'large' });
    const { body } = await ask('GET', '/changes');
    const actor = `someone@${account}.example`;
    const entries = [
      { actor, action: 'account set', detail: { plan: 'large' }, outcome: 'done' },
      { actor, action: 'key create', detail: { keyId }, outcome: 'done' },
      { actor: 'unknown', action: 'account create' },
    ];
    expect(body).toMatchObject({ entries, cursor: null });
    expect(JSON.stringify(body)).not.toContain(key?.slice(-30));
    expect(JSON.stringify(body)).not.toContain('webshop');
  });

  it('isolates customers from each other, and refuses visitors who are not signed in', async () => {
    const one = await newCustomer();
    const other = await newCustomer();
    const { keyId } = (await one.ask('POST', '/keys', { label: 'webshop' })).body;
    expect(await other.ask('DELETE', `/keys/${keyId}`)).toMatchObject({ status: 404 });
    expect((await fetch(`http://127.0.0.1:${one.port}/keys`)).status).toBe(401);
  });

  it.each([
    ['a label that is too long', 'POST', '/keys', { label: 'x'.repeat(1000) }, 422],
    ['no label', 'POST', '/keys', {}, 422],
    ['an unknown key', 'DELETE', '/keys/00000000', undefined, 404],
    ['another path', 'GET', '/accounts', undefined, 404],
  ])('answers %s with what to do', async (_what, method, path, body, status) => {
    const { ask } = await newCustomer();
    expect(await ask(method, path, body)).toEqual({
      status,
      body: { error: expect.stringMatching(/\w{3}/) },
    });
  });

  it('refuses a form of another site', async () => {
    const { account, port } = await newCustomer();
    const headers = { 'x-test-account': account, 'content-type': 'text/plain' };
    const answer = await fetch(`http://127.0.0.1:${port}/keys`, {
      method: 'POST',
      body: 'label=x',
      headers,
    });
    expect(answer.status).toBe(415);
  });
});
