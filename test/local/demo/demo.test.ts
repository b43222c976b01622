import { existsSync } from 'node:fs';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addressKey } from '../../../core/addresses/address-key.ts';
import { demoExamples, demoExtract, demoKey, demoPeildatum, demoVoorkomens } from '../../../local/demo/demo.ts';
import { deliveryXml, fileXml, relatiesXml } from '../../../local/demo/stand-xml.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { createAccountsTable, createTables, startDynamoDb, type TestDynamoDb } from '../../support/dynamodb.ts';
import { readExtract } from '../../support/read-extract.ts';
import { schemaErrors, xsdFolder } from '../../support/schema-errors.ts';

describe('the demo extract', () => {
  it('has the documented outcome for every example', async () => {
    const { peildatum, rows } = await readExtract(await demoExtract());
    expect(peildatum).toBe(demoPeildatum);
    for (const { postcode, huisnummer, toevoeging = null, status } of demoExamples) {
      const key = addressKey({ postcode, huisnummer, toevoeging });
      const found = rows.filter((row) => row.key === key).map(({ straat, woonplaats }) => `${straat}, ${woonplaats}`);
      const outcome = ['not_found', 'ok', 'ambiguous'][Math.min(new Set(found).size, 2)];
      expect({ key, outcome }).toEqual({ key, outcome: status });
    }
  });

  it('has the same bytes every time', async () => {
    expect((await demoExtract()).equals(await demoExtract())).toBe(true);
  });
});

describe('the API key of the demo account', () => {
  let dynamoDb: TestDynamoDb;
  let admin: Admin;
  beforeAll(async () => {
    dynamoDb = await startDynamoDb();
    await createTables(dynamoDb.client, { addresses: 'addresses', accounts: 'accounts' });
    const client = DynamoDBDocumentClient.from(dynamoDb.client);
    admin = createAdmin({ client, table: 'accounts', checksumSecret: 'secret' });
  });
  afterAll(() => dynamoDb.stop());

  const active = async () => (await admin.keys.list('demo')).filter(({ state }) => state === 'active').length;

  it('stays the same while it is active, and is replaced after it was revoked', async () => {
    const first = await demoKey(admin, undefined);
    expect(await demoKey(admin, first)).toBe(first);
    expect(await active()).toBe(1);
    const [view] = await admin.keys.list('demo');
    await admin.keys.revoke({ account: 'demo', keyId: view?.keyId ?? '' });
    const second = await demoKey(admin, first);
    expect(second).not.toBe(first);
    expect(await demoKey(admin, second)).toBe(second);
    expect(await active()).toBe(1);
  });

  it('is found without asking for the plan and the account again', async () => {
    const known = await demoKey(admin, undefined);
    expect(await demoKey({ keys: admin.keys } as Admin, known)).toBe(known);
  });

  it('is new, with plan and account, where the table has lost them', async () => {
    await createAccountsTable(dynamoDb.client, 'empty');
    const client = DynamoDBDocumentClient.from(dynamoDb.client);
    const empty = createAdmin({ client, table: 'empty', checksumSecret: 'secret' });
    const known = await demoKey(admin, undefined);
    expect(await demoKey(empty, known)).not.toBe(known);
    expect(await empty.accounts.show('demo')).toMatchObject({ state: 'active', plan: 'demo' });
  });

  it('is created without reverting changes to the plan and the account', async () => {
    await admin.plans.put({ code: 'demo', limits: { day: 7 } });
    await admin.accounts.suspend('demo');
    await demoKey(admin, undefined);
    expect(await admin.plans.list()).toMatchObject({ plans: [{ code: 'demo', limits: { day: 7 } }] });
    expect(await admin.accounts.show('demo')).toMatchObject({ state: 'suspended' });
  });
});

const ifXsds = existsSync(xsdFolder) ? it : it.skip;
const begin = '2010-01-01';

describe('the XML of the extract writer, checked against the schemas of Kadaster', () => {
  ifXsds.each(['NUM', 'OPR', 'WPL', 'VBO', 'LIG', 'STA'] as const)('is valid for the demo: %s', async (kind) => {
    const { [kind]: voorkomens = [] } = demoVoorkomens();
    expect(voorkomens.length).toBeGreaterThan(0);
    expect(await schemaErrors(fileXml(kind, voorkomens, demoPeildatum))).toEqual([]);
  });

  ifXsds('is valid for the demo: the relations between woonplaatsen and gemeenten', async () => {
    const relaties = demoVoorkomens().relaties ?? [];
    const ended = relaties.map((one) => ({ ...one, eind: demoPeildatum, status: 'voorlopig' }));
    const xml = relatiesXml([...relaties, ...ended], demoPeildatum);
    expect(await schemaErrors(xml, 'BagvsGwrDeelbestandLvc-2.1.0.xsd')).toEqual([]);
    expect(await schemaErrors(xml.replace('definitief', '<x/>'), 'BagvsGwrDeelbestandLvc-2.1.0.xsd')).not.toEqual([]);
  });

  ifXsds('is valid with every optional element', async () => {
    const moment = '2020-01-01T10:00:00.000';
    const everything = { eind: '2020-01-01', tijdstipInactief: moment, tijdstipInactiefLV: moment };
    const num = { identificatie: '0457200000000001', huisnummer: 1, huisletter: 'a', huisnummertoevoeging: 'bis' };
    const nums = [
      {
        ...num,
        begin,
        ...everything,
        tijdstipNietBagLV: moment,
        openbareRuimte: '0457300000000001',
        woonplaats: '1012',
      },
      { ...num, begin, postcode: '1381AA', openbareRuimte: '0457300000000001', documentnummer: 'B&W <1>' },
    ];
    expect(await schemaErrors(fileXml('NUM', nums, '2026-01-08'))).toEqual([]);
    const opr = { identificatie: '0457300000000001', naam: 'Dr. & Mevr. van Häckelstraat', woonplaats: '1012', begin };
    expect(await schemaErrors(fileXml('OPR', [{ ...opr, verkorteNaam: 'Dr vHäckelstr' }], '2026-01-08'))).toEqual([]);
  });

  ifXsds('is valid as a Leveringsdocument', async () => {
    expect(await schemaErrors(deliveryXml('2026-01-08'), 'BagvsExtractLeveringsdocument-2.1.0.xsd')).toEqual([]);
  });

  ifXsds('is found invalid when it is: the schemas are really applied', async () => {
    const num = { identificatie: '0457200000000001', huisnummer: 0, openbareRuimte: '0457300000000001', begin };
    expect((await schemaErrors(fileXml('NUM', [num], '2026-01-08'))).join()).toContain('huisnummer');
  });
});
