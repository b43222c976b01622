import { StoreUnavailable } from '../../core/dynamodb.ts';
import { newAccount } from '../../test/support/address-service.ts';
import type { HttpService } from '../../test/support/http-service.ts';

type Query = { postcode: string; huisnummer: number; toevoeging?: string; include?: string[] };
type Batch = { addresses: Query[]; include?: string[] };

/** What each example in `docs/examples/generated-client` exports, as far as it is used here. */
export type Program = {
  createClient(baseUrl: string, key: string): unknown;
  describeLookup(client: unknown, query: Query): Promise<string>;
  describeLookups(client: unknown, batch: Batch): Promise<string[]>;
  planOf(client: unknown): Promise<string>;
};

const address = { postcode: '1012RJ', huisnummer: 147 };
const limits = { minute: 100 };

/** Prepares the service for one lookup, and returns the key to send it with. */
type Prepare = (service: HttpService) => Promise<string>;

const withNewAccount: Prepare = async (service) => (await newAccount(service, limits)).key;
const withFault =
  (fault: () => Error): Prepare =>
  async (service) => {
    service.faults.failing = Object.assign(fault(), { times: 1 });
    return await withNewAccount(service);
  };

/** Every outcome and every problem of a lookup, with what the examples make of it. */
const lookups: { query: Query; prepare?: Prepare; expected: string }[] = [
  { query: address, expected: 'Nieuwezijds Voorburgwal, Amsterdam' },
  { query: { postcode: '1381 de', huisnummer: 30, toevoeging: 'a 100' }, expected: 'Hugo de Grootlaan, Weesp' },
  { query: { postcode: '9999SD', huisnummer: 2 }, expected: 'no such address; existing toevoegingen: A, B' },
  { query: { postcode: '9999SD', huisnummer: 3 }, expected: 'several: Teststraat, Testdorp; Teststraat, Teststad' },
  {
    query: { postcode: '9999SD', huisnummer: 1, include: ['nummeraanduidingen'] },
    expected: 'Teststraat, Testdorp, 9999200000000011, 9999200000000012',
  },
  {
    query: { postcode: '9999SD', huisnummer: 2, toevoeging: 'A', include: ['toevoegingen', 'nummeraanduidingen'] },
    expected: 'Teststraat, Testdorp, 9999200000000021; existing toevoegingen: A, B',
  },
  {
    query: { postcode: '9999SD', huisnummer: 3, include: ['gemeente'] },
    expected: 'several: Teststraat, Testdorp, gemeente 9999; Teststraat, Teststad, no gemeente',
  },
  { query: { postcode: '', huisnummer: 0 }, expected: 'invalid: postcode missing, huisnummer huisnummer-zero' },
  {
    query: address,
    prepare: async (service) => (await newAccount(service, { minute: 0, day: 0 })).key,
    expected: 'no quota left this minute and day',
  },
  { query: address, prepare: async () => 'no key', expected: 'refused: Unauthorized' },
  {
    query: address,
    prepare: async (service) => {
      const { id, key } = await newAccount(service, limits);
      await service.admin.accounts.suspend(id);
      return key;
    },
    expected: 'refused: Account inactive',
  },
  {
    query: address,
    prepare: async (service) => {
      const { plan, key } = await newAccount(service, limits);
      await service.admin.plans.put({ code: plan, limits, state: 'inactive' });
      return key;
    },
    expected: 'refused: Plan inactive',
  },
  {
    query: address,
    prepare: withFault(() => new StoreUnavailable('a moment')),
    expected: 'failed: Temporarily unavailable',
  },
  { query: address, prepare: withFault(() => new Error('a fault of ours')), expected: 'failed: Internal error' },
];

/** The same for many lookups in one request. */
const batches: { batch: Batch; prepare?: Prepare; expected: string[] }[] = [
  {
    batch: { addresses: [{ postcode: '9999SD', huisnummer: 3 }, address, { postcode: '9999SD', huisnummer: 2 }] },
    expected: [
      'several: Teststraat, Testdorp; Teststraat, Teststad',
      'Nieuwezijds Voorburgwal, Amsterdam',
      'no such address; existing toevoegingen: A, B',
    ],
  },
  {
    batch: {
      addresses: [{ postcode: '9999SD', huisnummer: 2, toevoeging: 'b' }],
      include: ['toevoegingen', 'nummeraanduidingen'],
    },
    expected: ['Teststraat, Testdorp, 9999200000000022; existing toevoegingen: A, B'],
  },
  {
    batch: { addresses: [address, { postcode: '', huisnummer: 0 }] },
    expected: ['invalid: /addresses/1/postcode missing, /addresses/1/huisnummer huisnummer-zero'],
  },
  {
    batch: { addresses: Array.from({ length: 100 }, () => ({ ...address, toevoeging: ' '.repeat(700) })) },
    expected: ['not sent as the service takes it: Content too large'],
  },
  {
    batch: { addresses: [address, address] },
    prepare: async (service) => (await newAccount(service, { minute: 1 })).key,
    expected: ['no quota left this minute'],
  },
  { batch: { addresses: [address] }, prepare: async () => 'no key', expected: ['refused: Unauthorized'] },
];

/** How many requests for addresses are compared. */
export const calls = lookups.length + batches.length;

/** What a program makes of the lookups and of a key, where that is not what is expected: a sentence for each. */
export async function runLookups(program: Program, service: HttpService): Promise<string[]> {
  const wrong: string[] = [];
  const compare = (described: string, expected: string) => {
    if (described !== expected) wrong.push(`expected "${expected}", but it says "${described}"`);
  };
  for (const { query, prepare = withNewAccount, expected } of lookups) {
    const client = program.createClient(service.baseUrl, await prepare(service));
    compare(await program.describeLookup(client, query).catch(String), expected);
  }
  for (const { batch, prepare = withNewAccount, expected } of batches) {
    const client = program.createClient(service.baseUrl, await prepare(service));
    const described = await program.describeLookups(client, batch).catch((error: unknown) => [String(error)]);
    compare(described.join(' | '), expected.join(' | '));
  }
  const { key, plan } = await newAccount(service, limits);
  const named = await program.planOf(program.createClient(service.baseUrl, key)).catch(String);
  if (named !== plan) wrong.push(`expected the plan "${plan}" of a key, but it says "${named}"`);
  return wrong;
}
