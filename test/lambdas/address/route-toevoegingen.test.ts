import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  addressItem,
  compareToevoegingen,
  maxToevoegingen,
  type StoredAddress,
} from '../../../core/addresses/address-item.ts';
import { systemClock } from '../../../core/calendar.ts';
import type { LookupAnswer } from '../../../core/contract.ts';
import {
  type AddressService,
  createInstance,
  newAccount,
  startAddressService,
  testChecksumSecret,
  testTables,
} from '../../support/address-service.ts';

let service: AddressService;
let account: Awaited<ReturnType<typeof newAccount>>;

const place = { straat: 'Amsterdamsestraatweg', woonplaats: 'Utrecht' };
const ids = ['0344200000012345', '0344200000012346'];
const places = [{ ...place, nummeraanduidingen: ids }];
const many = Array.from({ length: maxToevoegingen + 50 }, (_, i) => `A${1000 + i}`);
const addresses: StoredAddress[] = [
  { key: '3554VZ#24#', places, toevoegingen: [null, 'A', 'B'] },
  { key: '3554VZ#24#A', places },
  { key: '3554VZ#24#B', places },
  { key: '3554VZ#25#', places },
  { key: '1015DT#237#', places: [], toevoegingen: ['AV', 'CA'] },
  { key: '1015DT#237#AV', places },
  { key: '1015DT#237#CA', places },
  { key: '2391PH#1#', places: [], toevoegingen: many },
  { key: '2391PH#2#', places: [], toevoegingen: ['A'] },
];

beforeAll(async () => {
  service = await startAddressService();
  account = await newAccount(service, { day: 1000 });
  for (const address of addresses) {
    await service.client.send(new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(address) }));
  }
});
afterAll(() => service.stop());
beforeEach(() => {
  service.sent.length = 0;
});

async function lookUp(postcode: string, huisnummer: number, toevoeging = ''): Promise<LookupAnswer> {
  const query = `postcode=${postcode}&huisnummer=${huisnummer}&toevoeging=${toevoeging}`;
  return (await service.instance.lookUp(account.key, query)).json as LookupAnswer;
}

describe('the toevoegingen of not_found', () => {
  it.each([
    ['those that exist, and null for the bare number', '3554VZ', 24, 'C', [null, 'A', 'B']],
    ['only null if only the bare number exists', '3554VZ', 25, 'A', [null]],
    ['the existing ones if the bare number does not exist', '1015DT', 237, '', ['AV', 'CA']],
    ['the same for another toevoeging', '1015DT', 237, 'x', ['AV', 'CA']],
    ['empty if the huisnummer does not exist', '3554VZ', 26, '', []],
    ['empty if the huisnummer does not exist with any toevoeging', '3554VZ', 26, 'A', []],
  ])('are %s', async (_, postcode, huisnummer, toevoeging, toevoegingen) => {
    expect(await lookUp(postcode, huisnummer, toevoeging)).toEqual({
      status: 'not_found',
      request: { postcode, huisnummer, toevoeging: toevoeging || null },
      address: null,
      candidates: [],
      toevoegingen,
    });
  });

  it('never include the toevoeging that was not found, also during a load', async () => {
    expect(await lookUp('2391PH', 2, 'a')).toMatchObject({ status: 'not_found', toevoegingen: [] });
  });

  it('are limited to the first of a long list, in a response under 4 KB', async () => {
    const { body } = await service.instance.lookUp(account.key, 'postcode=2391PH&huisnummer=1&toevoeging=zzzzz');
    expect(JSON.parse(body).toevoegingen).toEqual(many.slice(0, maxToevoegingen));
    expect(Buffer.byteLength(body)).toBeLessThan(4096);
  });
});

describe('a lookup that includes more, or nothing', () => {
  it.each([
    ['3554VZ', 24, '', 'toevoegingen', { address: place, candidates: [], toevoegingen: [null, 'A', 'B'] }, 1],
    ['3554VZ', 24, 'a', 'toevoegingen', { address: place, candidates: [], toevoegingen: [null, 'A', 'B'] }, 2],
    ['3554VZ', 25, '', 'toevoegingen', { address: place, candidates: [], toevoegingen: [null] }, 1],
    ['3554VZ', 24, 'C', 'toevoegingen', { address: null, candidates: [], toevoegingen: [null, 'A', 'B'] }, 2],
    ['3554VZ', 24, '', '', { address: place, candidates: [] }, 1],
    ['3554VZ', 24, 'A', '', { address: place, candidates: [] }, 1],
    ['3554VZ', 24, 'C', '', { address: null, candidates: [], toevoegingen: [null, 'A', 'B'] }, 2],
    ['1015DT', 237, '', '', { address: null, candidates: [], toevoegingen: ['AV', 'CA'] }, 1],
    ['3554VZ', 24, '', 'nummeraanduidingen', { address: { ...place, nummeraanduidingen: ids }, candidates: [] }, 1],
    ['3554VZ', 24, 'A', 'nummeraanduidingen', { address: { ...place, nummeraanduidingen: ids }, candidates: [] }, 1],
  ])(
    '%s %i %s, %s: %j, after %i reads of half a unit',
    async (postcode, huisnummer, toevoeging, include, rest, reads) => {
      const status = rest.address ? 'ok' : 'not_found';
      const request = { postcode, huisnummer, toevoeging: toevoeging || null };
      expect(
        await lookUp(postcode, huisnummer, include ? `${toevoeging}&include=${include}` : toevoeging),
      ).toStrictEqual({
        status,
        request,
        ...rest,
      });
      expect(service.sent.slice(1)).toEqual(
        Array.from({ length: reads }, () => ({ name: 'GetItemCommand', table: 'addresses', units: 0.5 })),
      );
    },
  );

  it('counts one unit', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    const query = 'postcode=3554VZ&huisnummer=24&toevoeging=A&include=toevoegingen,nummeraanduidingen';
    await service.instance.lookUp(key, query);
    expect((await service.admin.accounts.show(id)).windows.day?.used).toBe(1);
  });
});

describe('a lookup', () => {
  it('reads the largest item in half a unit: a full list beside an address that is registered 100 times', async () => {
    const names = { straat: 'ë'.repeat(80), woonplaats: 'ë'.repeat(80) };
    const ids = Array.from({ length: 100 }, (_, i) => `19002000999999${String(i).padStart(2, '0')}`);
    const list = Array.from({ length: maxToevoegingen }, (_, i) => `A${1000 + i}`);
    const largest = { key: '9998ZZ#99999#', places: [{ ...names, nummeraanduidingen: ids }], toevoegingen: list };
    await service.client.send(new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(largest) }));
    const query = 'postcode=9998ZZ&huisnummer=99999&include=toevoegingen,nummeraanduidingen';
    const { json } = await service.instance.lookUp(account.key, query);
    expect(json).toMatchObject({ address: { ...names, nummeraanduidingen: ids }, toevoegingen: list });
    expect(service.sent.filter(({ table }) => table === 'addresses').at(-1)).toEqual({
      name: 'GetItemCommand',
      table: 'addresses',
      units: 0.5,
    });
    const tooLarge = {
      ...largest,
      places: [
        {
          ...names,
          nummeraanduidingen: [...ids, ...ids].map((id, i) => `${id.slice(0, 13)}${String(i).padStart(3, '0')}`),
        },
      ],
    };
    await service.client.send(new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(tooLarge) }));
    await service.instance.lookUp(account.key, query);
    expect(service.sent.at(-1)).toEqual({ name: 'GetItemCommand', table: 'addresses', units: 1 });
  });

  it('counts one unit for not_found, also with a second read', async () => {
    const { id, key } = await newAccount(service, { day: 10 });
    await service.instance.lookUp(key, 'postcode=3554VZ&huisnummer=24&toevoeging=C');
    expect((await service.admin.accounts.show(id)).windows.day?.used).toBe(1);
  });
});

describe('a test address', () => {
  it.each([
    [1, '', { status: 'ok', address: { straat: 'Teststraat', woonplaats: 'Testdorp' }, candidates: [] }],
    [1, 'A', { status: 'not_found', address: null, candidates: [], toevoegingen: [null] }],
    [2, '', { status: 'not_found', address: null, candidates: [], toevoegingen: ['A', 'B'] }],
    [2, 'b', { status: 'ok', address: { straat: 'Teststraat', woonplaats: 'Testdorp' }, candidates: [] }],
    [
      3,
      '',
      {
        status: 'ambiguous',
        address: null,
        candidates: [
          { straat: 'Teststraat', woonplaats: 'Testdorp' },
          { straat: 'Teststraat', woonplaats: 'Teststad' },
        ],
      },
    ],
    [4, '', { status: 'not_found', address: null, candidates: [], toevoegingen: [] }],
  ])(
    '9999SD %s %s returns its fixed outcome without a read of the dataset, and counts',
    async (huisnummer, toevoeging, rest) => {
      const request = { postcode: '9999SD', huisnummer, toevoeging: toevoeging || null };
      expect(await lookUp('9999SD', huisnummer, toevoeging)).toEqual({ request, ...rest });
      expect(service.sent).toEqual([{ name: 'UpdateItemCommand', table: 'accounts', units: 1 }]);
    },
  );

  it.each([1, 2, 3])('9999SD %s is not found where the deployment turns the test addresses off', async (huisnummer) => {
    const without = createInstance(service.client, systemClock, { checksumSecret: testChecksumSecret }, false);
    const { status, json } = await without.lookUp(account.key, `postcode=9999SD&huisnummer=${huisnummer}`);
    expect([status, json]).toMatchObject([200, { status: 'not_found', address: null, toevoegingen: [] }]);
  });
});

it('toevoegingen are sorted by code unit, null first', () => {
  expect(['B', '2', null, 'A10', 'A', '10'].sort(compareToevoegingen)).toEqual([null, '10', '2', 'A', 'A10', 'B']);
});
