import { once } from 'node:events';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { noProgress } from '../../loader/steps/step.ts';
import { followMutations, type LocalLoadOptions, loadExtract } from '../../local/dataset.ts';
import { startErrorText } from '../../local/messages.ts';
import { Random } from '../../tools/bench/generator/random.ts';
import { createTables, startDynamoDb } from '../support/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { writeMutationDelivery } from '../support/mutation-delivery.ts';
import { firstState, laterDays, type RegisterDay } from '../support/register.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { writeExtract } from '../support/write-extract.ts';

const folder = folderForNow('follow-mutations-');
const engine = startForTests(startDynamoDb);
let loaded: LocalLoadOptions;
const random = new Random(5);
const first = firstState(random, '2026-01-08');

beforeAll(async () => {
  await createTables(engine.client, { addresses: 'addresses', accounts: 'accounts' });
  const extract = join(folder, 'extract.zip');
  await writeFile(extract, await writeExtract('2026-01-08', first));
  loaded = {
    client: engine.client,
    table: 'addresses',
    embedded: true,
    storageFolder: join(folder, 'loads'),
    demoFile: join(folder, 'demo.zip'),
    extract,
    progress: noProgress,
  };
  await loadExtract(loaded);
});

describe('npm start with mutations', () => {
  it('applies the available days at the start, then each new one, and reports a broken one once', async () => {
    const days = [...laterDays(random, first, '2026-01-08', 2)] as [RegisterDay, RegisterDay];
    const mutations = join(folder, 'mutations');
    await mkdir(mutations);
    // Renamed into its place, as a check may come at any moment.
    const put = async (name: string, bytes: Uint8Array | string) => {
      await writeFile(join(folder, name), bytes);
      await rename(join(folder, name), join(mutations, name));
    };
    const deliver = async (from: string, to: string, { groups }: RegisterDay) =>
      put(
        `BAGNLDM-${from}012026-${to}012026.zip`,
        // Without a renamed street, which is more than the guard allows a day in so small a register.
        await writeMutationDelivery(
          `2026-01-${from}`,
          `2026-01-${to}`,
          groups.filter(({ kind }) => kind === 'NUM'),
        ),
      );
    await deliver('08', '09', days[0]);
    const lines: string[] = [];
    const { stop, report } = await followMutations({
      ...loaded,
      mutations,
      announce: (line) => lines.push(line),
      pauseMilliseconds: 20,
    });
    expect(lines).toEqual([expect.stringMatching(/^Applied 1 day of mutations: .* The dataset is of 2026-01-09\.$/)]);
    expect(report).toMatchObject({ peildatum: '2026-01-09' });
    await put('BAGNLDM-09012026-10012026.zip', '<!DOCTYPE html>');
    while (lines.length < 2) await sleep(20);
    expect(lines[1]).toMatch(
      /^Mutations could not be applied; the served dataset stays unchanged\. BAGNLDM-09012026-10012026\.zip: /,
    );
    await deliver('09', '10', days[1]);
    while (lines.length < 3) await sleep(20);
    await stop();
    expect(lines[2]).toMatch(/The dataset is of 2026-01-10\.$/);
    expect(lines).toHaveLength(3);
  });

  it('ends with what to do when it is asked for an older extract of another area', async () => {
    const other = join(folder, 'other.zip');
    await writeFile(other, await writeExtract('2026-01-05', firstState(new Random(6), '2026-01-05')));
    const error = await loadExtract({ ...loaded, extract: other }).catch((error: Error) => error);
    expect(startErrorText(error, { host: '', port: 0, endpoint: undefined, dataFolder: folder })).toMatch(
      /other\.zip was not loaded: the extract of 2026-01-05 is older than the live dataset of 2026-01-10.* still holds the dataset of 2026-01-10\. .*--fresh/,
    );
  });

  it('says what it is waiting for when a list does not respond', async () => {
    const server = createServer((_request, response) => setTimeout(() => response.writeHead(404).end(), 200));
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const mutations = `http://127.0.0.1:${(server.address() as AddressInfo).port}/bestanden.json`;
    const lines: string[] = [];
    const announce = (line: string) => lines.push(line);
    const { stop } = await followMutations({ ...loaded, mutations, announce, silenceMilliseconds: 50 });
    await stop();
    server.close();
    expect(lines).toEqual([
      `Still reading mutations from ${mutations}; the service starts after that.`,
      expect.stringContaining('Mutations could not be applied'),
    ]);
  });
});
