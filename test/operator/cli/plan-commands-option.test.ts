import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { commandLine } from '../../../bin/bag-adres.ts';
import { localGuardDefaults } from '../../../loader/names.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { type CliCommand, pathOf } from '../../../operator/cli/command.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { february, january, type Month, march, voorkomensOf } from '../../loader/steps/months.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { run, startLocalRun } from '../command-line.ts';

/** Every command of the program that has `--plan` without a value. */
function planned(): string[] {
  const found: string[] = [];
  const visit = (command: CliCommand) => {
    if (
      command.options.some(
        ({ long, required, optional }) => long === '--plan' && !required && !optional,
      )
    ) {
      found.push(pathOf(command));
    }
    for (const one of command.commands) visit(one as CliCommand);
  };
  visit(commandLine({ out: () => undefined, err: () => undefined, env: {} }, true));
  return found.sort();
}

/** The arguments of each: of what exists in one of the states, and of what never does. */
const argumentsOf = (refused: string, keyId: string): Record<string, string[][]> => ({
  'account activate': [['acme'], ['suspended'], ['none']],
  'account delete': [['acme'], ['suspended'], ['none']],
  'account suspend': [['acme'], ['none']],
  'key revoke': [
    [keyId, '--account', 'acme'],
    ['0123456789', '--account', 'acme'],
  ],
  'load approve': [[], [refused], ['2026-01-01-0123456789']],
  'load discard': [[refused], ['2026-01-01-0123456789']],
  'load repair': [[]],
  'load rollback': [['2026-01-08'], ['2026-02-08'], ['2019-01-01']],
  'load unlock': [[], ['--force']],
  'usage close': [
    ['--month', '2026-01'],
    ['--month', '2090-01'],
  ],
});

const bench = startForTests(startLocalRun);
let keyId = '';
let refused = '2026-01-01-0000000000';

/** Loads a month; `interrupted`: the process ends when the load may write. */
async function load(
  month: Month,
  { interrupted = false, alwaysAllowed = 1000 } = {},
): Promise<string | undefined> {
  const source = join(bench.data, `${month.peildatum}.zip`);
  await writeFile(source, await writeExtract(month.peildatum, voorkomensOf(month)));
  const ended = await runLoad({
    storage: bench.data,
    addresses: dynamoDbAddressTable(bench.client, 'addresses', { transactions: true }),
    thresholds: { ...localGuardDefaults, alwaysAllowed },
    workers: 0,
    source,
    onStep: (step) => {
      if (step === 'guard' && interrupted) throw new Error('interrupted');
    },
  }).catch((error) => error);
  return ended.report?.load;
}

/** Each state of a deployment, after the one before it. */
const states: Record<string, () => Promise<unknown>> = {
  'nothing live': async () => undefined,
  published: async () => {
    await load(january);
    await load(february);
  },
  refused: async () => {
    refused = `${await load(march, { alwaysAllowed: 0 })}`;
  },
  'half written': () => load(march, { interrupted: true }),
};

/** Every item and every stored byte, by its key. */
async function everything(): Promise<Record<string, unknown>> {
  const stored: Record<string, unknown> = {};
  for (const TableName of ['accounts', 'addresses']) {
    const { Items = [] } = await bench.client.send(
      new ScanCommand({ TableName, ConsistentRead: true }),
    );
    for (const item of Items) {
      stored[[TableName, item.account?.S, item.item?.S, item.address?.S].join(' ')] = item;
    }
  }
  for (const file of await readdir(bench.data, { recursive: true, withFileTypes: true })) {
    const path = join(file.parentPath, file.name);
    if (file.isFile()) stored[path] = (await readFile(path)).toString('base64');
  }
  return stored;
}

beforeAll(async () => {
  const client = DynamoDBDocumentClient.from(bench.client);
  const admin = createAdmin({ client, table: 'accounts' });
  await admin.plans.put({ code: 'standard', limits: { day: 5 } });
  for (const id of ['acme', 'suspended']) await admin.accounts.create({ id, plan: 'standard' });
  await admin.accounts.suspend('suspended');
  ({ keyId } = await admin.keys.create({ account: 'acme', label: 'webshop' }));
});

describe('--plan', () => {
  it('is an option of these commands, each of which is run below', () => {
    const onOneMachine = Object.keys(argumentsOf('', ''));
    // It takes its time, and is tried in command-destructive.test.ts.
    expect(planned().filter((path) => path !== 'rotate-checksum-secret')).toEqual(onOneMachine);
  });

  it.each(Object.keys(states))(
    'writes nothing with %s: neither to a table nor to the storage',
    async (state) => {
      await states[state]?.();
      const before = await everything();
      for (const [command, all] of Object.entries(argumentsOf(refused, keyId))) {
        for (const args of sweep(all, 1)) {
          const { exit, out, err } = await bench.run(command, ...args, '--plan');
          expect([command, args, await everything()]).toEqual([command, args, before]);
          // It says what would be done, or why that can't be.
          expect([command, args, exit === 0 ? out : err]).toEqual([
            command,
            args,
            expect.stringMatching(/\S/),
          ]);
          expect([command, args, out + err]).toEqual([
            command,
            args,
            expect.not.stringMatching(/is live\.|internal/i),
          ]);
        }
      }
    },
  );

  it('of a rollback says what it would put in the place of the half-written load, which alone it can undo', async () => {
    const { exit, out } = await bench.run('load rollback', '2026-02-08', '--plan');
    expect([exit, out]).toEqual([
      0,
      expect.stringMatching(
        /Puts the register of 2026-02-08 \(load \S+, 11 addresses\) in the place of the snapshot of 2026-03-08 \(load \S+\), which started/,
      ),
    ]);
    const { err } = await bench.run('load rollback', '2026-01-08', '--plan');
    expect(err).toMatch(
      /is half written: .*or undo it with "npx bag-adres load rollback \S+ --local/,
    );
  });
});

describe('the hint of a half-written load', () => {
  it('finishes that load when it is pasted, without its extract, and never another one', async () => {
    await rm(join(bench.data, '2026-03-08.zip'));
    const { out } = await bench.run('load status');
    const [, hint = ''] = /finish it with "npx bag-adres ([^"]+)"/.exec(out) ?? [];
    const finished = await run([...hint.split(' '), '--json']);
    expect([finished.exit, JSON.parse(finished.out)]).toEqual([
      0,
      expect.objectContaining({ outcome: 'published', peildatum: '2026-03-08' }),
    ]);
    const again = await run([...hint.split(' '), '--json']);
    expect([again.exit, JSON.parse(again.err).error.code]).toEqual([1, 'not_found']);
    expect(await bench.json('load status')).toMatchObject({
      pending: null,
      published: { peildatum: '2026-03-08' },
    });
  });
});
