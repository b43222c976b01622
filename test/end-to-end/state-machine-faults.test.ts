import { beforeEach, describe, expect, it } from '@jest/globals';
import { paths } from '../../loader/storage/storage.ts';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { february, january, tableOf } from '../loader/steps/months.ts';
import { ofKind, states, ways } from '../loader/what-happened.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { StateError, StoppedError } from '../support/state-machine/state-error.ts';

const loader = startForTests(startStateMachineBench, 60_000);

beforeEach(() => loader.reset());

const { begin, toGuard, apply, release, failure } = ways;
const subjects = () => loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));

describe('a load that fails', () => {
  it('in one child stops the load, reports the error, and lets the next one continue where it stopped', async () => {
    const source = await loader.serve(january);
    loader.replace('merge', (event: { Items: { segment: string }[] }, real) => {
      if (event.Items[0]?.segment === '25') throw new Error('out of memory');
      return real(event as never);
    });
    const failed = await loader.run({ source });
    expect(failed).toMatchObject({
      status: 'FAILED',
      error: 'States.ExceedToleratedFailureThreshold',
    });
    expect(states(failed)).toEqual([...begin, ...toGuard.slice(0, -2), ...failure]);
    expect(await loader.addresses()).toEqual(new Map());
    expect(subjects()).toEqual(['a load failed']);
    expect(loader.messages[0]?.text).toContain('ExceedToleratedFailureThreshold');

    loader.replace('merge');
    expect(await loader.run({ source })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await loader.addresses()).toEqual(tableOf(january));
  });

  it('is retried after an error of Lambda itself, and some minutes after an unavailable server', async () => {
    let busy = 2;
    let unwell = 2;
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
    expect(
      ofKind(execution, 'retried').map(({ state, delaySeconds }) => [state, delaySeconds]),
    ).toEqual([
      ['Discover', 300],
      ['Discover', 600],
      ['ExtractBatch', 2],
      ['ExtractBatch', 4],
    ]);
  });

  it('with a slow source continues at once, and fails only when its attempts are used up', async () => {
    let unfinished = 3;
    loader.replace('stage', (event, real) => {
      if (unfinished-- > 0) {
        throw Object.assign(new Error('slow'), { name: 'SourceUnfinishedError' });
      }
      return real(event);
    });
    const source = await loader.serve(january);
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({ status: 'SUCCEEDED' });
    expect(
      ofKind(execution, 'retried').map(({ state, delaySeconds }) => [state, delaySeconds]),
    ).toEqual([
      ['Stage', 1],
      ['Stage', 1],
      ['Stage', 1],
    ]);

    loader.replace('discover', () => {
      throw Object.assign(new Error('upload the file'), { name: 'SourceTooSlowError' });
    });
    const failed = await loader.run({ source });
    expect(failed).toMatchObject({ status: 'FAILED', error: 'SourceTooSlowError' });
    expect(loader.messages.at(-1)?.text).toContain('upload the file');
  });

  it("reports the first error, even if the lock can't be released", async () => {
    loader.replace('mutate', () => {
      throw new Error('odd');
    });
    loader.replace('release', () => {
      throw new Error('no table');
    });
    const execution = await loader.run({ source: await loader.serve(january) });
    expect(execution).toMatchObject({
      status: 'FAILED',
      error: 'Error',
      cause: expect.stringContaining('odd'),
    });
    expect(loader.messages.map(({ text }) => text)).toEqual([expect.stringContaining('odd')]);
  });

  it('because its extract was replaced while it was read starts again with the new one', async () => {
    const source = await loader.serve(january);
    let replaced = false;
    loader.replace('stage', async (event, real) => {
      if (!replaced) await loader.serve(february);
      replaced = true;
      return real(event);
    });
    const execution = await loader.run({ source });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { peildatum: february.peildatum },
    });
    expect(ofKind(execution, 'waited')).toEqual([
      { kind: 'waited', state: 'WaitForNewExtract', seconds: 300 },
    ]);
    expect(await loader.addresses()).toEqual(tableOf(february));
  });

  it('because its extract is replaced repeatedly gives up', async () => {
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

  it('because another load is running does not affect that one', async () => {
    const source = await loader.serve(january);
    const executions = await Promise.all([loader.run({ source }), loader.run({ source })]);
    const [won, lost] = executions.sort((a, b) => b.status.localeCompare(a.status));
    expect(won).toMatchObject({ status: 'SUCCEEDED', output: { peildatum: january.peildatum } });
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

  it('is finished by the next load, which then does its own work', async () => {
    await loader.run({ source: await loader.serve(january) });
    halfWay(() => Promise.reject(new Error('out of time')));
    expect(await loader.run({ source: await loader.serve(february) })).toMatchObject({
      status: 'FAILED',
    });
    const between = await loader.addresses();
    expect(between).not.toEqual(tableOf(january));
    expect(between).not.toEqual(tableOf(february));

    loader.replace('apply');
    loader.executions.pass(20);
    const next = { ...february, peildatum: '2026-02-09' };
    const execution = await loader.run({ source: await loader.serve(next) });
    expect(states(execution)).toEqual([
      ...begin,
      ...apply,
      'Discover',
      'ChooseAction',
      ...toGuard,
      ...apply,
      ...release,
      'NotifyPublished',
      'Done',
    ]);
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { peildatum: next.peildatum, added: 0 },
    });
    expect(await loader.addresses()).toEqual(tableOf(february));
  });

  it('after it has labelled the table, can be undone, and the daily check finishes an interrupted undoing', async () => {
    await loader.run({ source: await loader.serve(january) });
    loader.replace('publish', async (event, real) => {
      const before = await loader.storage.get(paths.manifest);
      await real(event);
      if (before) await loader.storage.put(paths.manifest, before);
      throw new Error('out of time');
    });
    const source = await loader.serve(february);
    expect(await loader.run({ source })).toMatchObject({ status: 'FAILED' });
    loader.replace('publish');
    loader.executions.pass(20);
    halfWay(() => Promise.reject(new Error('out of time')));
    expect(await loader.run({ rollback: january.peildatum })).toMatchObject({ status: 'FAILED' });
    loader.replace('apply');
    loader.executions.pass(20);
    expect(await loader.run({ source })).toMatchObject({ status: 'SUCCEEDED' });
    expect(await loader.addresses()).toEqual(tableOf(january));
  });

  it.each([
    ['it was stopped', () => new StoppedError(), 'ABORTED', { minutesEach: 1, waits: 19 }],
    [
      'one of its workers failed, as the others may still write',
      () => new Error('out of time'),
      'FAILED',
      { minutesEach: 5, waits: 3 },
    ],
  ])(
    'is finished by the next load once none of its Lambdas can still write: %s',
    async (_, error, status, time) => {
      const source = await loader.serve(january);
      halfWay(() => Promise.reject(error()));
      expect(await loader.run({ source })).toMatchObject({ status });
      loader.replace('apply');
      loader.replace('discover', (event, real) => {
        loader.executions.pass(time.minutesEach);
        return real(event);
      });
      const execution = await loader.run({ source });
      expect(execution).toMatchObject({ status: 'SUCCEEDED' });
      const waits = ofKind(execution, 'retried');
      expect(waits.map(({ error, delaySeconds }) => [error, delaySeconds])).toEqual(
        Array(time.waits).fill(['LockSettlingError', 60]),
      );
      expect(await loader.addresses()).toEqual(tableOf(january));
    },
  );
});

describe('a notification that EventBridge does not take', () => {
  it('leaves a published load published', async () => {
    loader.refuseEvents();
    const published = await loader.run({ source: await loader.serve(january) });
    expect(published).toMatchObject({
      status: 'SUCCEEDED',
      output: { peildatum: january.peildatum },
    });
    expect(states(published).slice(-3)).toEqual([
      'NotifyPublished',
      'NotifyPublishedUnsent',
      'Done',
    ]);
    expect(await loader.addresses()).toEqual(tableOf(january));
    expect(loader.messages).toEqual([]);
  });

  it('leaves a refused load refused, with its objections', async () => {
    await loader.run({ source: await loader.serve(january) });
    loader.refuseEvents();
    const addresses = january.addresses.slice(0, 1);
    const refused = await loader.run({ source: await loader.serve({ ...february, addresses }) });
    expect(refused).toMatchObject({
      status: 'FAILED',
      error: 'LoadRefused',
      cause: expect.stringContaining('"code"'),
    });
    expect(states(refused).slice(-3)).toEqual(['NotifyRefused', 'NotifyRefusedUnsent', 'Refused']);
  });

  it('leaves a failed load its own error', async () => {
    loader.refuseEvents();
    loader.replace('mutate', () => {
      throw new Error('odd');
    });
    const failed = await loader.run({ source: await loader.serve(january) });
    expect(failed).toMatchObject({
      status: 'FAILED',
      error: 'Error',
      cause: expect.stringContaining('odd'),
    });
    expect(states(failed).slice(-3)).toEqual(['NotifyFailure', 'NotifyFailureUnsent', 'Failed']);
  });
});
