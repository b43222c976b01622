import { StoreUnavailable } from '../../core/dynamodb.ts';
import { newAccount } from '../support/address-service.ts';
import type { HttpService } from '../support/http-service.ts';

type Query = { postcode: string; huisnummer: number; toevoeging?: string };

/** What each example in `docs/examples/generated-client` exports, as far as it is used here. */
export type Program = {
  createClient(baseUrl: string, key: string): unknown;
  describeLookup(client: unknown, query: Query): Promise<string>;
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
export const lookups: { query: Query; prepare: Prepare; expected: string }[] = [
  { query: address, prepare: withNewAccount, expected: 'Nieuwezijds Voorburgwal, Amsterdam' },
  {
    query: { postcode: '1381 de', huisnummer: 30, toevoeging: 'a 100' },
    prepare: withNewAccount,
    expected: 'Hugo de Grootlaan, Weesp',
  },
  {
    query: { postcode: '9999SD', huisnummer: 2 },
    prepare: withNewAccount,
    expected: 'no such address; existing toevoegingen: A, B',
  },
  {
    query: { postcode: '9999SD', huisnummer: 3 },
    prepare: withNewAccount,
    expected: 'several: Teststraat, Testdorp; Teststraat, Teststad',
  },
  {
    query: { postcode: '', huisnummer: 0 },
    prepare: withNewAccount,
    expected: 'invalid: postcode missing, huisnummer huisnummer-zero',
  },
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

/** What a program makes of the lookups and of a key, where that is not what is expected: a sentence for each. */
export async function runLookups(program: Program, service: HttpService): Promise<string[]> {
  const wrong: string[] = [];
  for (const { query, prepare, expected } of lookups) {
    const client = program.createClient(service.baseUrl, await prepare(service));
    const described = await program.describeLookup(client, query).catch(String);
    if (described !== expected) wrong.push(`expected "${expected}", but it says "${described}"`);
  }
  const { key, plan } = await newAccount(service, limits);
  const named = await program.planOf(program.createClient(service.baseUrl, key)).catch(String);
  if (named !== plan) wrong.push(`expected the plan "${plan}" of a key, but it says "${named}"`);
  return wrong;
}
