import type { BatchGetItemCommand, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { DeleteCommand, DynamoDBDocumentClient, PutCommand } from '@aws-sdk/lib-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  addressItem,
  compareToevoegingen,
  type StoredAddress,
  type Toevoeging,
} from '../../../core/addresses/address-item.ts';
import { createAddressStore, createDatasetDate } from '../../../core/addresses/address-store.ts';
import { lookupAnswer } from '../../../core/addresses/lookup-answer.ts';
import { withTestAddresses } from '../../../core/addresses/test-addresses.ts';
import { type AddressRequest, lookupAnswerSchema } from '../../../core/contract.ts';
import { type StoreClient, StoreUnavailable } from '../../../core/dynamodb.ts';
import { type IncludeName, includeNames } from '../../../core/place-fields.ts';
import { addressesTable } from '../../../core/tables.ts';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { createTables, startDynamoDb } from '../../support/dynamodb.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const place = { straat: 'Nieuwstraat', woonplaats: 'Weesp' };
const id = (number: number) => `045720000000000${number}`;
const places = [{ ...place, nummeraanduidingen: [id(1), id(2)] }];
const others = [{ ...place, woonplaats: 'Muiden', nummeraanduidingen: [id(3)] }, ...places];
const stored: StoredAddress[] = [
  { key: '1381AA#1#', places },
  { key: '1381AA#2#', places: [], toevoegingen: ['A', 'B'] },
  { key: '1381AA#2#A', places },
  { key: '1381AA#3#', places, toevoegingen: [null, 'A'] },
  { key: '1381AA#3#A', places: others },
  // A load has written one of the two items, and not yet the other.
  { key: '1381AA#6#B', places },
  { key: '1381AA#7#', places, toevoegingen: [null, 'A', 'C'] },
  { key: '1381AA#7#B', places },
];

type Sent = GetItemCommand | BatchGetItemCommand;

/**
 * The store over these items, and the keys that each call reads. At first a call leaves every
 * second key of a batch unprocessed.
 */
function storeOf(unprocessed = false) {
  const read: string[][] = [];
  const itemOf = (key: string) => {
    const found = stored.find((address) => address.key === key);
    return found && addressItem(found);
  };
  const send = async ({ input }: Sent) => {
    if (!('RequestItems' in input)) {
      const { Key } = input as GetItemCommand['input'];
      const key = Key?.[addressesTable.partitionKey]?.S ?? '';
      read.push([key]);
      return { Item: itemOf(key) };
    }
    const keys = (input.RequestItems?.addresses?.Keys ?? []).map(
      (key) => key[addressesTable.partitionKey]?.S ?? '',
    );
    read.push(keys);
    if (keys.length > 100 || new Set(keys).size < keys.length) {
      throw new Error('DynamoDB refuses this batch');
    }
    const left = unprocessed && keys.length > 1 ? keys.filter((_, i) => i % 2 === 1) : [];
    const done = keys.filter((key) => !left.includes(key));
    return {
      // In another order than asked for, as DynamoDB may.
      Responses: {
        addresses: done.toReversed().flatMap((key) => {
          const item = itemOf(key);
          return item ? [item] : [];
        }),
      },
      UnprocessedKeys:
        left.length > 0 ? { addresses: { Keys: left.map((S) => ({ address: { S } })) } } : {},
    };
  };
  return { read, store: createAddressStore({ send } as unknown as StoreClient, 'addresses') };
}

const request = (huisnummer: number, toevoeging: Toevoeging): AddressRequest => ({
  postcode: '1381AA',
  huisnummer,
  toevoeging,
});
const soon = () => AbortSignal.timeout(5_000);

describe('the find of an address', () => {
  it.each<[number, Toevoeging, IncludeName[], Toevoeging[] | undefined, string[]]>([
    [1, null, [], undefined, ['1381AA#1#']],
    [1, 'A', [], [null], ['1381AA#1#A', '1381AA#1#']],
    [2, null, [], ['A', 'B'], ['1381AA#2#']],
    [2, 'a', [], undefined, ['1381AA#2#A']],
    [2, 'b', [], ['A'], ['1381AA#2#B', '1381AA#2#']],
    [2, 'C', [], ['A', 'B'], ['1381AA#2#C', '1381AA#2#']],
    [3, null, [], undefined, ['1381AA#3#']],
    [3, 'C', [], [null, 'A'], ['1381AA#3#C', '1381AA#3#']],
    [4, null, [], [], ['1381AA#4#']],
    [4, 'A', [], [], ['1381AA#4#A', '1381AA#4#']],
    [1, null, ['toevoegingen'], [null], ['1381AA#1#']],
    [3, null, ['toevoegingen'], [null, 'A'], ['1381AA#3#']],
    [3, 'a', ['toevoegingen'], [null, 'A'], ['1381AA#3#A', '1381AA#3#']],
    [2, 'a', ['toevoegingen'], ['A', 'B'], ['1381AA#2#A', '1381AA#2#']],
    [2, 'C', ['toevoegingen'], ['A', 'B'], ['1381AA#2#C', '1381AA#2#']],
    [4, 'A', ['toevoegingen'], [], ['1381AA#4#A', '1381AA#4#']],
    [6, 'b', ['toevoegingen'], ['B'], ['1381AA#6#B', '1381AA#6#']],
    [7, 'b', ['toevoegingen'], [null, 'A', 'B', 'C'], ['1381AA#7#B', '1381AA#7#']],
    [2, 'a', ['nummeraanduidingen'], undefined, ['1381AA#2#A']],
  ])('%i with toevoeging %p, including %j: toevoegingen %j, after reading %j', async (...row) => {
    const [huisnummer, toevoeging, include, toevoegingen, keys] = row;
    const { store, read } = storeOf();
    const lookup = request(huisnummer, toevoeging);
    const answer = lookupAnswer(lookup, include, await store.find(lookup, include, soon()));
    expect(answer.toevoegingen).toEqual(toevoegingen);
    expect(read.flat()).toEqual(keys);
  });
});

describe('the answer of a lookup', () => {
  const lookup = request(3, 'a');

  it.each<[IncludeName[], object]>([
    [[], { candidates: [{ ...place, woonplaats: 'Muiden' }, place] }],
    [
      ['toevoegingen'],
      { candidates: [{ ...place, woonplaats: 'Muiden' }, place], toevoegingen: [null, 'A'] },
    ],
    [['nummeraanduidingen'], { candidates: others }],
    [['nummeraanduidingen', 'toevoegingen'], { candidates: others, toevoegingen: [null, 'A'] }],
  ])('has the members that are included, and no other: %j', async (include, members) => {
    const answer = lookupAnswer(
      lookup,
      include,
      await storeOf().store.find(lookup, include, soon()),
    );
    expect(answer).toStrictEqual({
      status: 'ambiguous',
      request: lookup,
      address: null,
      ...members,
    });
    expect(lookupAnswerSchema.parse(answer)).toEqual(answer);
  });
});

describe('many lookups at once', () => {
  const requests = fc.array(
    fc.record({
      postcode: fc.constantFrom('1381AA', '9999SD'),
      huisnummer: fc.constantFrom(1, 2, 3, 4, 6, 7),
      toevoeging: fc.constantFrom(null, 'a', 'A', 'b', 'C'),
    }),
    { minLength: 1, maxLength: 100 },
  );

  it('have the answers of as many lookups by themselves, from keys that are read once, in two rounds at most', async () => {
    await fc.assert(
      fc.asyncProperty(requests, fc.subarray([...includeNames]), async (requests, include) => {
        const { store, read } = storeOf();
        const single = withTestAddresses(storeOf().store);
        const found = await withTestAddresses(store).findAll(requests, include, soon());
        for (const [i, request] of requests.entries()) {
          const alone = await single.find(request, include, soon());
          const items = found[i] ?? { address: undefined, bare: undefined };
          expect(lookupAnswer(request, include, items)).toEqual(
            lookupAnswer(request, include, alone),
          );
        }
        expect(new Set(read.flat()).size).toBe(read.flat().length);
        expect(read.length).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('are read in batches of at most 100 keys', async () => {
    const { store, read } = storeOf();
    const requests = Array.from({ length: 100 }, (_, i) => request(i + 1, 'A'));
    await store.findAll(requests, ['toevoegingen'], soon());
    expect(read.map((keys) => keys.length)).toEqual([100, 100]);
  });

  it('are read again where the store leaves keys unprocessed', async () => {
    const requests = [
      request(1, null),
      request(2, 'a'),
      request(3, null),
      request(4, null),
      request(2, 'C'),
    ];
    const all = storeOf();
    const some = storeOf(true);
    expect(await some.store.findAll(requests, [], soon())).toEqual(
      await all.store.findAll(requests, [], soon()),
    );
    expect(some.read.length).toBeGreaterThan(all.read.length);
  });

  it('fail when the time is up while the store leaves keys unprocessed', async () => {
    const send = async ({ input }: BatchGetItemCommand) => ({
      Responses: {},
      UnprocessedKeys: input.RequestItems,
    });
    const store = createAddressStore({ send } as unknown as StoreClient, 'addresses');
    await expect(store.findAll([request(1, null)], [], AbortSignal.timeout(100))).rejects.toThrow(
      StoreUnavailable,
    );
  });
});

describe('a test address', () => {
  const never: StoreClient = {
    send: () => Promise.reject(new Error('a test address is not read')),
  };
  const store = withTestAddresses(createAddressStore(never, 'addresses'));

  it.each<[number, Toevoeging, Record<string, string[]>, Toevoeging[]]>([
    [1, null, { Testdorp: ['9999200000000011', '9999200000000012'] }, [null]],
    [1, 'A', {}, [null]],
    [2, null, {}, ['A', 'B']],
    [2, 'a', { Testdorp: ['9999200000000021'] }, ['A', 'B']],
    [2, 'B', { Testdorp: ['9999200000000022'] }, ['A', 'B']],
    [2, 'C', {}, ['A', 'B']],
    [3, null, { Testdorp: ['9999200000000031'], Teststad: ['9999200000000032'] }, [null]],
    [4, null, {}, []],
    [4, 'A', {}, []],
  ])(
    '%i with toevoeging %p is %j, with the toevoegingen %j',
    async (huisnummer, toevoeging, ids, toevoegingen) => {
      const lookup = { postcode: '9999SD', huisnummer, toevoeging };
      const include: IncludeName[] = ['toevoegingen', 'gemeente', 'nummeraanduidingen'];
      const answer = lookupAnswer(lookup, include, await store.find(lookup, include, soon()));
      const found = Object.entries(ids).map(([woonplaats, nummeraanduidingen]) => ({
        straat: 'Teststraat',
        woonplaats,
        gemeente: woonplaats === 'Testdorp' ? { code: '9999', naam: null, provincie: null } : null,
        nummeraanduidingen,
      }));
      expect(answer.address ? [answer.address] : answer.candidates).toEqual(found);
      expect(answer.toevoegingen).toEqual(toevoegingen);
    },
  );

  it('has a postcode of its own', async () => {
    const other = { postcode: '9999SE', huisnummer: 1, toevoeging: null };
    await expect(store.find(other, [], soon())).rejects.toThrow(StoreUnavailable);
  });
});

it('toevoegingen are sorted by code unit, null first', () => {
  expect(['B', '2', null, 'A10', 'A', '10'].sort(compareToevoegingen)).toEqual([
    null,
    '10',
    '2',
    'A',
    'A10',
    'B',
  ]);
});

const engine = startForTests(startDynamoDb);
let client: DynamoDBDocumentClient;
let asked = 0;
let now = 0;

beforeAll(async () => {
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  client = DynamoDBDocumentClient.from(engine.client);
  client.middlewareStack.add(
    (next) => (args) => {
      asked++;
      return next(args);
    },
    { step: 'initialize', name: 'count' },
  );
});
beforeEach(() => {
  asked = 0;
  now = 1_000_000;
});

async function publish(date: string): Promise<void> {
  const Item = {
    [addressesTable.partitionKey]: addressesTable.datasetKey,
    [addressesTable.datasetDate]: date,
  };
  // Of its own: clients over one share what is counted.
  const other = localDynamoDb(engine.endpoint);
  await DynamoDBDocumentClient.from(other).send(new PutCommand({ TableName: 'addresses', Item }));
  other.destroy();
}

it('the date of the dataset is unknown before the first load, and known to the next lookup after it', async () => {
  const date = createDatasetDate(client, 'addresses', () => now);
  expect(await date()).toBeUndefined();
  await publish('2021-10-15');
  now += 1000;
  expect(await date()).toBeUndefined();
  now += 1;
  expect(await date()).toBe('2021-10-15');
});

it('the date of the dataset is read once in five minutes, and then refreshed without delaying a lookup', async () => {
  const date = createDatasetDate(client, 'addresses', () => now);
  for (let i = 0; i < 100; i++) expect(await date()).toBe('2021-10-15');
  expect(asked).toBe(1);
  await publish('2021-11-15');
  now += 5 * 60_000;
  expect(await date()).toBe('2021-10-15');
  expect(asked).toBe(1);
  now += 1;
  expect(await date()).toBe('2021-10-15');
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await date()).toBe('2021-11-15');
  expect(asked).toBe(2);
});

it('the date of the dataset is read when the instance starts, before its first lookup', async () => {
  createDatasetDate(client, 'addresses', () => now);
  expect(asked).toBe(1);
});

it('the date of the dataset keeps its value when the table no longer has one, as during a repair', async () => {
  await publish('2021-12-15');
  const date = createDatasetDate(client, 'addresses', () => now);
  expect(await date()).toBe('2021-12-15');
  const Key = { [addressesTable.partitionKey]: addressesTable.datasetKey };
  await client.send(new DeleteCommand({ TableName: 'addresses', Key }));
  now += 5 * 60_000 + 1;
  await date();
  await new Promise((resolve) => setTimeout(resolve, 200));
  expect(await date()).toBe('2021-12-15');
});

it('reading the date of the dataset never fails a lookup, and is retried when the store was unavailable', async () => {
  const gone = DynamoDBDocumentClient.from(localDynamoDb('http://127.0.0.1:1'));
  const date = createDatasetDate(gone, 'addresses', () => now);
  expect(await date()).toBeUndefined();
});
