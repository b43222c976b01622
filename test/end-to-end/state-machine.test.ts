import { beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { january, march, tableOf } from '../loader/steps/months.ts';
import { ofKind, states, ways } from '../loader/what-happened.ts';
import { inSweep } from '../support/in-sweep.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { StateError } from '../support/state-machine/state-error.ts';
import { aslFaults } from '../support/state-machine/validate-definition.ts';

const loader = startForTests(() => startStateMachineBench({}, { s3Server: true }), 60_000);
/** The first month is live. Gives the source of its extract. */
let loaded: () => Promise<string>;

beforeAll(async () => {
  loaded = loader.startingPoint(async () => {
    const source = await loader.serve(january);
    await loader.run({ source });
    return source;
  });
});
beforeEach(() => loader.reset());

const { begin, toGuard, apply, release } = ways;
const subjects = () => loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));

describe('the state machine of the loader', () => {
  it('passes the validator', () => {
    expect(aslFaults(loader.definition)).toEqual([]);
  });

  it('loads an extract from a server, sends a message that it is live, and releases the lock', async () => {
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { peildatum: january.peildatum, addresses: 11, added: 11 },
    });
    expect(states(execution)).toEqual([
      ...begin,
      ...toGuard,
      ...apply,
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(subjects()).toEqual([`the snapshot of ${january.peildatum} is live`]);
    expect(ofKind(execution, 'mapped')).toEqual([
      {
        kind: 'mapped',
        state: 'Extract',
        items: 1,
        children: 1,
        succeeded: 1,
        failed: 0,
        pending: 0,
        peak: 1,
      },
      {
        kind: 'mapped',
        state: 'Objecten',
        items: 0,
        children: 0,
        succeeded: 0,
        failed: 0,
        pending: 0,
        peak: 0,
      },
      {
        kind: 'mapped',
        state: 'Join',
        items: 1,
        children: 1,
        succeeded: 1,
        failed: 0,
        pending: 0,
        peak: 1,
      },
      {
        kind: 'mapped',
        state: 'Merge',
        items: 4,
        children: 4,
        succeeded: 4,
        failed: 0,
        pending: 0,
        peak: 4,
      },
      {
        kind: 'mapped',
        state: 'Apply',
        items: 4,
        children: 1,
        succeeded: 1,
        failed: 0,
        pending: 0,
        peak: 1,
      },
    ]);
    const results = (await loader.storage.list('map-runs/')).map((key) =>
      key.replace(/[0-9a-f-]{36}/, 'ID'),
    );
    const files = ['SUCCEEDED_0.json', 'manifest.json'];
    expect(results.sort()).toEqual(
      [
        ...['apply', 'extract', 'join', 'merge'].flatMap((map) =>
          files.map((file) => `map-runs/${map}/ID/${file}`),
        ),
        'map-runs/objecten/ID/manifest.json',
      ].sort(),
    );
    expect(loader.takeOperations()).toMatchObject({ DeleteItem: 1 });
  });

  it('writes nothing but its lock for the live extract, and sends no message', async () => {
    const source = await loaded();
    loader.takeOperations();
    const sent = loader.server.sent();
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { action: 'none', live: { peildatum: january.peildatum } },
    });
    expect(states(execution)).toEqual([...begin, ...release, 'Done']);
    expect(loader.takeOperations()).toEqual({
      GetItem: expect.any(Number),
      BatchGetItem: 1,
      PutItem: 1,
      DeleteItem: 1,
    });
    expect(loader.server.sent() - sent).toBe(0);
    expect(subjects()).toHaveLength(1);
  });

  const quotas: [title: string, functions: () => number, peak: number][] = [
    ['runs a quarter of the functions that the account can run at once', () => 10, 2],
    [
      "runs as many functions as configured if the quota can't be read",
      () => {
        throw new StateError('Lambda.AccessDeniedException', 'not allowed');
      },
      4,
    ],
  ];
  inSweep.each(quotas)('%s', async (_, functions, peak) => {
    loader.allow(functions);
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { peildatum: january.peildatum },
    });
    expect(ofKind(execution, 'mapped')).toContainEqual(
      expect.objectContaining({ state: 'Merge', items: 4, peak }),
    );
  });
});

describe('a load that the guard refuses', () => {
  it('stops before its first write with the reason, and continues when it is approved', async () => {
    await loaded();
    loader.takeOperations();
    const source = await loader.serve(march);
    const refused = await loader.run({ source });
    expect(refused).toMatchObject({
      status: 'FAILED',
      error: 'LoadRefused',
      cause: expect.stringContaining('too_many_removed'),
    });
    expect(states(refused)).toEqual([...begin, ...toGuard, ...release, 'NotifyRefused', 'Refused']);
    expect(loader.takeOperations()).not.toHaveProperty('BatchWriteItem');
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(subjects().at(-1)).toMatch(
      /^The load of 2026-03-08 is refused; nothing was written:\n(?: {2}- .+\n)+If this is right: "npx bag-adres load approve \S+ --proposal [0-9a-f]{16} --stage (?!STAGE)\S+"\nIf it is wrong: {3}"npx bag-adres load reject \S+ --proposal [0-9a-f]{16} --stage (?!STAGE)\S+"$/,
    );
    const [, report = ''] = /(\{[\s\S]*\})/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
    const { load, removed } = JSON.parse(report).report as { load: string; removed: number };
    expect(removed).toBe(4);

    const approved = await loader.run({ source, approve: load });
    expect(approved).toMatchObject({ status: 'SUCCEEDED', output: { peildatum: march.peildatum } });
    expect(await loader.addresses()).toEqual(tableOf(march));
  });
});
