import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { issueApiKey } from '../../../core/accounts/api-key.ts';
import { addressItem, maxToevoegingen } from '../../../core/addresses/address-item.ts';
import {
  type AddressService,
  burst,
  createInstance,
  newAccount,
  startAddressService,
  testAddress,
  testTables,
  usedOf,
} from '../../support/address-service.ts';
import { testChecksumSecret } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const service = startForTests(startAddressService);
let key: string;

beforeAll(async () => {
  ({ key } = await newAccount(service, { minute: 1000, day: 5000, month: null }));
});
beforeEach(() => {
  service.sent.length = 0;
});

describe('a lookup of objects in a deployment without them', () => {
  const query = 'postcode=1381AA&huisnummer=9&include=objecten';
  const body = {
    addresses: [{ postcode: '1381AA', huisnummer: 9 }],
    include: ['toevoegingen', 'objecten'],
  };

  it('is refused without counting, and told what to send instead', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    const one = await service.instance.lookUp(key, query);
    const many = await service.instance.lookUpAll(key, body);
    expect([one.status, many.status]).toEqual([422, 422]);
    const detail = expect.stringMatching(
      /^include has objecten, which the operator of this service has not turned on: send one or more of (?!.*objecten).*, each once\.$/,
    );
    const code = 'include-unavailable';
    expect(one.json).toMatchObject({ errors: [{ parameter: 'include', code, detail }] });
    expect(many.json).toMatchObject({ errors: [{ pointer: '/include/1', code, detail }] });
    expect(await usedOf(service, id)).toEqual({ day: 0 });
  });

  it('is refused with every other fault, and like any other request for a bad key', async () => {
    const { json } = await service.instance.lookUp(key, `${query},x,Objecten&toevoeging=A-1`);
    expect(json).toMatchObject({
      errors: [
        { code: 'toevoeging-character' },
        { code: 'include-unavailable' },
        { code: 'include-unknown' },
      ],
    });
    expect(JSON.stringify(json)).not.toMatch(/"include":|send [^"]*objecten/);
    expect((await service.instance.lookUp('bagadres_x', query)).status).toBe(401);
    expect((await service.instance.lookUpAll('bagadres_x', body)).status).toBe(401);
  });
});

describe('a lookup', () => {
  it('answers ok with the one street and place', async () => {
    const { status, headers, body } = await service.instance.lookUp(key);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(body).toBe(
      '{"status":"ok","request":{"postcode":"1381AA","huisnummer":9,"toevoeging":"a"},' +
        '"address":{"straat":"Buitenveer","woonplaats":"Weesp"},"candidates":[]}',
    );
  });

  it.each(['a', 'A', '+a', ''])(
    'finds the toevoeging %j whatever its case, and echoes it as given',
    async (toevoeging) => {
      const { json } = await service.instance.lookUp(
        key,
        `postcode=1381+aa&huisnummer=09&toevoeging=${toevoeging}`,
      );
      const echo = toevoeging.replace('+', '') || null;
      expect(json).toMatchObject({
        status: 'ok',
        request: { postcode: '1381AA', huisnummer: 9, toevoeging: echo },
      });
    },
  );

  it('answers not_found for an address that the register does not have, never the nearest one', async () => {
    const { status, json } = await service.instance.lookUp(
      key,
      'postcode=1381AA&huisnummer=9&toevoeging=b',
    );
    expect([status, json]).toEqual([
      200,
      {
        status: 'not_found',
        request: { postcode: '1381AA', huisnummer: 9, toevoeging: 'b' },
        address: null,
        candidates: [],
        toevoegingen: [null],
      },
    ]);
  });

  it('answers ambiguous with each distinct place', async () => {
    const { json } = await service.instance.lookUp(key, 'postcode=1222AB&huisnummer=1');
    expect(json).toMatchObject({
      status: 'ambiguous',
      address: null,
      candidates: [
        { straat: 'Bussumergrintweg', woonplaats: 'Bussum' },
        { straat: 'Bussumergrintweg', woonplaats: 'Hilversum' },
      ],
    });
  });

  it.each([
    ['', 1, 'ok'],
    ['&include=toevoegingen', 2, 'ok'],
    ['b', 2, 'not_found'],
  ])(
    'with %j takes one unit of quota, one write and %i reads of half a unit',
    async (more, reads, outcome) => {
      const { id, key } = await newAccount(service, { day: 10 });
      service.sent.length = 0;
      const { json } = await service.instance.lookUp(
        key,
        `postcode=1381AA&huisnummer=9&toevoeging=a${more}`,
      );
      expect(json).toMatchObject({
        status: outcome,
        ...(reads === 2 && { toevoegingen: expect.arrayContaining([null]) }),
      });
      expect(service.sent).toEqual([
        { name: 'UpdateItemCommand', table: 'accounts', units: 1 },
        ...Array(reads).fill({ name: 'GetItemCommand', table: 'addresses', units: 0.5 }),
      ]);
      expect(await usedOf(service, id)).toEqual({ day: 1 });
    },
  );

  it('reads the largest item in half a unit: a full list beside an address that is registered 100 times', async () => {
    const names = { straat: 'ë'.repeat(80), woonplaats: 'ë'.repeat(80) };
    const toevoegingen = Array.from({ length: maxToevoegingen + 50 }, (_, i) => `A${1000 + i}`);
    for (const [times, units] of [
      [100, 0.5],
      [200, 1],
    ] as const) {
      const nummeraanduidingen = Array.from(
        { length: times },
        (_, i) => `1900200099999${String(i).padStart(3, '0')}`,
      );
      const address = {
        key: '9998ZZ#99999#',
        places: [{ ...names, nummeraanduidingen }],
        toevoegingen,
      };
      await service.client.send(
        new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(address) }),
      );
      const query = 'postcode=9998ZZ&huisnummer=99999&include=toevoegingen,nummeraanduidingen';
      const { json } = await service.instance.lookUp(key, query);
      expect(json).toMatchObject({ address: { ...names, nummeraanduidingen } });
      expect(json).toMatchObject({ toevoegingen: toevoegingen.slice(0, maxToevoegingen) });
      expect(service.sent.at(-1)).toEqual({ name: 'GetItemCommand', table: 'addresses', units });
    }
  });

  it('of a test address counts without a read, and finds nothing where the deployment turns these off', async () => {
    const query = 'postcode=9999SD&huisnummer=1';
    expect((await service.instance.lookUp(key, query)).json).toMatchObject({ status: 'ok' });
    expect(service.sent).toEqual([{ name: 'UpdateItemCommand', table: 'accounts', units: 1 }]);
    const without = createInstance(service.client, { testAddresses: false });
    expect((await without.lookUp(key, query)).json).toMatchObject({
      status: 'not_found',
      toevoegingen: [],
    });
  });

  it('returns the quota and the date of the dataset', async () => {
    const account = await newAccount(service, { minute: 60, day: 5000, month: null });
    const { headers } = await service.instance.lookUp(account.key);
    expect(headers['ratelimit-policy']).toBe('"minute";q=60;w=60, "day";q=5000;w=86400');
    expect(headers.ratelimit).toMatch(/^"minute";r=59;t=([1-9]|[1-5][0-9]|60)$/);
    expect(headers['dataset-date']).toBe('2021-10-15');
  });

  it('leaves the quota fields out when no window is finite', async () => {
    const account = await newAccount(service, { month: null });
    const { status, headers } = await service.instance.lookUp(account.key);
    expect(status).toBe(200);
    expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });
});

describe('authentication', () => {
  it('returns the same bytes for a missing, malformed, unknown, wrong and revoked key, with valid or invalid input', async () => {
    const revoked = await newAccount(service, { day: 10 });
    await service.admin.keys.revoke({ account: revoked.id, keyId: revoked.keyId });
    const suspended = await newAccount(service, { day: 10 });
    await service.admin.accounts.suspend(suspended.id);
    const headers: Record<string, string>[] = [
      {},
      { 'x-api-key': '' },
      { 'x-api-key': 'x'.repeat(5000) },
      { 'x-api-key': `${key},${key}` },
      { 'x-api-key': issueApiKey('demo', 'another deployment').key },
      { 'x-api-key': issueApiKey('nobody', testChecksumSecret).key },
      { 'x-api-key': issueApiKey(revoked.id, testChecksumSecret).key },
      { 'x-api-key': issueApiKey(suspended.id, testChecksumSecret).key },
      { 'x-api-key': revoked.key },
      { authorization: `Bearer ${key}` },
    ];
    const answers = new Set<string>();
    for (const url of [
      '/v1/address?postcode=1381AA&huisnummer=9',
      '/v1/address',
      `/v1/address?key=${key}`,
      '/v1/auth/validate',
    ]) {
      for (const header of headers) {
        const { status, headers, body } = await service.instance.send(url, {
          headers: header,
          requestId: 'same',
        });
        answers.add(JSON.stringify({ status, headers, body }));
      }
    }
    expect(answers.size).toBe(1);
    expect([...answers][0]).toMatch(/"status":401.*"www-authenticate":"ApiKey /);
  });

  it('makes no call for a key that this deployment has not issued', async () => {
    for (const junk of [
      '',
      'junk',
      `${key}x`,
      key.slice(1),
      issueApiKey('demo', 'another deployment').key,
    ]) {
      expect((await service.instance.lookUp(junk)).status).toBe(401);
    }
    expect(service.sent).toEqual([]);
  });

  it('refuses a suspended account and an inactive plan with their own types, without a charge, until they are active again', async () => {
    const { id, plan, key } = await newAccount(service, { day: 10 });
    await service.admin.accounts.suspend(id);
    for (const url of [
      '/v1/address?postcode=1381AA&huisnummer=9',
      '/v1/address',
      '/v1/auth/validate',
    ]) {
      const { status, json } = await service.instance.send(url, { headers: { 'x-api-key': key } });
      expect([status, json]).toEqual([
        403,
        expect.objectContaining({ type: '/problems/account-inactive' }),
      ]);
    }
    await service.admin.accounts.activate(id);
    await service.admin.plans.put({ code: plan, limits: { day: 10 }, state: 'inactive' });
    const { status, json } = await service.instance.lookUp(key);
    expect([status, json]).toEqual([
      403,
      expect.objectContaining({ type: '/problems/plan-inactive' }),
    ]);
    await service.admin.plans.put({ code: plan, limits: { day: 10 } });
    expect((await service.instance.lookUp(key)).status).toBe(200);
    expect(await usedOf(service, id)).toEqual({ day: 1 });
  });
});

describe('invalid input', () => {
  it('is refused with every error, after authentication and without a charge', async () => {
    const { id, key } = await newAccount(service, { day: 1 });
    const { status, json } = await service.instance.lookUp(
      key,
      'postcode=0000aa&toevoeging=abcdef',
    );
    expect(status).toBe(422);
    expect(json).toMatchObject({
      type: '/problems/invalid-input',
      errors: [
        { parameter: 'postcode', code: 'postcode-leading-zero', detail: expect.any(String) },
        { parameter: 'huisnummer', code: 'missing', detail: expect.any(String) },
        { parameter: 'toevoeging', code: 'toevoeging-too-long', detail: expect.any(String) },
      ],
    });
    expect(await usedOf(service, id)).toEqual({ day: 0 });
  });

  it('is a parameter that is not documented, which a validation ignores', async () => {
    const { id, key } = await newAccount(service, { day: 1 });
    const { status, json } = await service.instance.lookUp(
      key,
      'postcode=1381AA&huisnummer=9&toevoeg=a&utm_source=x',
    );
    expect([status, json]).toMatchObject([
      422,
      {
        errors: [
          { parameter: 'toevoeg', code: 'parameter-unknown', suggestion: { toevoeging: 'a' } },
          { parameter: 'utm_source', code: 'parameter-unknown' },
        ],
      },
    ]);
    expect(await usedOf(service, id)).toEqual({ day: 0 });
    const validation = await service.instance.send('/v1/auth/validate?toevoeg=a', {
      headers: { 'x-api-key': key },
    });
    expect(validation.status).toBe(200);
  });

  it('is refused with 422 also when no quota is left', async () => {
    const { key } = await newAccount(service, { day: 0 });
    expect((await service.instance.lookUp(key, 'postcode=x')).status).toBe(422);
  });
});

describe('paths and methods', () => {
  it.each([
    '/v1/address/',
    '/v1/Address',
    '/V1/address',
    '/',
    '',
    '//v1/address',
    '/v1/auth/validate/',
    '/v1/auth',
  ])('returns 404 at %s', async (path) => {
    const { status, json } = await service.instance.send(path, { headers: { 'x-api-key': key } });
    expect([status, json]).toEqual([404, expect.objectContaining({ type: '/problems/not-found' })]);
    expect(service.sent).toEqual([]);
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS', 'get'])(
    'allows only GET, not %s',
    async (method) => {
      for (const path of ['/v1/address?postcode=1381AA&huisnummer=9', '/v1/auth/validate']) {
        const { status, headers } = await service.instance.send(path, {
          method,
          headers: { 'x-api-key': key },
        });
        expect([status, headers.allow]).toEqual([405, 'GET']);
      }
      expect(service.sent).toEqual([]);
    },
  );
});

type Instance = AddressService['instance'];

/** An instance whose clock stands `at` that second since 1970. */
function instanceAt(at: number): Instance {
  return createInstance(service.observed, { clock: () => at });
}

const month = Date.UTC(2090, 0, 1) / 1000;

describe('quota', () => {
  it.each([
    [{ hour: 20 }, 30, 20],
    [{ hour: 35, day: 21, month: 1000 }, 30, 21],
    [{ hour: 20, day: null }, 20, 20],
    [{ month: null }, 20, 20],
    [{ hour: 0, day: 10 }, 10, 0],
    [{ minute: 99, hour: 1 }, 20, 1],
  ])('of %j admits, of %i concurrent lookups, exactly %i', async (limits, count, admitted) => {
    const { id, key } = await newAccount(service, limits);
    const statuses = await burst([service.instance, createInstance(service.observed)], key, count);
    expect(statuses).toEqual({
      ...(admitted > 0 && { 200: admitted }),
      ...(admitted < count && { 429: count - admitted }),
    });
    for (const units of Object.values(await usedOf(service, id))) expect(units).toBe(admitted);
  });

  it('is shared by all keys of an account', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    const other = await service.admin.keys.create({ account: id, label: 'other' });
    const [a, b] = await Promise.all([
      burst([service.instance], key, 10),
      burst([service.instance], other.key, 10),
    ]);
    expect((a[200] ?? 0) + (b[200] ?? 0)).toBe(10);
  });

  it('returns a 429 with the violated windows, the wait and the state of each window', async () => {
    const { key } = await newAccount(service, { minute: 2, day: 2, month: 50 });
    const now = month + 86_400 + 3600 + 10.5;
    const instance = instanceAt(now);
    expect((await burst([instance], key, 2))[200]).toBe(2);
    const { status, headers, json } = await instance.lookUp(key, testAddress);
    expect(status).toBe(429);
    expect(headers).toMatchObject({
      'retry-after': String(86_400 - 3600 - 10),
      'ratelimit-policy': '"minute";q=2;w=60, "day";q=2;w=86400, "month";q=50;w=2678400',
      ratelimit: `"day";r=0;t=${86_400 - 3600 - 10}`,
    });
    expect(json).toMatchObject({
      type: '/problems/quota-exceeded',
      violated_windows: ['minute', 'day'],
    });
  });

  it('admits again after exactly Retry-After seconds, and not earlier', async () => {
    const { key } = await newAccount(service, { minute: 1, hour: 100 });
    const now = month + 10;
    await instanceAt(now).lookUp(key, testAddress);
    const wait = Number((await instanceAt(now).lookUp(key, testAddress)).headers['retry-after']);
    expect((await instanceAt(now + wait - 1).lookUp(key, testAddress)).status).toBe(429);
    expect((await instanceAt(now + wait).lookUp(key, testAddress)).status).toBe(200);
  });

  it('takes at most three writes per caller when a window rolls over, and otherwise one', async () => {
    const { key } = await newAccount(service, { minute: 1000, day: 1000 });
    const callers = 20;
    for (const [minute, most] of [
      [0, 3],
      [0, 1],
      [1, 3],
      [1, 1],
    ] as const) {
      service.sent.length = 0;
      await burst([instanceAt(month + minute * 60)], key, callers);
      const writes = service.sent.filter(({ name }) => name === 'UpdateItemCommand').length;
      expect(writes).toBeGreaterThanOrEqual(callers);
      expect(writes).toBeLessThanOrEqual(callers * most);
    }
  });

  it('is exact when clocks differ: a window never moves backwards', async () => {
    const { id, key } = await newAccount(service, { minute: 20, day: 1000 });
    const boundary = month + 600;
    const instances = [-90, -2, -0.5, 0, 0.5, 3].map((skew) => instanceAt(boundary + skew));
    const fast = instances[5] as Instance;
    expect((await fast.lookUp(key, testAddress)).status).toBe(200);
    expect((await burst(instances, key, 60))[200]).toBe(19);
    expect((await burst(instances.slice(0, 3), key, 10))[200] ?? 0).toBe(0);
    expect((await usedOf(service, id)).day).toBe(20);
  });

  it('refuses every lookup that starts after a revocation returned, in the middle of a burst', async () => {
    const { id, key, keyId } = await newAccount(service, { day: 100_000 });
    const begun = Promise.withResolvers<void>();
    let revoked = false;
    let late = 0;
    let before = 0;
    const callers = Array.from({ length: 10 }, async () => {
      for (let lateOfMine = 0; lateOfMine < 3; ) {
        const startedAfter = revoked;
        const { status } = await service.instance.lookUp(key, testAddress);
        if (startedAfter) {
          late++;
          lateOfMine++;
          expect(status).toBe(401);
        } else if (status === 200 && ++before === 20) begun.resolve();
      }
    });
    await begun.promise;
    const other = await service.admin.keys.create({ account: id, label: 'other' });
    await service.admin.keys.revoke({ account: id, keyId });
    revoked = true;
    await Promise.all(callers);
    expect((await service.instance.lookUp(other.key, testAddress)).status).toBe(200);
    expect(late).toBe(30);
    expect((await usedOf(service, id)).day).toBeGreaterThanOrEqual(before);
  });

  it('counts an hour while its plan configures it, and only then', async () => {
    const { id, plan, key } = await newAccount(service, { hour: 10, day: null });
    const change = (limits: Record<string, number | null>) =>
      service.admin.plans.put({ code: plan, limits });
    const at = month + 7200;
    const served = async (count: number, seconds = 0) =>
      (await burst([instanceAt(at + seconds)], key, count))[200] ?? 0;
    expect(await served(4)).toBe(4);
    await change({ day: null });
    expect(await served(20)).toBe(20);
    // A change that does not concern the hour does not take its count either.
    await change({ day: 1000 });
    expect(await served(5)).toBe(5);
    await change({ hour: 10, day: null });
    expect(await served(20)).toBe(6);
    await change({ hour: 12, day: null });
    expect(await served(20)).toBe(2);
    await change({ day: null });
    expect(await served(3)).toBe(3);
    await change({ hour: 10, day: null });
    expect(await served(20, 3600)).toBe(10);
    expect(await usedOf(service, id)).toEqual({ hour: 10, day: 50 });
  });

  it('counts the first hour that a plan configures from then on', async () => {
    const { plan, key } = await newAccount(service, { day: null });
    expect((await burst([instanceAt(month + 100)], key, 5))[200]).toBe(5);
    await service.admin.plans.put({ code: plan, limits: { hour: 3, day: null } });
    expect((await burst([instanceAt(month + 200)], key, 5))[200]).toBe(3);
  });

  it('applies a plan change in the middle of a window at once and exactly', async () => {
    const { id, plan, key } = await newAccount(service, { day: 10 });
    expect((await burst([service.instance], key, 8))[200]).toBe(8);
    await service.admin.plans.put({ code: plan, limits: { day: 5 } });
    expect((await burst([service.instance], key, 5))[429]).toBe(5);
    await service.admin.plans.put({ code: plan, limits: { day: 12, month: 11 } });
    expect((await burst([service.instance], key, 20))[200]).toBe(3);
    await service.admin.plans.put({ code: plan, limits: { day: null } });
    expect((await burst([service.instance], key, 20))[200]).toBe(20);
    expect(await usedOf(service, id)).toEqual({ day: 31 });
  });
});
