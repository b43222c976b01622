/**
 * Counts the calls of our functions in one lookup, by file, and fails above the most that are
 * allowed: `npm run check:calls`.
 *
 * The handler of the Lambda runs from its sources, on the embedded engine, for an account with a
 * limit a minute and a day. After some lookups to warm up, V8 counts precisely
 * (`Profiler.startPreciseCoverage` with `callCount`) what one lookup of a stored address calls, its
 * log line included. Callbacks count as any function; packages don't count.
 */
import { Session } from 'node:inspector/promises';
import { relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PutCommand } from '@aws-sdk/lib-dynamodb';
import { addressesTable } from '../../core/tables.ts';
import {
  lambdaEnvironment,
  newAccount,
  startAddressService,
  storedAddress,
  testTables,
} from '../../test/support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../test/support/gateway-event.ts';

const root = resolve(import.meta.dirname, '../..');
const warmUp = 50;
const most = { calls: 150, files: 22 };

const service = await startAddressService({ asDeployed: true });
try {
  const Item = {
    [addressesTable.partitionKey]: addressesTable.datasetKey,
    [addressesTable.datasetDate]: '2021-10-15',
  };
  await service.client.send(new PutCommand({ TableName: testTables.addresses, Item }));
  const { key } = await newAccount(service, { minute: 100_000, day: 1_000_000 });
  Object.assign(process.env, lambdaEnvironment(service.endpoint));
  const { handler } = await import('../../lambdas/address/address-lambda.ts');
  type Event = Parameters<typeof handler>[0];
  async function lookUp(): Promise<void> {
    const event = gatewayEvent(`/v1/address?${storedAddress}`, { headers: { 'x-api-key': key } });
    const { statusCode } = await handler(event as Event, lambdaContext);
    if (statusCode !== 200) throw new Error(`a lookup is answered with ${statusCode}`);
  }
  const writeLine = process.stdout.write;
  process.stdout.write = () => true;
  for (let i = 0; i < warmUp; i++) await lookUp();
  const functions = await callsOf(lookUp);
  process.stdout.write = writeLine;
  const files = Object.entries(Object.groupBy(functions, ({ file }) => file)).map(
    ([file, some = []]) => ({
      file,
      calls: some.reduce((sum, { count }) => sum + count, 0),
      names: some.map(({ name, count }) => (count > 1 ? `${name} x ${count}` : name)),
    }),
  );
  for (const { file, calls, names } of files.toSorted((a, b) => b.calls - a.calls)) {
    console.log(`${String(calls).padStart(4)}  ${file}\n      ${names.join(', ')}`);
  }
  const total = files.reduce((sum, { calls }) => sum + calls, 0);
  console.log(`${total} calls of ${functions.length} functions in ${files.length} files`);
  process.exitCode = total <= most.calls && files.length <= most.files ? 0 : 1;
} finally {
  await service.stop();
}

type Called = { file: string; name: string; count: number };

/** The functions of this project that `work` calls, and how often. */
async function callsOf(work: () => Promise<void>): Promise<Called[]> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  await session.post('Profiler.takePreciseCoverage');
  await work();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  session.disconnect();
  const isOurs = (file: string) => /^(core|lambdas)\//.test(file);
  return result
    .filter(({ url }) => url.startsWith('file:'))
    .map(({ url, functions }) => ({
      file: relative(root, fileURLToPath(url)).replaceAll(sep, '/'),
      functions,
    }))
    .filter(({ file }) => isOurs(file))
    .flatMap(({ file, functions }) =>
      functions.map(({ functionName, ranges: [range] }) => ({
        file,
        name: functionName || '(anonymous)',
        count: range?.count ?? 0,
      })),
    )
    .filter(({ count }) => count > 0);
}
