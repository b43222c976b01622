import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { addressItem } from '../../../core/addresses/address-item.ts';
import { newAccount, startAddressService, testTables } from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';

const service = startForTests(startAddressService);
/** With identificaties, which `include=nummeraanduidingen` returns. */
beforeAll(async () => {
  const places = [
    { straat: 'Buitenveer', woonplaats: 'Weesp', nummeraanduidingen: ['0457200000202638'] },
  ];
  for (const key of ['1381AA#9#', '1381AA#9#A']) {
    const Item = addressItem({ key, places });
    await service.client.send(new PutItemCommand({ TableName: testTables.addresses, Item }));
  }
});

const address = fc.record(
  {
    postcode: fc.constantFrom('1381AA', '1381 aa', '9999SD', '0000AA'),
    huisnummer: fc.constantFrom<unknown>(9, '9', '12A', 0),
    toevoeging: fc.constantFrom<unknown>('a', '', null, 'A-2'),
  },
  { requiredKeys: ['postcode', 'huisnummer'] },
);
const sent = fc.record(
  {
    addresses: fc.array(address, { maxLength: 5 }),
    include: fc.subarray(['toevoegingen', 'nummeraanduidingen', 'x']),
  },
  { requiredKeys: ['addresses'] },
);
/** A body with a few of its bytes replaced, left out or put in. */
const damaged = fc
  .tuple(
    sent,
    fc.array(
      fc.record({
        at: fc.nat(),
        removed: fc.nat({ max: 3 }),
        put: fc.uint8Array({ maxLength: 3 }),
      }),
      {
        maxLength: 2,
      },
    ),
  )
  .map(([body, edits]) =>
    edits.reduce(
      (bytes, { at, removed, put }) => {
        const start = at % (bytes.length + 1);
        return Buffer.concat([bytes.subarray(0, start), put, bytes.subarray(start + removed)]);
      },
      Buffer.from(JSON.stringify(body)),
    ),
  );
const body = fc.oneof(
  { weight: 6, arbitrary: damaged },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }) },
  { weight: 1, arbitrary: fc.json().map((text) => Buffer.from(text)) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(65_536, 65_537, 200_000).map((length) => Buffer.alloc(length, ' ')),
  },
);
const contentType = fc.oneof(
  { weight: 5, arbitrary: fc.constant('application/json') },
  fc.constantFrom('application/json; charset=utf-16', 'text/json', ';', ''),
);

/** One for each status and one with identificaties, whatever is drawn. */
const examples: [Uint8Array, string][] = [
  [Buffer.from('{"addresses":[{"postcode":"1381AA","huisnummer":9}]}'), 'application/json'],
  [
    Buffer.from(
      '{"addresses":[{"postcode":"1381AA","huisnummer":9}],"include":["nummeraanduidingen"]}',
    ),
    'application/json',
  ],
  [Buffer.alloc(65_537), 'application/json'],
  [Buffer.from('{}'), 'text/plain'],
  [Buffer.from('{}'), 'application/json'],
];

it('answers any body as documented, and consumes the addresses that it answers and nothing else', async () => {
  const { id, key } = await newAccount(service, { day: 1_000_000 });
  const seen = new Set<number>();
  let used = 0;
  await fc.assert(
    fc.asyncProperty(body, contentType, async (bytes, type) => {
      const headers = { 'X-API-Key': key, 'Content-Type': type };
      const { status, json } = await service.instance.send('/v1/addresses', {
        method: 'POST',
        headers,
        body: bytes,
      });
      seen.add(status);
      expect([200, 413, 415, 422]).toContain(status);
      if (status === 200) used += (json as { results: unknown[] }).results.length;
      expect((await service.admin.accounts.show(id)).windows.day?.used).toBe(used);
    }),
    { numRuns: isFullSweep ? 200 : 20, examples },
  );
  expect([...seen].sort()).toEqual([200, 413, 415, 422]);
});
