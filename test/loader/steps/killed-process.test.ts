import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runLoad } from '../../../loader/run/run-load.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { type LoadBench, startLoadBench } from './load-bench.ts';
import { type Month, tableOf } from './months.ts';

let bench: LoadBench;
beforeAll(async () => {
  bench = await startLoadBench();
});
afterAll(() => bench.stop());

const month: Month = {
  peildatum: '2026-01-08',
  addresses: Array.from({ length: 400 }, (_, index) => [`1381AA ${index + 1}`, 'Buitenveer', 'Weesp']),
};

describe('a load whose process is killed while it applies', () => {
  it('is finished by the next run, which need not wait for the lock', async () => {
    const table = await bench.newTable();
    const folder = bench.newFolder();
    const source = await bench.extractOf(month);
    const endpoint = await bench.client.config.endpoint?.();
    const url = `${endpoint?.protocol}//${endpoint?.hostname}:${endpoint?.port}`;
    const script = join(import.meta.dirname, 'load-process.ts');
    const child = spawn(process.execPath, [script, url, table, folder, source], { stdio: 'ignore' });
    const exited = once(child, 'exit');
    while (globSync(join(folder, 'loads/*/applied/*')).length === 0) {
      if (child.exitCode !== null) throw new Error(`the load ended by itself with ${child.exitCode}`);
      await sleep(20);
    }
    child.kill('SIGKILL');
    await exited;
    // As it would be left had the process been killed while it wrote that file.
    const [applied = ''] = globSync(join(folder, 'loads/*/applied/*'));
    writeFileSync(`${applied}.${child.pid}.00000000-0000-0000-0000-000000000000.part`, 'half');

    const half = await bench.addressesIn(table);
    expect(half.size).toBeGreaterThan(0);
    expect(half.size).toBeLessThan(400);
    const addresses = dynamoDbAddressTable(bench.client, table);
    expect(await runLoad({ source, storage: folder, addresses })).toMatchObject({ outcome: 'published', added: 400 });
    expect(await bench.addressesIn(table)).toEqual(tableOf(month));
    expect(readdirSync(folder).sort()).toEqual(['manifest.json', 'snapshots']);
  });
});
