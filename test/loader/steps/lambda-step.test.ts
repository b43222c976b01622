import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import { startS3, type TestS3 } from '../../support/s3.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { february, january, type Month, march, tableOf } from './months.ts';

type Handler = (event: unknown) => Promise<unknown>;
type Items = { bucket: string; key: string };
const names = ['discover', 'stage', 'reference', 'extract', 'collect', 'merge', 'guard', 'apply', 'publish', 'release'];

let bench: LoadBench;
let s3: TestS3;
let table: string;
const handlers = new Map<string, Handler>();
const environment = { ...process.env };

beforeAll(async () => {
  [bench, s3] = await Promise.all([startLoadBench(), startS3()]);
  table = await bench.newTable();
  const endpoint = await bench.client.config.endpoint?.();
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL_DYNAMODB: `${endpoint?.protocol}//${endpoint?.hostname}:${endpoint?.port}`,
    AWS_ENDPOINT_URL_S3: s3.endpoint,
    ADDRESSES_TABLE: table,
    SNAPSHOT_BUCKET: s3.bucket,
    LOAD_THRESHOLDS:
      '{"minimumAddresses": 1, "maximumRemovedShare": 0.3, "alwaysAllowed": 0, "maximumChangedShare": 1, "maximumAddedShare": 1}',
    POWERTOOLS_LOG_LEVEL: 'SILENT',
    POWERTOOLS_METRICS_DISABLED: 'true',
  });
  for (const name of names) handlers.set(name, (await import(`../../../loader/steps/${name}.ts`)).handler);
});
afterAll(async () => {
  process.env = environment;
  await bench.stop();
  await s3.stop();
});

/** Calls a Lambda as the service does: what goes in and what comes out is JSON. */
async function call<T>(name: string, event: unknown): Promise<T> {
  const result = await handlers.get(name)?.(JSON.parse(JSON.stringify(event)));
  const text = JSON.stringify(result);
  expect(text.length).toBeLessThan(100_000); // a state holds 256 KB, and there is more in it
  return JSON.parse(text) as T;
}

/** A Distributed Map with an ItemReader, and an ItemBatcher of two. */
async function map(name: string, items: Items, BatchInput: object): Promise<void> {
  const stored = await s3Storage(s3.client, items.bucket).get(items.key);
  const all = JSON.parse(String(stored)) as unknown[];
  for (let start = 0; start < all.length; start += 2) {
    await call(name, { BatchInput, Items: all.slice(start, start + 2) });
  }
}

type Discovered = { action: string; load: string; items: Items };
type Guarded = {
  go: boolean;
  items: Items;
  report: { outcome: string; added: number; objections: { code: string }[] };
};

/** The way of an extract up to the guard. */
async function untilGuard(month: Month, input: object = {}): Promise<Guarded & { load: string; owner: string }> {
  const owner = `execution-${month.peildatum}`;
  const source = await bench.extractOf(month);
  const { action, load } = await call<Discovered>('discover', { owner, source, ...input });
  expect(action).toBe('load');
  await call('stage', { load });
  const { items: parts } = await call<{ items: Items }>('reference', { load });
  await map('extract', parts, { load });
  const { items: segments } = await call<{ items: Items }>('collect', { load });
  await map('merge', segments, { load });
  return { ...(await call<Guarded>('guard', { load, owner, ...input })), load, owner };
}

async function load(month: Month, input: object = {}): Promise<Guarded> {
  const { load, owner, ...guarded } = await untilGuard(month, input);
  if (guarded.go) {
    await map('apply', guarded.items, { load, owner });
    await call('publish', { load, owner });
  }
  await call('release', { owner });
  return guarded;
}

describe('the Lambdas of a load, called as the state machine calls them,', () => {
  it('load an extract, plan the next, finish one that died, go back, and stop at the guard', async () => {
    const addresses = dynamoDbAddressTable(bench.client, table);
    expect((await load(january)).report).toMatchObject({ outcome: 'published', added: 11 });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));

    expect((await load(february, { planOnly: true })).report.outcome).toBe('planned');
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));

    // Dies before its last half.
    const died = await untilGuard(february);
    await expect(call('discover', { owner: 'another' })).rejects.toThrow(/Another load \(execution-2026-02-08\)/);
    const { owner } = died;
    await call('release', { owner });

    const found = await call<Discovered>('discover', { owner, source: 'not looked at' });
    expect(found).toMatchObject({ action: 'finish', load: died.load });
    await map('apply', found.items, { load: died.load, owner });
    await call('publish', { load: died.load, owner });
    expect(await bench.addressesIn(table)).toEqual(tableOf(february));

    const back = await call<Discovered>('discover', { owner, rollback: january.peildatum });
    expect(back.action).toBe('rollback');
    await map('merge', back.items, { load: back.load });
    const { items } = await call<Guarded>('guard', { load: back.load, owner });
    await map('apply', items, { load: back.load, owner });
    await call('publish', { load: back.load, owner });
    await call('release', { owner });
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));

    const refused = await load(march);
    expect(refused).toMatchObject({ go: false, report: { outcome: 'refused' } });
    expect(refused.report.objections.map(({ code }) => code)).toEqual(['too_many_removed']);
    expect(await bench.addressesIn(table)).toEqual(tableOf(january));
    expect(await addresses.dataset()).toMatchObject({ peildatum: january.peildatum });
  });
});
