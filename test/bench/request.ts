import { type DynamoDBClient, GetItemCommand, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { marshall } from '@aws-sdk/util-dynamodb';
import { readApiKey } from '../../lambdas/shared/domain/api-key.ts';
import { chargeCommand } from '../../lambdas/shared/store/charge-command.ts';
import { localDynamoDb } from '../../local/dynamodb-client.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  testChecksumSecret,
  testTables,
} from '../support/address-service.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuMilliseconds, inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 30;
const lookupsARound = 200;

/** CPU of a whole charged lookup through the middleware chain, against the two bare SDK calls that it makes. */
export const benchmark: Benchmark = {
  async run() {
    process.env.POWERTOOLS_METRICS_DISABLED = 'true';
    const service = await startAddressService();
    try {
      const { key } = await newAccount(service, { minute: 1e9, day: 1e9, month: null });
      const client = localDynamoDb(service.endpoint);
      const { lookUp } = createInstance(client);
      const whole = () => lookUp(key);
      const twoCalls = bareCalls(client, key);
      await cpuOf(whole, 1000);
      await cpuOf(twoCalls, 1000);
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

/** The same write and the same read, sent by the client alone, one after the other. */
function bareCalls(client: DynamoDBClient, key: string): () => Promise<unknown> {
  const claim = readApiKey(key, testChecksumSecret);
  if (!claim) throw new Error('the key is valid');
  return async () => {
    const { Key, ExpressionAttributeValues, ...rest } = chargeCommand(testTables.accounts, {
      claim,
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
