import { BatchWriteCommand, DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import type { ChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import { createKeyStore } from '../../core/accounts/key-record.ts';
import { createAddressStore } from '../../core/addresses/address-store.ts';
import { type Clock, systemClock } from '../../core/calendar.ts';
import type { ChargingClient } from '../../core/dynamodb.ts';
import { environment } from '../../core/environment.ts';
import type { Place } from '../../core/place-fields.ts';
import { availableIncludesIn } from '../../core/place-fields.ts';
import { addressRoute } from '../../lambdas/address/address-route.ts';
import type { RequestLog } from '../../lambdas/http/observe.ts';
import { validateRoute } from '../../lambdas/validate/validate-route.ts';
import { localAws } from '../../local/engine/engine.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { expectContract } from './contract.ts';
import { createTables, startDynamoDb, testChecksumSecret } from './dynamodb.ts';
import { gatewayEvent, lambdaContext, type TestRequest } from './gateway-event.ts';
import { sendPlainly } from './plain-client.ts';

export const testTables = { addresses: 'addresses', accounts: 'accounts' };
/**
 * An address that is charged as any other, and that the service finds without reading the table of
 * addresses.
 */
export const testAddress = 'postcode=9999SD&huisnummer=1';
/** An address of the table. */
export const storedAddress = 'postcode=1381AA&huisnummer=9&toevoeging=a';

/** The secret of the tests, which the instance knows without a read. */
export const testSecrets: ChecksumSecrets = {
  known: [testChecksumSecret],
  reread: async () => [testChecksumSecret],
};

/** What a Lambda of the tests finds in its environment: the engine at `endpoint` and its tables. */
export function lambdaEnvironment(endpoint: string): Record<string, string> {
  return {
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
    [environment.accountsTable]: testTables.accounts,
    [environment.addressesTable]: testTables.addresses,
  };
}

export type TestAnswer = {
  status: number;
  headers: Record<string, string>;
  body: string;
  json: unknown;
};

type InstanceOptions = {
  clock?: Clock;
  checksumSecrets?: ChecksumSecrets;
  testAddresses?: boolean;
  log?: RequestLog;
  /** Whether it has no more time for a response than a Lambda has. */
  hasDeadline?: boolean;
};

/** More than a Lambda has: a busy machine takes longer for a response, and nothing is wrong. */
export const longDeadline = 120_000;

/**
 * What one instance of both Lambdas answers, with stores over `client`, by its own clock and with
 * its secrets.
 */
export function createInstance(
  client: ChargingClient,
  {
    clock = systemClock,
    checksumSecrets = testSecrets,
    testAddresses = true,
    log,
    hasDeadline = false,
  }: InstanceOptions = {},
) {
  const accessStore = createAccessStore(client, testTables.accounts);
  const shared = {
    accessStore,
    checksumSecrets,
    clock,
    ...(!hasDeadline && { deadlineMilliseconds: longDeadline }),
  };
  const address = addressRoute({
    ...shared,
    addressStore: createAddressStore(client, testTables.addresses),
    testAddresses,
    available: availableIncludesIn(process.env),
    log,
    datasetDate: async () => '2021-10-15',
  });
  const validate = validateRoute({
    ...shared,
    log,
    keyStore: createKeyStore(client, testTables.accounts),
  });

  /** Sends a request the way the gateway routes it; every answer must be in the contract. */
  async function send(url: string, request?: TestRequest): Promise<TestAnswer> {
    const event = gatewayEvent(url, request);
    const route = /^\/v1\/address(es)?$/.test(event.rawPath) ? address : validate;
    // The middlewares put the rest on the event.
    const answer = await route(event as Parameters<typeof route>[0], lambdaContext);
    const body = answer.body ?? '';
    const { statusCode: status = 0, headers } = answer;
    expectContract(event.requestContext.http.method, url, { status, headers, body });
    return { status, headers, body, json: JSON.parse(body) };
  }

  /** Looks an address up. */
  function lookUp(key: string, query = storedAddress): Promise<TestAnswer> {
    return send(`/v1/address?${query}`, { headers: { 'X-API-Key': key } });
  }

  /** Looks many addresses up. */
  function lookUpAll(
    key: string,
    body: unknown,
    headers: Record<string, string> = {},
  ): Promise<TestAnswer> {
    const json = { 'X-API-Key': key, 'Content-Type': 'application/json', ...headers };
    return send('/v1/addresses', { method: 'POST', headers: json, body: JSON.stringify(body) });
  }

  return { send, lookUp, lookUpAll };
}

export type SentCommand = { name: string; table: string; units: number };

/**
 * The service's parts on a real engine, with a few addresses; `sent` notes each command and what it
 * consumed. `asDeployed` lets each call cost what it does in a Lambda, to measure it. The engine is
 * in memory without a `databaseFile`.
 */
export async function startAddressService(
  options: { asDeployed?: boolean; databaseFile?: string } = {},
) {
  const { asDeployed = false, databaseFile } = options;
  const { client: bare, endpoint, stop } = await startDynamoDb(databaseFile);
  if (!asDeployed) sendPlainly(bare, endpoint);
  await createTables(bare, testTables);
  const client = DynamoDBDocumentClient.from(bare, {
    marshallOptions: { removeUndefinedValues: true },
  });
  const sent: SentCommand[] = [];
  const observed = DynamoDBDocumentClient.from(bare);
  observed.middlewareStack.add(
    (next, context) => async (args) => {
      const entry = { name: context.commandName ?? '', table: '', units: 0 };
      sent.push(entry);
      const input = args.input as { TableName?: string; ReturnConsumedCapacity?: string };
      entry.table = input.TableName ?? '';
      const result = await next({ ...args, input: { ...input, ReturnConsumedCapacity: 'TOTAL' } });
      entry.units =
        (result.output as { ConsumedCapacity?: { CapacityUnits?: number } }).ConsumedCapacity
          ?.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize', name: 'noteCommands' },
  );
  const admin = createAdmin({ client, table: testTables.accounts });
  await putAddresses(client, {
    '1381AA#9#A': [{ straat: 'Buitenveer', woonplaats: 'Weesp' }],
    '1381AA#9#': [{ straat: 'Buitenveer', woonplaats: 'Weesp' }],
    '1222AB#1#': [
      { straat: 'Bussumergrintweg', woonplaats: 'Bussum' },
      { straat: 'Bussumergrintweg', woonplaats: 'Hilversum' },
    ],
  });
  return { admin, client, observed, endpoint, sent, stop, instance: createInstance(observed) };
}

export type AddressService = Awaited<ReturnType<typeof startAddressService>>;

async function putAddresses(
  client: DynamoDBDocumentClient,
  places: Record<string, Place[]>,
): Promise<void> {
  const puts = Object.entries(places).map(([address, places]) => ({
    PutRequest: { Item: { address, places } },
  }));
  await client.send(new BatchWriteCommand({ RequestItems: { [testTables.addresses]: puts } }));
}

let accounts = 0;

/** An account with a plan of its own and one key. */
export async function newAccount(
  { admin }: Pick<AddressService, 'admin'>,
  limits: Record<string, number | null>,
) {
  const id = `account-${++accounts}`;
  const plan = `plan-${accounts}`;
  await admin.plans.put({ code: plan, limits });
  await admin.accounts.create({ id, plan });
  const { key, keyId } = await admin.keys.create({
    account: id,
    label: 'the webshop of the tests',
  });
  return { id, plan, key, keyId };
}

/** How many of `count` concurrent lookups, spread over instances, got each status. */
export async function burst(
  instances: Pick<AddressService['instance'], 'lookUp'>[],
  key: string,
  count: number,
  query = testAddress,
): Promise<Record<number, number>> {
  const lookups = Array.from({ length: count }, (_, i) =>
    instances[i % instances.length]?.lookUp(key, query),
  );
  const statuses: Record<number, number> = {};
  for (const answer of await Promise.all(lookups)) {
    const { status = 0 } = answer ?? {};
    statuses[status] = (statuses[status] ?? 0) + 1;
  }
  return statuses;
}

/** The units that an account has used, by window. */
export async function usedOf(
  { admin }: Pick<AddressService, 'admin'>,
  id: string,
): Promise<Record<string, number>> {
  const { windows } = await admin.accounts.show(id);
  return Object.fromEntries(Object.entries(windows).map(([name, { used }]) => [name, used]));
}
