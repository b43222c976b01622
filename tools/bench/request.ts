import { DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { readApiKey } from '../../core/accounts/api-key.ts';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { attemptId } from '../../core/accounts/charge/charge.ts';
import { chargeCommand } from '../../core/accounts/charge/charge-command.ts';
import { createAddressStore } from '../../core/addresses/address-store.ts';
import { systemClock } from '../../core/calendar.ts';
import { createStoreClient } from '../../core/dynamodb.ts';
import { addressRoute } from '../../lambdas/address/route.ts';
import { localAws } from '../../local/engine/engine.ts';
import { newAccount, startAddressService, testChecksumSecret, testTables } from '../../test/support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../test/support/gateway-event.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuMilliseconds, inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 30;
const lookupsARound = 200;
/** The engine compiles what is used much; an instance that answers for an hour has long been through that. */
const warmUp = 6000;

/**
 * CPU of a whole charged lookup through the middleware chain, as deployed, against the two bare SDK calls that it
 * makes.
 */
export const benchmark: Benchmark = {
  async run() {
    const service = await startAddressService({ asDeployed: true });
    try {
      const { key } = await newAccount(service, { day: 1e9, month: null }); // no window that ends during the run
      Object.assign(process.env, environmentOf(service.endpoint));
      const whole = wholeLookup(createStoreClient(), key);
      const twoCalls = bareCalls(new DynamoDBClient(), key);
      await cpuOf(whole, warmUp);
      await cpuOf(twoCalls, warmUp);
      const cpu = await inTurn(rounds, {
        whole: () => cpuOf(whole, lookupsARound),
        bare: () => cpuOf(twoCalls, lookupsARound),
      });
      const [wholeBytes, bareBytes] = [await bytesOf(whole), await bytesOf(twoCalls)];
      return {
        lookups: rounds * lookupsARound,
        cpu_ms_whole: rounded(median(cpu.whole)),
        cpu_ms_bare: rounded(median(cpu.bare)),
        cpu_ratio_to_bare: rounded(pairedRatio(cpu.whole, cpu.bare)),
        allocated_kb_whole: rounded(wholeBytes / 1024),
        allocated_kb_bare: rounded(bareBytes / 1024),
        allocated_ratio_to_bare: rounded(wholeBytes / bareBytes),
      };
    } finally {
      await service.stop();
    }
  },
  plot: (figures) => ({
    title: 'CPU of one charged lookup',
    unit: 'ms',
    bars: [
      { label: 'the whole lookup', value: Number(figures.cpu_ms_whole) },
      { label: 'its two bare SDK calls', value: Number(figures.cpu_ms_bare), isReference: true },
    ],
  }),
};

/** What the clients find in Lambda. */
function environmentOf(endpoint: string): Record<string, string> {
  return {
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: endpoint,
  };
}

/** What the Lambda does with an event, its log line included: that goes to where nobody reads it. */
function wholeLookup(client: DynamoDBClient, key: string): () => Promise<unknown> {
  const route = addressRoute({
    accessStore: createAccessStore(client, testTables.accounts),
    addressStore: createAddressStore(client, testTables.addresses),
    datasetDate: async () => '2021-10-15',
    checksumSecret: testChecksumSecret,
    clock: systemClock,
  });
  const headers = { 'x-api-key': key };
  const write = process.stdout.write;
  return async () => {
    const event = gatewayEvent('/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a', { headers });
    process.stdout.write = () => true;
    const { statusCode } = await route(event as Parameters<typeof route>[0], lambdaContext);
    process.stdout.write = write;
    if (statusCode !== 200) throw new Error(`the lookup was answered ${statusCode}`);
  };
}

/** The same write and the same read, sent by a client without any setting alone, one after the other. */
function bareCalls(client: DynamoDBClient, key: string): () => Promise<unknown> {
  const claim = readApiKey(key, testChecksumSecret);
  if (!claim) throw new Error('the key is valid');
  return async () => {
    const { Key, ExpressionAttributeValues, ...rest } = chargeCommand(testTables.accounts, {
      claim,
      units: 1,
      id: attemptId(),
      now: Date.now() / 1000,
    });
    await client.send(
      new UpdateItemCommand({
        ...rest,
        Key: marshall(Key),
        ExpressionAttributeValues: marshall(ExpressionAttributeValues),
      }),
    );
    await client.send(new GetItemCommand({ TableName: testTables.addresses, Key: { address: { S: '1381AA#9#A' } } }));
  };
}

async function cpuOf(call: () => Promise<unknown>, count: number): Promise<number> {
  const before = cpuMilliseconds();
  for (let i = 0; i < count; i++) await call();
  return (cpuMilliseconds() - before) / count;
}

/** Bytes allocated by one call: what the heap grows by while nothing is collected. */
async function bytesOf(call: () => Promise<unknown>): Promise<number> {
  const samples: number[] = [];
  for (let i = 0; i < 50; i++) {
    globalThis.gc?.();
    const before = process.memoryUsage().heapUsed;
    for (let j = 0; j < 10; j++) await call();
    samples.push((process.memoryUsage().heapUsed - before) / 10);
  }
  return median(samples);
}
