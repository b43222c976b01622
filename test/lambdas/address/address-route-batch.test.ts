import { describe, expect, it } from '@jest/globals';
import { systemClock } from '../../../core/calendar.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  usedOf,
} from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);

const found = { postcode: '1381AA', huisnummer: 9, toevoeging: 'a' };
const addresses = (count: number) =>
  Array.from({ length: count }, (_, i) => ({ postcode: '1381AA', huisnummer: i + 1 }));
const used = async (id: string) => (await usedOf(service, id)).day;

/** Sends a body as it is. */
const post = (key: string, body: string | Uint8Array, query = '', type = 'application/json') =>
  service.instance.send(`/v1/addresses${query}`, {
    method: 'POST',
    headers: { 'X-API-Key': key, ...(type && { 'Content-Type': type }) },
    body,
  });

describe('POST /v1/addresses', () => {
  it('returns each outcome as the single lookup does, in the order given, and counts each address', async () => {
    const { instance } = service;
    const { id, key } = await newAccount(service, { day: 100 });
    const sent = [
      found,
      { postcode: '9999 sd', huisnummer: '0002', toevoeging: 'c' },
      { postcode: '1222AB', huisnummer: 1, toevoeging: null },
      { postcode: '1381AA', huisnummer: 10, toevoeging: '' },
      found,
    ];
    const { status, json, headers } = await instance.lookUpAll(key, { addresses: sent });
    expect(status).toBe(200);
    expect(headers).toMatchObject({
      ratelimit: expect.stringContaining('"day";r=95;t='),
      'dataset-date': '2021-10-15',
    });
    expect(await used(id)).toBe(5);
    const singles = await Promise.all(
      sent.map(async ({ toevoeging, ...rest }) => {
        const query = new URLSearchParams({
          ...rest,
          huisnummer: String(rest.huisnummer),
          toevoeging: toevoeging ?? '',
        });
        return (await instance.lookUp(key, String(query))).json;
      }),
    );
    expect(json).toEqual({ results: singles });
  });

  it('includes what the request names, with every outcome', async () => {
    const { key } = await newAccount(service, { day: 100 });
    const include = ['nummeraanduidingen', 'toevoegingen'];
    const sent = { addresses: [{ postcode: '9999SD', huisnummer: 2, toevoeging: 'A' }], include };
    const { json } = await service.instance.lookUpAll(key, sent);
    const single = await service.instance.lookUp(
      key,
      `postcode=9999SD&huisnummer=2&toevoeging=A&include=${include}`,
    );
    expect(json).toEqual({ results: [single.json] });
    expect(JSON.stringify(json)).toContain('9999200000000021');
  });

  it('takes two calls of the store in steady state for a hundred lookups', async () => {
    const { key } = await newAccount(service, { minute: 100_000, day: 100_000, month: null });
    // No window ends in between, which would take another write.
    const now = systemClock();
    const instance = createInstance(service.observed, { clock: () => now });
    const sent = { addresses: addresses(100) };
    for (let i = 0; i < 2; i++) expect((await instance.lookUpAll(key, sent)).status).toBe(200);
    service.sent.length = 0;
    for (let i = 0; i < 5; i++) expect((await instance.lookUpAll(key, sent)).status).toBe(200);
    const writes = service.sent.filter(({ name }) => name === 'UpdateItemCommand');
    expect(writes.map(({ units }) => units)).toEqual([1, 1, 1, 1, 1]);
    expect(service.sent.filter(({ table }) => table === 'accounts')).toHaveLength(5);
  });
});

describe('a request for more than is left', () => {
  it('gets 429 that says what is left and when it could succeed, and consumes nothing', async () => {
    const { id, key } = await newAccount(service, { day: 50, month: 1000 });
    const { instance } = service;
    expect((await instance.lookUpAll(key, { addresses: addresses(30) })).status).toBe(200);
    const { status, headers, json } = await instance.lookUpAll(key, { addresses: addresses(21) });
    expect(status).toBe(429);
    expect(headers.ratelimit).toMatch(/^"day";r=20;t=\d+$/);
    expect(headers['ratelimit-policy']).toMatch(/^"day";q=50;w=86400, "month";q=1000;w=\d+$/);
    expect(headers['retry-after']).toBe(/t=(\d+)/.exec(headers.ratelimit ?? '')?.[1]);
    expect(json).toMatchObject({
      violated_windows: ['day'],
      detail: expect.stringContaining('21 addresses'),
    });
    expect(await used(id)).toBe(30);
    expect((await instance.lookUpAll(key, { addresses: addresses(20) })).status).toBe(200);
    expect(await used(id)).toBe(50);
  });

  it('is told that a limit below its number can never admit it', async () => {
    const { id, key } = await newAccount(service, { minute: 10, day: 1000 });
    const { status, headers, json } = await service.instance.lookUpAll(key, {
      addresses: addresses(11),
    });
    expect([status, json]).toEqual([
      429,
      expect.objectContaining({ violated_windows: ['minute'] }),
    ]);
    expect(json).toMatchObject({
      detail: expect.stringMatching(/limit is 10 a minute: it can never succeed/),
    });
    expect(headers.ratelimit).toMatch(/^"minute";r=10;t=\d+$/);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(await used(id)).toBe(0);
  });
});

describe('concurrent requests for many addresses', () => {
  it.each(sweep([40, 3], 1))(
    'with %i addresses each are served until fewer are left, with none more',
    async (size) => {
      const limit = size * 6 + Math.floor(size / 2);
      const { id, key } = await newAccount(service, { minute: 10_000, day: limit });
      const instances = Array.from({ length: 4 }, () => createInstance(service.client));
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, i) =>
          instances[i % 4]?.lookUpAll(key, { addresses: addresses(size) }),
        ),
      );
      const statuses = answers.map((answer) => answer?.status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(6);
      expect(statuses.filter((status) => status === 429)).toHaveLength(6);
      expect(await used(id)).toBe(size * 6);
    },
  );

  it('share the quota with single lookups exactly, whatever their sizes', async () => {
    const { id, key } = await newAccount(service, { minute: 10_000, day: 120 });
    const sizes = Array.from({ length: 40 }, (_, i) => 1 + ((i * 7) % 11));
    const answers = await Promise.all(
      sizes.map(async (size) => ({
        size,
        status: (await service.instance.lookUpAll(key, { addresses: addresses(size) })).status,
      })),
    );
    const served = answers
      .filter(({ status }) => status === 200)
      .reduce((sum, { size }) => sum + size, 0);
    const least = Math.min(
      ...answers.filter(({ status }) => status === 429).map(({ size }) => size),
    );
    expect(answers.every(({ status }) => status === 200 || status === 429)).toBe(true);
    expect(await used(id)).toBe(served);
    expect(120 - served).toBeLessThan(least);
  });
});

describe('invalid input', () => {
  it.each([
    ['[]', ' body-form'],
    ['{"addresses":', ' body-form'],
    ['', ' body-form'],
    ['{}', '/addresses missing'],
    ['{"addresses":{}}', '/addresses member-type'],
    ['{"addresses":[]}', '/addresses addresses-count'],
    [JSON.stringify({ addresses: addresses(101) }), '/addresses addresses-count'],
    ['{"addresses":[FOUND],"inclde":[]}', '/inclde unknown-member'],
    ['{"addresses":[FOUND,null,"x"]}', '/addresses/1 member-type, /addresses/2 member-type'],
    [
      '{"addresses":[FOUND,{"postcode":"0123AB","huisnummer":"12A"},{"huisnummer":0}]}',
      '/addresses/1/postcode postcode-leading-zero, /addresses/1/huisnummer huisnummer-with-toevoeging, ' +
        '/addresses/2/postcode missing, /addresses/2/huisnummer huisnummer-zero',
    ],
    [
      '{"addresses":[{"postcode":1381,"huisnummer":12.5,"toevoeging":2},{"postcode":null,"huisnummer":true}]}',
      '/addresses/0/postcode member-type, /addresses/0/huisnummer member-type, ' +
        '/addresses/0/toevoeging member-type, /addresses/1/postcode missing, /addresses/1/huisnummer member-type',
    ],
    [
      '{"addresses":[{"postcode":"1381AA","huisnummer":9,"huisletter":"b","a/b~c":1,"include":[]}]}',
      '/addresses/0/huisletter unknown-member, /addresses/0/a~1b~0c unknown-member, ' +
        '/addresses/0/include unknown-member',
    ],
    ['{"addresses":[FOUND],"include":"toevoegingen"}', '/include member-type'],
    ['{"addresses":[FOUND],"include":[]}', '/include include-empty'],
    [
      '{"addresses":[FOUND],"include":["toevoegingen","x",1,"","toevoegingen"]}',
      '/include/1 include-unknown, /include/2 member-type, /include/3 include-empty, /include/4 include-repeated',
    ],
    [
      '{"addresses":[{"postcode":"1012RJ","postcode":"1381AA","huisnummer":9}]}',
      '/addresses/0/postcode duplicate',
    ],
    ['{"addresses":[],"addresses":[FOUND]}', '/addresses duplicate'],
    ['{"include":[],"addresses":[FOUND],"incl\\u0075de":["toevoegingen"]}', '/include duplicate'],
  ])('%s gets 422 with every fault at its pointer, and consumes nothing', async (text, faults) => {
    const { id, key } = await newAccount(service, { day: 10 });
    const { status, json } = await post(key, text.replaceAll('FOUND', JSON.stringify(found)));
    const { errors } = json as { errors: { pointer: string; code: string }[] };
    expect(status).toBe(422);
    expect(errors.map(({ pointer, code }) => `${pointer} ${code}`).toSorted()).toEqual(
      faults.split(', ').toSorted(),
    );
    expect(await used(id)).toBe(0);
  });

  it('never repeats an API key that was sent in the body', async () => {
    const { key } = await newAccount(service, { day: 10 });
    for (const body of [
      { addresses: [{ ...found, key }] },
      { addresses: [{ ...found, [key]: 'x' }] },
      { addresses: [{ ...found, toevoeging: key }] },
      { addresses: [found], key },
      { addresses: [found], [key]: 1 },
      { addresses: [found], include: [key] },
    ]) {
      const { status, body: text } = await service.instance.lookUpAll(key, body);
      expect([status, text]).toEqual([422, expect.stringContaining('misplaced-key')]);
      expect(text).not.toContain(key.slice(10));
    }
  });

  it('in the query gets 422 by the name of the parameter, and consumes nothing; a key there is not repeated', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    const answer = await post(
      key,
      JSON.stringify({ addresses: [found] }),
      `?include=toevoegingen&token=${key}`,
    );
    expect([answer.status, answer.json]).toMatchObject([
      422,
      {
        errors: [
          { parameter: 'include', code: 'parameter-unknown' },
          { parameter: 'token', code: 'misplaced-key' },
        ],
      },
    ]);
    expect(answer.body).not.toContain(key.slice(10));
    expect(await used(id)).toBe(0);
  });

  it('suggests to a program what to send, also for a member that another API has', async () => {
    const { key } = await newAccount(service, { day: 10 });
    const sent = {
      addresses: [
        { ...found, huisnummer: '12A' },
        { ...found, toevoeging: '2', huisletter: 'b', note: null },
      ],
    };
    const { json } = await service.instance.lookUpAll(key, sent);
    expect(json).toMatchObject({
      errors: [
        { pointer: '/addresses/0/huisnummer', suggestion: { huisnummer: '12', toevoeging: 'a' } },
        {
          pointer: '/addresses/1/huisletter',
          code: 'unknown-member',
          suggestion: { toevoeging: 'b2' },
        },
        {
          pointer: '/addresses/1/note',
          detail: 'note is unknown: send only postcode, huisnummer, and toevoeging.',
        },
      ],
    });
  });

  it('is not a byte order mark before the JSON', async () => {
    const { key } = await newAccount(service, { day: 10 });
    expect((await post(key, `\ufeff${JSON.stringify({ addresses: [found] })}`)).status).toBe(200);
  });

  it.each<[string, string | Uint8Array, string, number]>([
    ['has 64 KB', `{"addresses":[${' '.repeat(64 * 1024 - 16)}]}`, 'application/json', 422],
    ['has one byte more', `{"addresses":[${' '.repeat(64 * 1024 - 15)}]}`, 'application/json', 413],
    ['has more than 64 KB and another type', 'x'.repeat(70_000), 'text/plain', 413],
    ['is declared as text', '{}', 'text/plain', 415],
    ['is declared as nothing', '{}', '', 415],
    ['is declared as another JSON', '{}', 'application/problem+json', 415],
    ['is declared with a character set', '{}', 'Application/JSON ; charset=utf-8', 422],
    ['comes as bytes', new TextEncoder().encode('{}'), 'application/json', 422],
  ])('whose body %s is refused', async (_, body, contentType, expected) => {
    const { id, key } = await newAccount(service, { day: 10 });
    expect((await post(key, body, '', contentType)).status).toBe(expected);
    expect(await used(id)).toBe(0);
    expect((await post('bad', body, '', contentType)).status).toBe(401);
  });

  it('by another method is refused with Allow: POST, and on a path with a slash at its end with 404', async () => {
    const { key } = await newAccount(service, { day: 10 });
    const headers = { 'X-API-Key': key };
    const { status, headers: answered } = await service.instance.send('/v1/addresses', { headers });
    expect([status, answered.allow]).toEqual([405, 'POST']);
    const slash = await service.instance.send('/v1/addresses/', { method: 'POST', headers });
    expect(slash.status).toBe(404);
  });
});
