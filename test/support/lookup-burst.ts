import { createInstance } from './address-service.ts';
import { testDynamoDb } from './dynamodb.ts';

/**
 * One of several processes that charge one account: `node lookup-burst.ts ENDPOINT KEY COUNT CLOCK_SKEW_SECONDS`. Starts
 * when it reads a line, and prints how many lookups got each status.
 */
const [endpoint = '', key = '', count = '0', skew = '0'] = process.argv.slice(2);
const instance = createInstance(testDynamoDb(endpoint), () => Date.now() / 1000 + Number(skew));
process.stdout.write('ready\n');
await new Promise((resolve) => process.stdin.once('data', resolve));
const statuses: Record<number, number> = {};
await Promise.all(
  Array.from({ length: Number(count) }, async () => {
    const { status } = await instance.lookUp(key);
    statuses[status] = (statuses[status] ?? 0) + 1;
  }),
);
process.stdout.write(JSON.stringify(statuses));
process.exit();
