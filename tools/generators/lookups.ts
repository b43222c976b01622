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
/** A test address, as every deployment has them. */
const ofTest = (huisnummer: number, more: Partial<Query> = {}): Query => ({
  postcode: '9999SD',
  huisnummer,
  ...more,
});
const limits = { minute: 100 };

/** Prepares the service for one lookup, and returns the key to send it with. */
type Prepare = (service: HttpService) => Promise<string>;

const withLimits =
  (limits: Record<string, number>): Prepare =>
  async (service) =>
    (await newAccount(service, limits)).key;
const withNewAccount = withLimits(limits);
const suspended: Prepare = async (service) => {
  const { id, key } = await newAccount(service, limits);
  await service.admin.accounts.suspend(id);
  return key;
};
const onInactivePlan: Prepare = async (service) => {
  const { plan, key } = await newAccount(service, limits);
  await service.admin.plans.put({ code: plan, limits, state: 'inactive' });
  return key;
};
const withFault =
  (fault: () => Error): Prepare =>
  async (service) => {
    service.faults.failing = Object.assign(fault(), { times: 1 });
    return await withNewAccount(service);
  };

/** Every outcome and every problem of a lookup, with what the examples make of it. */
const lookups: [query: Query, expected: string, prepare?: Prepare][] = [
  [address, 'Nieuwezijds Voorburgwal, Amsterdam'],
  [{ postcode: '1381 de', huisnummer: 30, toevoeging: 'a 100' }, 'Hugo de Grootlaan, Weesp'],
  [ofTest(2), 'no such address; existing toevoegingen: A, B'],
  [ofTest(3), 'several: Teststraat, Testdorp; Teststraat, Teststad'],
  [
    ofTest(1, { include: ['nummeraanduidingen'] }),
    'Teststraat, Testdorp, 9999200000000011, 9999200000000012',
  ],
  [
    ofTest(2, { toevoeging: 'A', include: ['toevoegingen', 'nummeraanduidingen'] }),
    'Teststraat, Testdorp, 9999200000000021; existing toevoegingen: A, B',
  ],
  [
    ofTest(3, { include: ['gemeente'] }),
    'several: Teststraat, Testdorp, gemeente 9999; Teststraat, Teststad, no gemeente',
  ],
  [{ postcode: '', huisnummer: 0 }, 'invalid: postcode missing, huisnummer huisnummer-zero'],
  [address, 'no quota left this minute and day', withLimits({ minute: 0, day: 0 })],
  [address, 'refused: Unauthorized', async () => 'no key'],
  [address, 'refused: Account inactive', suspended],
  [address, 'refused: Plan inactive', onInactivePlan],
  [address, 'failed: Temporarily unavailable', withFault(() => new StoreUnavailable('a moment'))],
  [address, 'failed: Internal error', withFault(() => new Error('a fault of ours'))],
];

/** The same for many lookups in one request. */
const batches: [batch: Batch, expected: string[], prepare?: Prepare][] = [
  [
    { addresses: [ofTest(3), address, ofTest(2)] },
    [
      'several: Teststraat, Testdorp; Teststraat, Teststad',
      'Nieuwezijds Voorburgwal, Amsterdam',
      'no such address; existing toevoegingen: A, B',
    ],
  ],
  [
    {
      addresses: [ofTest(2, { toevoeging: 'b' })],
      include: ['toevoegingen', 'nummeraanduidingen'],
    },
    ['Teststraat, Testdorp, 9999200000000022; existing toevoegingen: A, B'],
  ],
  [
    { addresses: [address, { postcode: '', huisnummer: 0 }] },
    ['invalid: /addresses/1/postcode missing, /addresses/1/huisnummer huisnummer-zero'],
  ],
  [
    { addresses: Array.from({ length: 100 }, () => ({ ...address, toevoeging: ' '.repeat(700) })) },
    ['not sent as the service takes it: Content too large'],
  ],
  [{ addresses: [address, address] }, ['no quota left this minute'], withLimits({ minute: 1 })],
  [{ addresses: [address] }, ['refused: Unauthorized'], async () => 'no key'],
];

/** How many requests for addresses are compared. */
export const calls = lookups.length + batches.length;

/**
 * What a program makes of the lookups and of a key, where that is not what is expected: a sentence
 * for each.
 */
export async function runLookups(program: Program, service: HttpService): Promise<string[]> {
  const wrong: string[] = [];
  const compare = (described: string, expected: string) => {
    if (described !== expected) wrong.push(`expected "${expected}", but it says "${described}"`);
  };
  for (const [query, expected, prepare = withNewAccount] of lookups) {
    const client = program.createClient(service.baseUrl, await prepare(service));
    compare(await program.describeLookup(client, query).catch(String), expected);
  }
  for (const [batch, expected, prepare = withNewAccount] of batches) {
    const client = program.createClient(service.baseUrl, await prepare(service));
    const described = await program
      .describeLookups(client, batch)
      .catch((error: unknown) => [String(error)]);
    compare(described.join(' | '), expected.join(' | '));
  }
  const { key, plan } = await newAccount(service, limits);
  const named = await program.planOf(program.createClient(service.baseUrl, key)).catch(String);
  if (named !== plan) wrong.push(`expected the plan "${plan}" of a key, but it says "${named}"`);
  return wrong;
}
