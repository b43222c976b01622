import { createInterface } from 'node:readline';
import { burst, createInstance } from './address-service.ts';
import { testDynamoDb } from './dynamodb.ts';
import { sendPlainly } from './plain-client.ts';

/** Lookups to make at once with one key, by a clock that is `skew` seconds fast. */
export type Burst = { key: string; count: number; skew: number };

/**
 * One of several processes that charge one account: `node lookup-burst.ts ENDPOINT`. Reads a `Burst` from each line,
 * and prints how many of its lookups, made by a new instance, got each status.
 */
const [endpoint = ''] = process.argv.slice(2);
const client = testDynamoDb(endpoint);
sendPlainly(client, endpoint);
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  const { key, count, skew } = JSON.parse(line) as Burst;
  const instance = createInstance(client, () => Date.now() / 1000 + skew);
  const statuses = await burst([instance], key, count);
  process.stdout.write(`${JSON.stringify(statuses)}\n`);
}
client.destroy();
