import { startForTests } from '../../support/start-for-tests.ts';
import '../../support/with-objects.ts';
import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { addressItem } from '../../../core/addresses/address-item.ts';
import type { AdresObject } from '../../../core/adres-object.ts';
import {
  lambdaEnvironment,
  newAccount,
  startAddressService,
  testTables,
} from '../../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';

const service = startForTests(startAddressService);
let key: string;

const home: AdresObject = {
  identificatie: '0457010000012345',
  type: 'verblijfsobject',
  status: 'Verblijfsobject in gebruik',
  gebruiksdoelen: ['kantoorfunctie', 'woonfunctie'],
  oppervlakte: 85,
  hoofdadres: true,
  locatie: { x: 131234.5, y: 480123.4 },
};
const boat: AdresObject = {
  identificatie: '0457020000000001',
  type: 'ligplaats',
  status: 'Plaats aangewezen',
  hoofdadres: false,
  locatie: { x: 131300.25, y: 480200 },
};

beforeAll(async () => {
  ({ key } = await newAccount(service, { day: 5000 }));
  const straat = 'Kade';
  const bussum = 'Bussum';
  const hilversum = 'Hilversum';
  for (const address of [
    { key: '1381AA#1#', places: [{ straat, woonplaats: 'Weesp', objecten: [boat, home] }] },
    { key: '1381AA#2#', places: [{ straat, woonplaats: 'Weesp' }] },
    {
      key: '1381AA#3#',
      places: [
        { straat, woonplaats: bussum, objecten: [home] },
        { straat, woonplaats: hilversum },
      ],
    },
  ]) {
    await service.client.send(
      new PutItemCommand({ TableName: testTables.addresses, Item: addressItem(address) }),
    );
  }
});
beforeEach(() => {
  service.sent.length = 0;
});

describe('a lookup with include=objecten', () => {
  it('has each object in order of identificatie, with its location in the national grid and on earth', async () => {
    const { body } = await service.instance.lookUp(
      key,
      'postcode=1381AA&huisnummer=1&include=objecten',
    );
    expect(body).toBe(
      '{"status":"ok","request":{"postcode":"1381AA","huisnummer":1,"toevoeging":null},"address":{"straat":"Kade",' +
        '"woonplaats":"Weesp","objecten":[{"identificatie":"0457010000012345","type":"verblijfsobject",' +
        '"status":"Verblijfsobject in gebruik","gebruiksdoelen":["kantoorfunctie","woonfunctie"],"oppervlakte":85,' +
        '"hoofdadres":true,"locatie":{"x":131234.5,"y":480123.4,"lat":52.3085611,"lon":5.0387295}},' +
        '{"identificatie":"0457020000000001","type":"ligplaats","status":"Plaats aangewezen","hoofdadres":false,' +
        '"locatie":{"x":131300.25,"y":480200,"lat":52.3092524,"lon":5.0396882}}]},"candidates":[]}',
    );
  });

  it('has an empty list for an address without one, in each candidate its own, and none where no address is', async () => {
    const answerOf = async (huisnummer: number) =>
      (
        await service.instance.lookUp(
          key,
          `postcode=1381AA&huisnummer=${huisnummer}&include=objecten`,
        )
      ).json;
    expect(await answerOf(2)).toMatchObject({
      address: { straat: 'Kade', woonplaats: 'Weesp', objecten: [] },
    });
    expect(await answerOf(3)).toMatchObject({
      candidates: [{ objecten: [{ identificatie: home.identificatie }] }, { objecten: [] }],
    });
    expect(await answerOf(4)).toMatchObject({ status: 'not_found', address: null });
  });

  it('costs the one write and the one read of half a unit that it costs without', async () => {
    await service.instance.lookUp(key, 'postcode=1381AA&huisnummer=1&include=objecten');
    expect(service.sent).toEqual([
      { name: 'UpdateItemCommand', table: testTables.accounts, units: 1 },
      { name: 'GetItemCommand', table: testTables.addresses, units: 0.5 },
    ]);
  });

  it('answers the same for one of many, and has no objects where they are not included', async () => {
    const addresses = [1, 2, 3].map((huisnummer) => ({ postcode: '1381AA', huisnummer }));
    const many = await service.instance.lookUpAll(key, { addresses, include: ['objecten'] });
    const single = addresses.map(({ huisnummer }) =>
      service.instance.lookUp(key, `postcode=1381AA&huisnummer=${huisnummer}&include=objecten`),
    );
    expect(many.json).toEqual({ results: (await Promise.all(single)).map(({ json }) => json) });
    expect((await service.instance.lookUp(key, 'postcode=1381AA&huisnummer=1')).body).not.toContain(
      'objecten',
    );
  });

  it('is refused for a name that is not known, with objecten among those to send', async () => {
    const { status, json } = await service.instance.lookUp(
      key,
      'postcode=1381AA&huisnummer=1&include=Objecten',
    );
    expect(status).toBe(422);
    expect(json).toMatchObject({
      errors: [{ code: 'include-unknown', suggestion: { include: 'objecten' } }],
    });
  });
});

describe('the Lambda of a deployment with objects', () => {
  it('offers them by its environment', async () => {
    Object.assign(process.env, lambdaEnvironment(service.endpoint));
    const { handler } = await import('../../../lambdas/address/address-lambda.ts');
    const url = '/v1/address?postcode=1381AA&huisnummer=1&include=objecten';
    const event = gatewayEvent(url, { headers: { 'x-api-key': key } });
    const { statusCode, body } = await handler(
      event as Parameters<typeof handler>[0],
      lambdaContext,
    );
    expect([statusCode, body]).toEqual([200, expect.stringContaining(boat.identificatie)]);
  });
});

describe('the test addresses', () => {
  it.each([
    ['1', ['verblijfsobject', 'verblijfsobject']],
    ['2&toevoeging=a', ['verblijfsobject']],
    ['2&toevoeging=b', ['ligplaats']],
    ['3', ['standplaats', '-']],
  ])('9999SD %s have objects', async (address, expected) => {
    type Answered = { objecten: AdresObject[] };
    const { json } = await service.instance.lookUp(
      key,
      `postcode=9999SD&huisnummer=${address}&include=objecten`,
    );
    const { address: one, candidates } = json as {
      address: Answered | null;
      candidates: Answered[];
    };
    const found = [...(one ? [one] : []), ...candidates].map(({ objecten }) =>
      objecten.map(({ type }) => type),
    );
    expect(found.flatMap((types) => (types.length > 0 ? types : ['-']))).toEqual(expected);
  });
});
