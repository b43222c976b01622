import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runCommandLine } from '../../../bin/bag-adres.ts';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { ExtractError } from '../../../loader/load-error.ts';
import { type AddressTable, dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { startStateMachineBench } from '../../loader/state-machine-bench.ts';
import {
  february,
  idOf,
  january,
  type Month,
  march,
  tableOf,
  voorkomensOf,
} from '../../loader/steps/months.ts';
import { createAccountsTable } from '../../support/dynamodb.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { inSweep } from '../../support/in-sweep.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { storedItems } from '../../support/stored-items.ts';
import { underLock } from '../../support/under-lock.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { run } from '../command-line.ts';
import { startFakeAws, testCaller } from '../fake-aws.ts';
import { stepFunctionsOver } from '../step-functions.ts';

/** One address fewer than in february. */
const april: Month = { peildatum: '2026-04-08', addresses: february.addresses.slice(0, -1) };
const may: Month = { peildatum: '2026-05-08', addresses: january.addresses };

const loader = startForTests(startStateMachineBench);
let machine: ReturnType<typeof stepFunctionsOver>;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let table: AddressTable;
const folder = folderForNow('bag-adres-extracts-');

beforeAll(async () => {
  machine = stepFunctionsOver(loader);
  const name = Object.values(loader.functions)[0]?.environment.ADDRESSES_TABLE ?? '';
  const loaderOutputs = { StateMachineArn: machine.machineArn, SnapshotBucketName: 'snapshots' };
  aws = await startFakeAws(
    {
      'bag-adres-test-data': {
        outputs: { AddressesTableName: name, AccountsTableName: 'accounts' },
      },
      'bag-adres-test-loader': { outputs: loaderOutputs },
      'bag-adres-x-data': { outputs: {} },
      'bag-adres-x-loader': { outputs: {} },
    },
    machine.operations,
  );
  process.env.AWS_ENDPOINT_URL_CLOUDFORMATION = aws.endpoint;
  process.env.AWS_ENDPOINT_URL_SFN = aws.endpoint;
  process.env.AWS_ENDPOINT_URL_STS = aws.endpoint;
  await createAccountsTable(new DynamoDBClient({}), 'accounts');
  table = dynamoDbAddressTable(new DynamoDBClient({}), name);
});
afterAll(async () => {
  await machine.settled();
  await aws.stop();
});

const stack = ['--stage', 'test'];
const load = (...args: string[]) => run(['load', ...args, ...stack]);
const failure = async (...args: string[]) => {
  const { exit, out, err } = await load(...args, '--json');
  expect([exit, out]).toEqual([1, '']);
  return JSON.parse(err).error;
};
/** The changes that the audit has. */
const audited = async () => {
  const documents = DynamoDBDocumentClient.from(new DynamoDBClient({}));
  const items = await storedItems(documents, 'accounts');
  return items.filter(({ item }) => item.startsWith('audit#'));
};
const started = () =>
  aws.asked.flatMap(({ operation, input }) =>
    operation === 'StartExecution' ? [JSON.parse(String(input.input))] : [],
  );

describe('loads by the state machine of a stack, one after the other', () => {
  it('a plan is an execution that stops before the first write', async () => {
    const source = await loader.serve(january);
    const { exit, out, err } = await load('plan', '--extract', source);
    expect(exit).toBe(0);
    expect(out).toMatch(/^Snapshot of 2026-01-08, the first load\.\n\n {2}\+ 1012RJ 147/);
    expect(err).toMatch(
      /^Started execution-1\. Ctrl-C stops following; the load continues\.\ndiscover \.\.\.\n/,
    );
    expect(started()).toEqual([{ again: false, source, planOnly: true }]);
    expect(await loader.addresses()).toEqual(new Map());
    expect(await audited()).toEqual([]);
  });

  it('a run follows the execution to its end and prints its steps', async () => {
    const { exit, out, err } = await load('run', '--extract', await loader.serve(january));
    expect(exit).toBe(0);
    expect(out).toMatch(/^The snapshot of 2026-01-08 is live\.\n\n.*\n(?:.*\n)+Changed: 11 added/);
    for (const step of ['discover', 'extract', 'merge', 'apply', 'publish']) {
      expect(err).toContain(`${step} ...`);
    }
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect((await audited()).map(({ action }) => action)).toContain('load run');
  });

  it('a run without a newer extract is no failure', async () => {
    const { exit, out } = await load('run', '--extract', await loader.serve(january), '--json');
    expect(exit).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      outcome: 'unchanged',
      peildatum: january.peildatum,
      addresses: 11,
      added: 0,
    });
  });

  it('a local file is checked, copied to the bucket once, and loaded from there', async () => {
    const file = join(folder, 'february.zip');
    await writeFile(file, await writeExtract(february.peildatum, voorkomensOf(february)));
    const { exit, out } = await load('run', '--extract', file, '--json');
    expect([exit, JSON.parse(out)]).toMatchObject([
      0,
      { outcome: 'published', peildatum: february.peildatum, changed: 4 },
    ]);
    const [upload, ...more] = await loader.storage.list('uploads/');
    expect(more).toEqual([]);
    expect(started().at(-1)).toEqual({ again: false, source: `s3://snapshots/${upload}` });
    await load('plan', '--extract', file);
    expect(await loader.storage.list('uploads/')).toHaveLength(1);
    const broken = join(folder, 'broken.zip');
    await writeFile(broken, 'BAG');
    const before = started().length;
    expect(await failure('run', '--extract', broken)).toMatchObject({ code: 'bad_extract' });
    expect(started()).toHaveLength(before);
  });

  it('an address is explained from the bucket alone, whether it is there or gone', async () => {
    const before = started().length;
    const present = await load('explain', '1382lj', '28');
    expect(present).toMatchObject({ exit: 0, err: '' });
    expect(present.out).toMatch(
      /^1382 LJ 28: Nijverheidslaan, Weesp \(gemeente 0457\), in the dataset of 2026-02-08, from the extract/,
    );
    expect(present.out).toContain(idOf('1382LJ 28'));
    const gone = JSON.parse((await load('explain', '2513AA', '2', '--json')).out);
    expect(gone).toMatchObject({
      key: '2513AA#2#',
      peildatum: february.peildatum,
      places: [],
      earlier: [
        { peildatum: january.peildatum, places: ['Binnenhof, ’s-Gravenhage (gemeente 0518)'] },
      ],
    });
    expect(started()).toHaveLength(before);
  });

  it('a load that the guard refuses continues when it is approved', async () => {
    const source = await loader.serve(march);
    const error = await failure('run', '--extract', source);
    expect(error).toMatchObject({
      code: 'refused',
      message: expect.stringContaining(`"npx bag-adres load approve ${error.load} --proposal `),
      objections: [{ code: 'too_many_removed' }],
    });
    expect(await loader.addresses()).toEqual(tableOf(february));
    expect((await load('status')).out).toContain(
      `load approve ${error.load} --proposal ${error.proposal} --stage test`,
    );
    loader.server.serve(basename(source), Buffer.from('another file'));
    const { exit, out } = await load('approve', '--json');
    expect([exit, JSON.parse(out)]).toMatchObject([
      0,
      { outcome: 'published', load: error.load, approved: true },
    ]);
    expect(started().at(-1)).toEqual({ again: false, approve: error.load });
    expect(await loader.addresses()).toEqual(tableOf(march));
  });

  inSweep('a rollback is also an execution, and is in the history', async () => {
    const back = await load('rollback', february.peildatum, '--json');
    expect([back.exit, JSON.parse(back.out)]).toMatchObject([
      0,
      { outcome: 'published', peildatum: february.peildatum, added: 5 },
    ]);
    expect(started().at(-1)).toEqual({ again: false, rollback: february.peildatum });
    expect(await audited()).toContainEqual(
      expect.objectContaining({
        actor: testCaller,
        action: 'load rollback',
        detail: { snapshot: february.peildatum },
        outcome: 'done',
      }),
    );
    expect(await loader.addresses()).toEqual(tableOf(february));
    const { out } = await load('history', '--json');
    expect(JSON.parse(out)[0]).toMatchObject({
      kind: 'rollback',
      peildatum: february.peildatum,
      kept: true,
    });
    expect(await failure('rollback', '2020-01-01')).toMatchObject({
      code: 'unknown_snapshot',
      message: expect.stringContaining('2026-03-08'),
    });
  });

  inSweep(
    'Ctrl-C leaves the execution running, which can be followed again; another load has to wait',
    async () => {
      const source = await loader.serve(april);
      const goOn = machine.hold();
      const running = failure('run', '--extract', source);
      while ((await load('status')).out.includes('A load is running') === false) await sleep(20);
      process.emit('SIGINT');
      const error = await running;
      expect(error).toMatchObject({
        code: 'interrupted',
        message: expect.stringMatching(
          /the load continues.*"npx bag-adres load follow execution-\d+ --stage test/,
        ),
      });
      expect(await failure('run')).toMatchObject({
        code: 'locked',
        message: expect.stringContaining('load follow --stage test'),
      });
      const again = load('follow', '--json');
      goOn();
      expect(JSON.parse((await again).out)).toMatchObject({
        outcome: 'published',
        peildatum: april.peildatum,
      });
      expect(await failure('follow')).toMatchObject({ code: 'no_load' });
      expect(await failure('follow', 'execution-99')).toMatchObject({ code: 'no_load' });
    },
  );

  it('a step that is retried shows the reason while it waits', async () => {
    const settling = new Error('The load execution-1 ended just now, so this one waits.');
    const goOn = machine.failOnce(
      'Discover',
      Object.assign(settling, { name: 'LockSettlingError' }),
    );
    const err: string[] = [];
    const terminal = { out: () => undefined, err: (line: string) => void err.push(line), env: {} };
    const ended = runCommandLine(
      ['load', 'run', '--extract', await loader.serve(april), ...stack],
      terminal,
    );
    while (!err.includes(`discover is being retried: ${settling.message}`)) await sleep(20);
    goOn();
    expect(await ended).toBe(0);
    expect(err.filter((line) => line.includes('being retried'))).toHaveLength(1);
  });

  inSweep(
    'a load that finds changes by something else in the table continues after a repair',
    async () => {
      const source = await loader.serve(may);
      await underLock(table, (fence) =>
        table.write(
          [
            {
              put: lineOf({
                key: '1012RJ#147#',
                places: [
                  {
                    straat: 'Kalverstraat',
                    woonplaats: 'Amsterdam',
                    nummeraanduidingen: ['0363200000000001'],
                  },
                ],
              }),
            },
          ],
          fence,
        ),
      );
      for (let times = 0; times < 2; times++) {
        const error = await failure('run', '--again', '--extract', source);
        expect(error).toMatchObject({
          code: 'read_back',
          message: expect.stringContaining('load repair --stage'),
        });
      }
      const { exit, out, err } = await load('repair');
      expect(exit).toBe(0);
      expect(out).toMatch(
        /snapshot of 2026-05-08 \(11 addresses\)\.\n\n {2}~ 1012RJ 147 .*Kalverstraat.* -> .*\n\nRepaired: 0 m/,
      );
      expect(err).toMatch(
        /That load is not published yet: run "npx bag-adres load run --finish --stage test" now\.$/,
      );
      const again = await load('run', '--extract', source, '--json');
      expect([again.exit, JSON.parse(again.out)]).toMatchObject([
        0,
        { outcome: 'published', peildatum: may.peildatum },
      ]);
      expect(await loader.addresses()).toEqual(tableOf(may));
    },
  );

  it('a failed execution shows the error of its step, also within a map', async () => {
    expect(
      await failure('run', '--extract', loader.server.serve('text.zip', Buffer.from('BAG'))),
    ).toMatchObject({
      code: 'bad_extract',
      message: expect.stringMatching(/text\.zip: .*not a zip/),
    });
    machine.fail(
      'Extract',
      new ExtractError('invalid_xml', '9999NUM.zip > 1.xml', 'ends in the middle'),
    );
    const failed = await failure('run', '--again', '--extract', await loader.serve(march));
    expect(failed).toMatchObject({
      code: 'bad_extract',
      message: '9999NUM.zip > 1.xml: ends in the middle',
    });
    machine.fail('Extract', new TypeError('of ours'));
    const surprise = await failure('run', '--again', '--extract', await loader.serve(march));
    expect(surprise).toMatchObject({
      code: 'failed',
      message: expect.stringMatching(/failed at Extract: TypeError: of ours/),
    });
    machine.fail('Extract');
  });

  it('status says how the last loads ended, and shows the error of the item that failed and where its log is', async () => {
    machine.fail(
      'Merge',
      new ExtractError('invalid_xml', '9999NUM.zip > 1.xml', 'ends in the middle'),
    );
    await failure('run', '--again', '--extract', await loader.serve(march));
    machine.fail('Merge');
    const log = 'bag-adres-test/Load failed/Errors';
    const { runs } = JSON.parse((await load('status', '--json')).out);
    expect(runs).toHaveLength(3);
    expect(runs[0]).toMatchObject({
      name: expect.stringMatching(/^execution-\d+$/),
      outcome: 'failed',
      error: { code: 'bad_extract', message: '9999NUM.zip > 1.xml: ends in the middle', log },
    });
    const { out } = await load('status');
    expect(out).toContain(
      `:\n  9999NUM.zip > 1.xml: ends in the middle\nIts log: the saved query ${log} in CloudWatch`,
    );
    expect(out).toMatch(new RegExp(`\n  2026-\\S+  .*  failed  ${runs[0].name}\n`));
    // Once a load succeeds, the failure is history.
    await load('run', '--again', '--extract', await loader.serve(february));
    expect((await load('status')).out).not.toContain('ends in the middle');
  });
});

describe('a stack that is not there', () => {
  it.each([
    [
      'no such stack',
      'missing',
      'aws_not_found',
      /missing-(?:data|loader) does not exist.*AWS_REGION/,
    ],
    [
      'stacks of something else',
      'x',
      'no_output',
      /No output StateMachineArn in bag-adres-x-data, bag-adres-x-loader/,
    ],
  ])('%s', async (_, name, code, message) => {
    const { exit, err } = await run(['load', 'status', '--stage', name, '--json']);
    expect([exit, JSON.parse(err).error]).toEqual([
      1,
      { code, message: expect.stringMatching(message) },
    ]);
  });
});
