import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { readLocalState } from '../../local/data-folder.ts';
import { createAdmin } from '../../packages/admin/admin.ts';
import { Random } from '../../tools/bench/generator/random.ts';
import { startDynamoDb } from '../support/dynamodb.ts';
import { readyText, start } from '../support/start.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { answer, type Passing, startProxy } from '../support/store-proxy.ts';
import { isFullSweep } from '../support/sweep.ts';

/** Holds a call before the engine has it; the call is lost if this fails. */
let holds: (passing: Passing) => Promise<unknown>;
/** Whether the answer to a call is lost that the engine has done with this status. */
let loses: (passing: Passing, status: number) => Promise<boolean>;

const bench = startForTests(async () => {
  await using resources = new AsyncDisposableStack();
  const data = await mkdtemp(join(tmpdir(), 'lost-charges-'));
  resources.defer(() => rm(data, { recursive: true, force: true }));
  const engine = await startDynamoDb();
  resources.defer(engine.stop);
  holds = async () => undefined;
  loses = async () => false;
  const proxy = await startProxy(
    () => engine.endpoint,
    async (passing, response) => {
      await holds(passing);
      const { status, body } = await passing.forward();
      if (await loses(passing, status)) response.destroy();
      else answer(response, status, body);
    },
  );
  resources.defer(proxy.stop);
  const run = start(['--port', '0', '--data', data], { env: { AWS_ENDPOINT_URL_DYNAMODB: proxy.endpoint } });
  resources.defer(async () => {
    run.child.kill('SIGKILL');
    await run.ended;
  });
  await run.until(readyText);
  const { baseUrl, accountsTable } = await readLocalState(data);
  const client = DynamoDBDocumentClient.from(engine.client);
  const admin = createAdmin({ client, table: accountsTable });
  await admin.plans.put({ code: 'day', limits: { day: 1_000_000 } });
  const all = resources.move();
  return { baseUrl, admin, stop: () => all.disposeAsync() };
}, 120_000);

const isCharge = ({ operation, body }: Passing) => operation === 'UpdateItem' && body.includes('{"S":"access"}');

/** Sends so many lookups, a third of them as batches of 3; returns the units of each status, and what was counted. */
async function send(id: string, count: number) {
  const { admin, baseUrl } = bench;
  await admin.accounts.create({ id, plan: 'day' });
  const { key } = await admin.keys.create({ account: id, label: 'k' });
  const address = { postcode: '9999SD', huisnummer: 1 };
  const body = JSON.stringify({ addresses: [address, address, address] });
  const headers = { 'x-api-key': key, 'content-type': 'application/json' };
  const units: Record<number, number> = {};
  await Promise.all(
    Array.from({ length: count }, async (_, i) => {
      await sleep(i * 10);
      const isBatch = i % 3 === 0;
      const { status } = isBatch
        ? await fetch(`${baseUrl}/v1/addresses`, { method: 'POST', headers, body })
        : await fetch(`${baseUrl}/v1/address?postcode=9999SD&huisnummer=1`, { headers });
      units[status] = (units[status] ?? 0) + (isBatch ? 3 : 1);
    }),
  );
  const { windows } = await admin.accounts.show(id);
  return { units, counted: windows.day?.used ?? 0 };
}

const count = isFullSweep ? 300 : 45;
const sent = Array.from({ length: count }, (_, i) => (i % 3 === 0 ? 3 : 1)).reduce((sum, units) => sum + units, 0);

describe('lookups through npm start, whose connections to the database fail', () => {
  it('are all served, and counted once, when every call takes up to 300 ms each way', async () => {
    const random = new Random(1, 1);
    holds = () => sleep(random.int(300));
    loses = () => sleep(random.int(300), false);
    expect(await send('delayed', count)).toEqual({ units: { 200: sent }, counted: sent });
  });

  it('are counted if they were served, and once at most if they got 503, when charges get lost either way', async () => {
    const random = new Random(2, 1);
    let [before, after] = [0, 0];
    holds = async (passing) => {
      await sleep(random.int(100));
      if (!isCharge(passing) || !random.chance(0.2)) return;
      before++;
      throw new Error('lost on the way');
    };
    loses = async (passing, status) => {
      await sleep(random.int(100));
      const isLost = isCharge(passing) && status === 200 && random.chance(0.2);
      if (isLost) after += passing.body.includes('":units":{"N":"3"}') ? 3 : 1;
      return isLost;
    };
    const { units, counted } = await send('lost', count);
    expect(Object.keys(units)).toEqual(['200', '503']);
    expect([before > 0, after > 0]).toEqual([true, true]);
    expect(counted).toBe((units[200] ?? 0) + after);
  });
});
