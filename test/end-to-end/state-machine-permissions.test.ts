import { beforeAll, describe, expect, it } from '@jest/globals';
import { loadSteps } from '../../loader/steps/load-steps.ts';
import type { Permission } from '../loader/deployed-loader.ts';
import type { Call } from '../loader/record-calls.ts';
import { startStateMachineBench } from '../loader/state-machine-bench.ts';
import { february, january, march, voorkomensOf, withObjecten } from '../loader/steps/months.ts';
import { writeMutationDelivery } from '../support/mutation-delivery.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { StoppedError } from '../support/state-machine/state-error.ts';
import { writeExtract } from '../support/write-extract.ts';

const loader = startForTests(() => startStateMachineBench({ dataset: { objecten: true } }), 60_000);

const dayAfter = '2026-02-09';
const delivery = 'BAGNLDM-08022026-09022026.zip';
const wrong = 'BAGNLDM-09022026-10022026.zip';
/** Changes of objects that are not as they say. */
const mismatched = voorkomensOf(february)
  .NUM.slice(0, 3)
  .map((num) => ({ ...num, huisnummer: 99_998 }))
  .map((was) => ({
    kind: 'NUM' as const,
    changes: [{ was, wordt: { ...was, huisnummer: 99_999 } }],
  }));
const later = { ...february, peildatum: '2026-05-08' };

/**
 * Loads of every kind: stopped and taken up again, into a table that has lost its dataset item,
 * from a server, from the bucket with another zip around it, refused and approved, and back; and a
 * day of mutations with one that is refused and rejected, an extract that they lead on from, and
 * one so long after that the days go.
 */
beforeAll(async () => {
  const first = { source: await loader.serve(january) };
  loader.replace('stage', () => Promise.reject(new StoppedError()));
  expect(await loader.run(first)).toMatchObject({ status: 'ABORTED' });
  loader.replace('stage');
  loader.executions.pass(20);
  await loader.run(first);
  const restore = await loader.removeItem('#dataset');
  expect(await loader.run(first)).toMatchObject({ error: 'UnmarkedTableError' });
  await restore();
  const extract = await writeExtract(february.peildatum, withObjecten(voorkomensOf(february)), {
    inner: 'deflated',
  });
  await loader.storage.put('uploads/extract.zip', extract);
  await loader.run({ source: 's3://snapshots/uploads/extract.zip' });
  const source = await loader.serve(march);
  expect(await loader.run({ source })).toMatchObject({ error: 'LoadRefused' });
  const [, approve] = /"load": "(.+)"/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
  await loader.run({ source, approve });
  await loader.run({ rollback: february.peildatum });
  await loader.storage.put(
    `uploads/${delivery}`,
    await writeMutationDelivery(february.peildatum, dayAfter, []),
  );
  await loader.storage.put(
    `uploads/${wrong}`,
    await writeMutationDelivery(dayAfter, '2026-02-10', mismatched),
  );
  const mutations = [delivery, wrong].map((name) => `s3://snapshots/uploads/${name}`);
  expect(await loader.run({ mutations })).toMatchObject({ error: 'LoadRefused' });
  const [, reject] = /"load": "(.+)"/.exec(loader.messages.at(-1)?.text ?? '') ?? [];
  expect(await loader.run({ reject })).toMatchObject({
    status: 'SUCCEEDED',
    output: { rejected: reject },
  });
  expect(await loader.run({ mutations })).toMatchObject({
    output: { reason: expect.stringContaining('rejected') },
  });
  const again = { ...february, addresses: february.addresses.slice(1) };
  // Where the settings name one.
  await loader.storage.put(
    'sources/extract.zip',
    await writeExtract(again.peildatum, withObjecten(voorkomensOf(again))),
  );
  expect(await loader.run({ source: 's3://snapshots/sources/extract.zip' })).toMatchObject({
    output: { peildatum: dayAfter },
  });
  await loader.run({ source: await loader.serve(later) });
  expect(await loader.storage.list('mutations/')).toEqual(['mutations/found.json']);
  const subjects = loader.messages.map(({ subject }) => subject.replace(/^.*: /, ''));
  const served = ({ peildatum }: { peildatum: string }) => `the snapshot of ${peildatum} is live`;
  const refused = expect.stringContaining('is refused; nothing was written');
  expect(subjects).toEqual([
    served(january),
    'a load failed',
    served(february),
    refused,
    served(march),
    served(february),
    refused,
    served({ peildatum: dayAfter }),
    served(later),
  ]);
});

const steps = Object.keys(loadSteps);

/** What the service itself does with the role, and so no emulator asks for. */
const ofTheService = (name: string) =>
  name === 'machine' ? /^(logs|xray|states):/ : /^(logs|xray):/;

/**
 * What only a load of the country needs, or a bucket that tells a missing object from a forbidden
 * one.
 */
const notHere = ['s3:AbortMultipartUpload', 's3:ListMultipartUploadParts', 's3:ListBucket'];

function allows({ action, resource }: Permission, call: Call): boolean {
  const [first = '', ...more] = resource
    .split('*')
    .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return (
    action === call.action && new RegExp(`^${[first, ...more].join('.*')}$`).test(call.resource)
  );
}

const inWords = ({ action, resource }: Permission) => `${action} on ${resource}`;

describe.each(['machine', ...steps])('the role of %s', (name) => {
  it('allows every call of loads, of which there are some', () => {
    const calls = loader.calls.get(name) ?? [];
    const allowed = loader.permissions[name] ?? [];
    const denied = calls.filter((call) => !allowed.some((permission) => allows(permission, call)));
    expect(new Set(denied.map(inWords))).toEqual(new Set());
    expect(calls).not.toEqual([]);
  });

  it('allows nothing that loads do not call', () => {
    const calls = loader.calls.get(name) ?? [];
    const unused = (loader.permissions[name] ?? []).filter(
      (permission) =>
        !ofTheService(name).test(permission.action) &&
        !notHere.includes(permission.action) &&
        !calls.some((call) => allows(permission, call)),
    );
    // The service reads the parts of a result file that it writes in parts.
    const parts = name === 'machine' ? ['s3:GetObject on snapshots/map-runs/*'] : [];
    // The copy is read where the manifest cannot be: after the first step only a fault brings that
    // about.
    const isLater = ['mutate', 'merge', 'publish'].includes(name);
    const copy = isLater ? ['s3:GetObject on snapshots/manifest.copy.json'] : [];
    expect(unused.map(inWords)).toEqual([...parts, ...copy]);
  });
});

describe('the roles', () => {
  it('are those of all steps and the state machine', () => {
    expect(Object.keys(loader.permissions).sort()).toEqual(['machine', ...steps].sort());
  });
});

describe('the table of steps', () => {
  it('gives few permissions but those on the table and on objects', () => {
    const covered = /^(dynamodb:|logs:|xray:|s3:(GetObject|PutObject|DeleteObject)$)/;
    const further = (step: string) =>
      [...new Set((loader.permissions[step] ?? []).map(({ action }) => action))]
        .filter((a) => !covered.test(a))
        .sort();
    const uploads = ['s3:AbortMultipartUpload', 's3:ListBucket'];
    expect(Object.fromEntries(steps.map((step) => [step, further(step)]))).toEqual({
      ...Object.fromEntries(steps.map((step) => [step, ['s3:ListBucket']])),
      discover: [...uploads, 'states:DescribeExecution'],
      stage: uploads,
      release: [],
    });
  });
});
