import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { GetItemCommand, ListTablesCommand, PutItemCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from '@jest/globals';
import { localDynamoDb } from '../../../local/engine/client.ts';
import { EngineMissingError, engineBinary, startEngine } from '../../../local/engine/engine.ts';
import { createTables, startDynamoDb } from '../../support/dynamodb.ts';

const reachable = (endpoint: string) =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

async function unreachable(endpoint: string): Promise<boolean> {
  for (let tries = 0; tries < 200; tries++) {
    if (!(await reachable(endpoint))) return true;
    await sleep(20);
  }
  return false;
}

describe('the embedded engine', () => {
  it('responds once it has started, and has exited once it was stopped, even twice', async () => {
    const engine = await startEngine();
    expect(await reachable(engine.endpoint)).toBe(true);
    await Promise.all([engine.stop(), engine.stop()]);
    await engine.ended;
    expect(await reachable(engine.endpoint)).toBe(false);
  });

  it('keeps its data across a restart on the same file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'engine-'));
    try {
      const file = join(folder, 'dynamodb.db');
      const first = await startEngine(file);
      const client = localDynamoDb(first.endpoint);
      await createTables(client, { addresses: 'addresses', accounts: 'accounts' });
      await client.send(new PutItemCommand({ TableName: 'addresses', Item: { address: { S: '1381AA#9#A' } } }));
      client.destroy();
      await first.stop();
      const second = await startEngine(file);
      const again = localDynamoDb(second.endpoint);
      const { Item } = await again.send(
        new GetItemCommand({ TableName: 'addresses', Key: { address: { S: '1381AA#9#A' } } }),
      );
      again.destroy();
      await second.stop();
      expect(Item).toEqual({ address: { S: '1381AA#9#A' } });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  it("reports why it can't open a database file", async () => {
    await expect(startEngine('/dev/null/dynamodb.db')).rejects.toThrow(/did not start: .+/);
  });

  it('does not outlive a parent process that is killed', async () => {
    const parent = spawn(process.execPath, [
      '--input-type=module-typescript',
      '--eval',
      `import { startEngine } from '${new URL('../../../local/engine/engine.ts', import.meta.url)}';
       console.log((await startEngine()).endpoint);`,
    ]);
    const [chunk] = await once(parent.stdout, 'data');
    const endpoint = String(chunk).trim();
    expect(await reachable(endpoint)).toBe(true);
    parent.kill('SIGKILL');
    expect(await unreachable(endpoint)).toBe(true);
  });

  it('can be started several times at once', async () => {
    const engines = await Promise.all([startEngine(), startEngine(), startEngine()]);
    expect(new Set(engines.map(({ endpoint }) => endpoint)).size).toBe(3);
    await Promise.all(engines.map((engine) => engine.stop()));
  });
});

describe('the binary of the engine', () => {
  it('is reported as missing with a message that says how to use another engine', () => {
    expect(() => engineBinary('plan9', 'mips')).toThrow(EngineMissingError);
    expect(() => engineBinary('plan9', 'mips')).toThrow(/AWS_ENDPOINT_URL_DYNAMODB=http/);
  });
});

describe('the engine of a test', () => {
  it('starts empty and creates the two tables', async () => {
    const { client, stop } = await startDynamoDb();
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual([]);
    await createTables(client, { addresses: 'addresses', accounts: 'accounts' });
    expect((await client.send(new ListTablesCommand())).TableNames).toEqual(['accounts', 'addresses']);
    await stop();
  });
});
