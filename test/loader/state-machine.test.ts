import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { StateError, StoppedError } from '../support/state-machine/errors.ts';
import type { RunEvent } from '../support/state-machine/frame.ts';
import type { Execution } from '../support/state-machine/run-state-machine.ts';
import { validateDefinition } from '../support/state-machine/validate-definition.ts';
import { type StateMachineBench, startStateMachineBench } from './state-machine-bench.ts';
import { february, january, march, tableOf } from './steps/months.ts';

let loader: StateMachineBench;

beforeAll(async () => {
  loader = await startStateMachineBench();
}, 60_000);
beforeEach(() => loader.reset());
afterAll(() => loader.stop());

/** The states that were gone through, those of child executions aside. */
function states({ events }: Execution): string[] {
  return events.flatMap((event) => (event.kind === 'entered' && !event.state.endsWith('Batch') ? [event.state] : []));
}

function ofKind<K extends RunEvent['kind']>({ events }: Execution, kind: K) {
  return events.filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind);
}

const toGuard = [
  'Stage',
  'Reference',
  'PartsToExtract',
  'Extract',
  'Collect',
  'ShardsToMerge',
  'Merge',
  'Guard',
  'MayItGoOn',
];
const served = ['Apply', 'Publish', 'WasItLeftOver'];
const ending = (tell: string[]) => ['Release', 'HowItEnded', ...tell];
const failure = ['ReleaseAfterFailure', 'TellFailure', 'Failed'];
const subjects = () => loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));

describe('the state machine of the loader', () => {
  it('passes both validators', async () => {
    expect(await validateDefinition(loader.definition)).toEqual({ aslValidator: [], languageService: [] });
  });

  it('loads an extract from a server, tells that it is served, and gives the lock back', async () => {
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { state: january.state, keys: 11, added: 11 } });
    expect(states(execution)).toEqual([
      'Begin',
      'Discover',
      'WhatToDo',
      ...toGuard,
      ...served,
      ...ending(['TellServed', 'Done']),
    ]);
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(subjects()).toEqual([`the state of ${january.state} is served`]);
    expect(ofKind(execution, 'mapped')).toEqual([
      { kind: 'mapped', state: 'Extract', items: 1, children: 1, succeeded: 1, failed: 0, pending: 0, peak: 1 },
      { kind: 'mapped', state: 'Merge', items: 4, children: 4, succeeded: 4, failed: 0, pending: 0, peak: 4 },
      { kind: 'mapped', state: 'Apply', items: 4, children: 1, succeeded: 1, failed: 0, pending: 0, peak: 1 },
    ]);
    const results = (await loader.storage.list('map-runs/')).map(({ key }) => key.replace(/[0-9a-f-]{36}/, 'ID'));
    const files = ['SUCCEEDED_0.json', 'manifest.json'];
    expect(results.sort()).toEqual(
      ['apply', 'extract', 'merge'].flatMap((map) => files.map((file) => `map-runs/${map}/ID/${file}`)),
    );
    expect(loader.dynamoDb.take()).toMatchObject({ DeleteItem: 1 });
  });

  it('writes nothing but its lock for the extract that is served, and tells nobody', async () => {
    const source = await loader.serve(january);
    await loader.run({ source });
    loader.dynamoDb.take();
    const sent = loader.server.sent();
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { action: 'none', served: { state: january.state } },
    });
    expect(states(execution)).toEqual(['Begin', 'Discover', 'WhatToDo', ...ending(['Done'])]);
    expect(loader.dynamoDb.take()).toEqual({ GetItem: expect.any(Number), PutItem: 1, DeleteItem: 1 });
    expect(loader.server.sent() - sent).toBe(0);
    expect(subjects()).toHaveLength(1);
  });

  it('goes through all of it for the same extract when it has to, and writes no address', async () => {
    const source = await loader.serve(january);
    await loader.run({ source });
    loader.dynamoDb.take();
    const execution = await loader.run({ source, again: true });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { added: 0, changed: 0, removed: 0 } });
    expect(ofKind(execution, 'mapped').at(-1)).toMatchObject({ state: 'Apply', items: 0, children: 0 });
    expect(loader.dynamoDb.take()).not.toHaveProperty('BatchWriteItem');
  });

  it('plans without a write, and without telling anybody', async () => {
    await loader.run({ source: await loader.serve(january) });
    loader.dynamoDb.take();
    const execution = await loader.run({ source: await loader.serve(february), planOnly: true });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { outcome: 'planned', added: 1, changed: 3, removed: 1 },
    });
    expect(states(execution)).toEqual(['Begin', 'Discover', 'WhatToDo', ...toGuard, ...ending(['Done'])]);
    expect(loader.dynamoDb.take()).toMatchObject({ PutItem: 1 });
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(subjects()).toHaveLength(1);
  });

  it('goes back to an earlier state', async () => {
    await loader.run({ source: await loader.serve(january) });
    await loader.run({ source: await loader.serve(february) });
    const execution = await loader.run({ rollback: january.state });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { kind: 'rollback', state: january.state } });
    expect(states(execution)).toEqual([
      'Begin',
      'Discover',
      'WhatToDo',
      'Merge',
      'Guard',
      'MayItGoOn',
      ...served,
      ...ending(['TellServed', 'Done']),
    ]);
    expect(await loader.addresses()).toEqual(tableOf(january));
  });
});

describe('a load that the guard refuses', () => {
  it('stops before its first write, says why, and goes on once it is approved', async () => {
    await loader.run({ source: await loader.serve(january) });
    loader.dynamoDb.take();
    const source = await loader.serve(march);
    const refused = await loader.run({ source });
    expect(refused).toMatchObject({
      status: 'FAILED',
      error: 'LoadRefused',
      cause: expect.stringContaining('too_many_removed'),
    });
    expect(states(refused)).toEqual([
      'Begin',
      'Discover',
      'WhatToDo',
      ...toGuard,
      ...ending(['TellRefused', 'Refused']),
    ]);
    expect(loader.dynamoDb.take()).not.toHaveProperty('BatchWriteItem');
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(subjects().at(-1)).toBe('a load was refused');
    const [, report = ''] = /(\{[\s\S]*\})/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
    const { load, removed } = JSON.parse(report) as { load: string; removed: number };
    expect(removed).toBe(4);

    const approved = await loader.run({ source, approve: load });
    expect(approved).toMatchObject({ status: 'SUCCEEDED', output: { state: march.state } });
    expect(await loader.addresses()).toEqual(tableOf(march));
  });

  it('is not let go on by the approval of another', async () => {
    await loader.run({ source: await loader.serve(january) });
    const execution = await loader.run({ source: await loader.serve(march), approve: '2026-02-08-0123456789' });
    expect(execution).toMatchObject({ error: 'LoadRefused' });
  });
});

describe('a load that fails', () => {
  it('in one child stops, tells what went wrong, and goes on where it was the next time', async () => {
    const source = await loader.serve(january);
    loader.replace('merge', (event: { Items: { shard: string }[] }, real) => {
      if (event.Items[0]?.shard === '25') throw new Error('out of memory');
      return real(event as never);
    });
    const failed = await loader.run({ source });
    expect(failed).toMatchObject({ status: 'FAILED', error: 'States.ExceedToleratedFailureThreshold' });
    expect(states(failed)).toEqual(['Begin', 'Discover', 'WhatToDo', ...toGuard.slice(0, -2), ...failure]);
    expect(await loader.addresses()).toEqual(new Map());
    expect(subjects()).toEqual(['a load failed']);
    expect(loader.messages[0]?.text).toContain('ExceedToleratedFailureThreshold');

    loader.replace('merge');
    expect(await loader.run({ source })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await loader.addresses()).toEqual(tableOf(january));
  });

  it('by a fault of Lambda itself is tried again by itself, and a server that is unwell after minutes', async () => {
    let [busy, unwell] = [2, 2];
    loader.replace('extract', (event, real) => {
      if (busy-- > 0) throw new StateError('Lambda.TooManyRequestsException', 'Rate Exceeded.');
      return real(event);
    });
    loader.replace('discover', (event, real) => {
      if (unwell-- > 0) throw Object.assign(new Error('503'), { name: 'SourceUnavailableError' });
      return real(event);
    });
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({ status: 'SUCCEEDED' });
    expect(ofKind(execution, 'retried').map(({ state, delaySeconds }) => [state, delaySeconds])).toEqual([
      ['Discover', 300],
      ['Discover', 600],
      ['ExtractBatch', 2],
      ['ExtractBatch', 4],
    ]);
  });

  it('tells the first thing that went wrong, also when the lock can not be given back', async () => {
    loader.replace('collect', () => {
      throw new Error('odd');
    });
    loader.replace('release', () => {
      throw new Error('no table');
    });
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({ status: 'FAILED', error: 'Error', cause: expect.stringContaining('odd') });
    expect(loader.messages.map(({ text }) => text)).toEqual([expect.stringContaining('odd')]);
  });

  it('as its extract was replaced while it was read begins again with the new one', async () => {
    const source = await loader.serve(january);
    let replaced = false;
    loader.replace('stage', async (event, real) => {
      if (!replaced) await loader.serve(february);
      replaced = true;
      return real(event);
    });
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { state: february.state } });
    expect(ofKind(execution, 'waited')).toEqual([{ kind: 'waited', state: 'WaitForTheNewOne', seconds: 300 }]);
    expect(await loader.addresses()).toEqual(tableOf(february));
  });

  it('as its extract is replaced again and again gives up', async () => {
    const source = await loader.serve(january);
    loader.replace('stage', async (event, real) => {
      await loader.serve(january);
      return real(event);
    });
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'FAILED', error: 'SourceChangedError' });
    expect(ofKind(execution, 'waited')).toHaveLength(3);
    expect(subjects()).toEqual(['a load failed']);
  });

  it('as another one is at work leaves that one alone', async () => {
    const source = await loader.serve(january);
    const executions = await Promise.all([loader.run({ source }), loader.run({ source })]);
    const [won, lost] = executions.sort((a, b) => b.status.localeCompare(a.status));
    expect(won).toMatchObject({ status: 'SUCCEEDED', output: { state: january.state } });
    expect(lost).toMatchObject({ status: 'FAILED', error: 'LockedError' });
    expect(await loader.addresses()).toEqual(tableOf(january));
  });
});

describe('a load that dies while it writes', () => {
  /** Writes one file of changes of each batch, then ends so. */
  const halfWay = (end: () => Promise<never>) =>
    loader.replace('apply', async (event: { BatchInput: object; Items: object[] }, real) => {
      await real({ ...event, Items: event.Items.slice(0, 1) } as never);
      return end();
    });

  it('is finished first by the next one, which then does what it was asked for', async () => {
    await loader.run({ source: await loader.serve(january) });
    halfWay(() => Promise.reject(new Error('out of time')));
    expect(await loader.run({ source: await loader.serve(february) })).toMatchObject({ status: 'FAILED' });
    const between = await loader.addresses();
    expect(between).not.toEqual(tableOf(january));
    expect(between).not.toEqual(tableOf(february));

    loader.replace('apply');
    const next = { ...february, state: '2026-02-09' };
    const execution = await loader.run({ source: await loader.serve(next) });
    expect(states(execution)).toEqual([
      'Begin',
      'Discover',
      'WhatToDo',
      ...served,
      'Discover',
      'WhatToDo',
      ...toGuard,
      ...served,
      ...ending(['TellServed', 'Done']),
    ]);
    expect(execution).toMatchObject({ status: 'SUCCEEDED', output: { state: next.state, added: 0 } });
    expect(await loader.addresses()).toEqual(tableOf(february));
  });

  it('by being stopped keeps others away until its lock is over, and is then finished', async () => {
    const source = await loader.serve(january);
    halfWay(() => Promise.reject(new StoppedError()));
    expect(await loader.run({ source })).toMatchObject({ status: 'ABORTED' });
    loader.replace('apply');
    expect(await loader.run({ source })).toMatchObject({ status: 'FAILED', error: 'LockedError' });
    await loader.outliveLock();
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'SUCCEEDED' });
    expect(await loader.addresses()).toEqual(tableOf(january));
  });
});
