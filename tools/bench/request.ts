import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { createAddressStore } from '../../core/addresses/address-store.ts';
import { systemClock } from '../../core/calendar.ts';
import { createStoreClient } from '../../core/dynamodb.ts';
import { addressRoute } from '../../lambdas/address/address-route.ts';
import { requestLog } from '../../lambdas/http/observe.ts';
import {
  lambdaEnvironment,
  newAccount,
  startAddressService,
  testSecrets,
  testTables,
} from '../../test/support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../test/support/gateway-event.ts';
import { bareLookup } from './bare-lookup.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuOf, inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 30;
const lookupsARound = 200;
/**
 * The engine compiles what is used much; an instance that answers for an hour has long been through
 * that.
 */
const warmUp = 6000;

/**
 * CPU of a whole charged lookup through the middleware chain, as deployed, against the two bare SDK
 * calls that it makes.
 */
export const benchmark: Benchmark = {
  async run() {
    const service = await startAddressService({ asDeployed: true });
    try {
      const { key } = await newAccount(service, { day: 1e9, month: null }); // no window that ends during the run
      Object.assign(process.env, lambdaEnvironment(service.endpoint));
      const whole = wholeLookup(createStoreClient(), key);
      const client = new DynamoDBClient();
      const twoCalls = () => bareLookup(client, key);
      await cpuOf(whole, warmUp);
      await cpuOf(twoCalls, warmUp);
      const cpu = await inTurn(rounds, {
        whole: () => cpuOf(whole, lookupsARound),
        bare: () => cpuOf(twoCalls, lookupsARound),
      });
      const wholeBytes = await bytesOf(whole);
      const bareBytes = await bytesOf(twoCalls);
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
};

/**
 * What the Lambda does with an event, its log line included: that goes to where nobody reads it.
 */
function wholeLookup(client: DynamoDBClient, key: string): () => Promise<unknown> {
  const route = addressRoute({
    accessStore: createAccessStore(client, testTables.accounts),
    addressStore: createAddressStore(client, testTables.addresses),
    datasetDate: async () => '2021-10-15',
    checksumSecrets: testSecrets,
    clock: systemClock,
    log: requestLog(process.env, () => undefined),
  });
  const headers = { 'x-api-key': key };
  return async () => {
    const event = gatewayEvent('/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a', {
      headers,
    });
    const { statusCode } = await route(event as Parameters<typeof route>[0], lambdaContext);
    if (statusCode !== 200) throw new Error(`the lookup was answered ${statusCode}`);
  };
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
