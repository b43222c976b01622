import { existsSync } from 'node:fs';
import { readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect } from '@jest/globals';
import { greeting } from '../../../local/messages.ts';
import { progressLines } from '../../../local/progress-text.ts';
import { listsOf, type Month, tableOf, voorkomensOf } from '../../loader/steps/months.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { serviceOptions, whileServing } from '../../support/service.ts';
import { processesWith, readyText, start } from '../../support/start.ts';
import { writeExtract } from '../../support/write-extract.ts';

/** The addresses of 60 streets, some with letters: enough to interrupt an import. */
const january: Month = {
  peildatum: '2026-01-08',
  addresses: Array.from({ length: 60 }, (_, street) =>
    inStreet(`${1_000 + street}AB`, `Straat ${street}`, street === 7 || street === 9 ? 20 : 350),
  ).flat(),
};
/** A month later a street has another name, one has gone and one is new. */
const february: Month = {
  peildatum: '2026-02-08',
  addresses: [
    ...january.addresses
      .filter(([, straat]) => straat !== 'Straat 7')
      .map(([address, straat, woonplaats]): Month['addresses'][number] => [
        address,
        straat === 'Straat 9' ? 'Nieuwe straat' : straat,
        woonplaats,
      ]),
    ...inStreet('2000AB', 'Straat 60', 20),
  ],
};

/** The numbers from 1; beside every tenth one with the letter A, and beside every hundredth instead of it. */
function inStreet(postcode: string, straat: string, length: number): Month['addresses'] {
  return Array.from({ length }, (_, index) => index + 1).flatMap((number) => {
    const bare = number % 100 === 0 ? [] : [`${postcode} ${number}`];
    const lettered = number % 10 === 0 ? [`${postcode} ${number} A`] : [];
    return [...bare, ...lettered].map((address): Month['addresses'][number] => [address, straat, 'Weesp']);
  });
}

/** The rows that the table has to hold, by key: an address, a list of toevoegingen or both. */
function rowsOf(month: Month): Map<string, string> {
  const [addresses, lists] = [tableOf(month), listsOf(month)];
  const keys = new Set([...addresses.keys(), ...lists.keys()]);
  return new Map([...keys].map((key) => [key, JSON.stringify([addresses.get(key), lists.get(key)])]));
}

const folder = folderForNow('start-import-');
const data = join(folder, 'data');

const fileOf = ({ peildatum }: Month) => join(folder, `${peildatum}.zip`);

beforeAll(async () => {
  for (const month of [january, february])
    await writeFile(fileOf(month), await writeExtract(month.peildatum, voorkomensOf(month)));
});

/** Starts the service in a process of its own, looks up the address that it suggests, and stops it. */
async function servedByProcess(args: string[]) {
  const { child, ended, until } = start(['--port', '0', '--data', data, ...args]);
  const result = await tried(await until(readyText));
  child.kill('SIGINT');
  expect(await ended).toBe(0);
  return result;
}

/** The same in this process. */
async function served(extract?: string) {
  const lines: string[] = [];
  const options = serviceOptions({ dataFolder: data, extract, progress: progressLines((line) => lines.push(line)) });
  return await whileServing(options, (service) => tried(`${lines.join('')}\n${greeting(service, data)}`));
}

/** What the lookup answers that a start suggests. */
async function tried(output: string) {
  const key = /bagadres_demo_\w+/.exec(output)?.[0] ?? '';
  const [, url = ''] = /'(http:[^']+address\?[^']+)'/.exec(output) ?? [];
  const response = await fetch(url, { headers: { 'x-api-key': key } });
  const { status } = (await response.json()) as { status: string };
  return { output, key, status, stages: output.match(/^(export|import|apply)(?=,)/gm) };
}

const rows = (count: number) => `${count.toLocaleString('en')} of ${count.toLocaleString('en')} rows`;

describe('npm start with a large extract', () => {
  inSweep(
    'imports it even after an interrupted import, keeps the API key, and writes only the changes of the next month',
    async () => {
      const demo = await served();
      const killed = start(['--port', '0', '--data', data, '--extract', fileOf(january)]);
      while (!existsSync(join(data, 'dynamodb.db.import'))) await sleep(5);
      killed.child.kill('SIGKILL');
      await killed.ended;
      while ((await processesWith(data)).length > 0) await sleep(10);

      const first = await servedByProcess(['--extract', fileOf(january)]);
      expect(first).toMatchObject({ status: 'ok', key: demo.key, stages: ['import'] });
      const [before, after] = [rowsOf(january), rowsOf(february)];
      expect(first.output).toContain(`import, ${rows(before.size)}`);
      expect(first.output).toContain(`Serving ${tableOf(january).size.toLocaleString('en')} addresses`);
      expect((await readdir(data)).filter((name) => name.startsWith('dynamodb.db.'))).toEqual([]);

      const next = await served(fileOf(february));
      expect(next).toMatchObject({ status: 'ok', key: demo.key, stages: ['apply'] });
      const changed = [...new Set([...before.keys(), ...after.keys()])].filter(
        (key) => before.get(key) !== after.get(key),
      );
      expect(next.output).toContain(`apply, ${rows(changed.length)}`);

      expect(await served()).toMatchObject({ status: 'ok', key: demo.key });
    },
  );
});
