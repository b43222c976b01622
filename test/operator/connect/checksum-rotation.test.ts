import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { deployedVersions, rotationStep } from '../../../operator/connect/checksum-rotation.ts';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { templates } from '../../lib/synthesized.ts';
import { type AddressService, startAddressService, testTables } from '../../support/address-service.ts';
import { storedItems } from '../../support/stored-items.ts';
import { run } from '../command-line.ts';
import { type AwsOperations, type FakeStack, startFakeAws, testCaller, useAws } from '../fake-aws.ts';

type Version = { value: string; labels: string[] };

let service: AddressService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;
let leaveAws: () => void;
const operations: AwsOperations = {};
const stacks: Record<string, FakeStack> = {
  'bag-adres-a-data': {
    outputs: { AccountsTableName: testTables.accounts, AddressesTableName: 'x', KeyChecksumSecretArn: 'secret' },
  },
  'bag-adres-a-service': { outputs: {} },
};
/** The versions of the secret by id, when it changed last, and those that the deployed service names. */
let versions: Map<string, Version>;
let changedAt: number;
let deployed: string[];

beforeAll(async () => {
  service = await startAddressService();
  aws = await startFakeAws(stacks, operations, service.endpoint);
  leaveAws = useAws(aws.endpoint);
});
afterAll(async () => {
  leaveAws();
  await aws.stop();
  await service.stop();
});
beforeEach(() => {
  versions = new Map([['v1', { value: 'the first secret', labels: ['AWSCURRENT'] }]]);
  changedAt = 1_700_000_000;
  deployed = [];
  stacks['bag-adres-a-service'] = { outputs: {} };
});

const currentVersion = () => [...versions.values()].find(({ labels }) => labels.includes('AWSCURRENT'));

/**
 * Secrets Manager, as its API reference describes it: a label is on one version, and the one before is the previous
 * one.
 */
function moveLabel(label: string, to: string | undefined, from: string | undefined): void {
  for (const [id, version] of versions) {
    if (id === to || !version.labels.includes(label)) continue;
    if (to !== undefined && from !== undefined && id !== from) throw new Error(`${label} is not on ${from}`);
    version.labels = version.labels.filter((one) => one !== label);
    if (label !== 'AWSCURRENT') continue;
    for (const other of versions.values()) other.labels = other.labels.filter((one) => one !== 'AWSPREVIOUS');
    version.labels.push('AWSPREVIOUS');
  }
  if (to !== undefined) versions.get(to)?.labels.push(label);
  changedAt = Date.now() / 1000;
}

Object.assign(operations, {
  GetSecretValue: () => ({ value: { SecretString: currentVersion()?.value } }),
  DescribeSecret: () => ({
    value: {
      LastChangedDate: changedAt,
      VersionIdsToStages: Object.fromEntries([...versions].map(([id, { labels }]) => [id, labels])),
    },
  }),
  PutSecretValue: (input: { ClientRequestToken: string; SecretString: string; VersionStages: string[] }) => {
    versions.set(input.ClientRequestToken, { value: input.SecretString, labels: [] });
    for (const label of input.VersionStages) moveLabel(label, input.ClientRequestToken, undefined);
    return { value: {} };
  },
  UpdateSecretVersionStage: (input: {
    VersionStage: string;
    MoveToVersionId?: string;
    RemoveFromVersionId?: string;
  }) => {
    moveLabel(input.VersionStage, input.MoveToVersionId, input.RemoveFromVersionId);
    return { value: {} };
  },
  GetTemplate: () => {
    const body = JSON.stringify(template(deployed)).replaceAll('"', '&quot;');
    const result = `<GetTemplateResult><TemplateBody>${body}</TemplateBody></GetTemplateResult>`;
    return { value: `<GetTemplateResponse>${result}</GetTemplateResponse>` };
  },
});

/** The part of the service stack's template that names the secret. */
function template([current = '', previous]: string[]) {
  const reference = (version: string) => ({
    'Fn::Join': [
      '',
      ['{{resolve:secretsmanager:', { 'Fn::ImportValue': 'data:Secret' }, `:SecretString:::${version}}}`],
    ],
  });
  const Variables = {
    KEY_CHECKSUM_SECRET: reference(current),
    ...(previous && { KEY_CHECKSUM_SECRET_PREVIOUS: reference(previous) }),
  };
  return { Resources: { Address: { Type: 'AWS::Lambda::Function', Properties: { Environment: { Variables } } } } };
}

/** Whether the service, as it is deployed, lets this key reach its account. */
const accepts = (key: string) =>
  (deployed.length > 0 ? deployed : ['v1']).some((id) => readApiKey(key, versions.get(id)?.value ?? '') !== null);

const rotate = async (...args: string[]) => run(['rotate-checksum-secret', '--stage', 'a', ...args]);
const rotateJson = async (...args: string[]) => JSON.parse((await rotate('--json', ...args)).out);
const newKey = async (label: string): Promise<string> =>
  (await run(['key', 'create', '--account', 'acme', '--label', label, '--stage', 'a'])).out;

describe('rotate-checksum-secret', () => {
  it('guides through a rotation in which every key is always accepted until it is replaced', async () => {
    const past = createAdmin({
      client: service.client,
      table: testTables.accounts,
      checksumSecret: 'the first secret',
      now: () => Date.now() - 3_600_000,
    });
    await past.plans.put({ code: 'standard', limits: { day: 5 } });
    await past.accounts.create({ id: 'acme', plan: 'standard' });
    const old = await past.keys.create({ account: 'acme', label: 'old' });

    expect((await rotate()).out).toContain('Start one: "npx bag-adres rotate-checksum-secret --start --stage a"');
    const started = await rotateJson('--start');
    const [next] = started.versions;
    expect(started).toMatchObject({ step: 'deploy', versions: [next, 'v1'] });
    expect(versions.get(next)?.labels).toEqual(['ROTATING']);
    expect(accepts(await newKey('while it waits'))).toBe(true);
    // Neither again nor with --start does it go on before the service accepts both.
    expect(await rotateJson('--start')).toEqual(started);
    expect((await rotate()).out).toContain(`"checksumSecretVersions": ["${next}","v1"]`);

    stacks['bag-adres-a-service'] = { status: 'UPDATE_IN_PROGRESS', outputs: {} };
    expect(await rotateJson()).toMatchObject({ step: 'wait' });
    stacks['bag-adres-a-service'] = { outputs: {} };
    deployed = [next, 'v1'];
    const replace = await rotateJson();
    expect(currentVersion()).toBe(versions.get(next));
    expect(replace.step).toBe('replace');
    expect(replace.keys.map(({ label }: { label: string }) => label).sort()).toEqual(['old', 'while it waits']);
    changedAt -= 1800;
    const replaced = await newKey('new');
    expect([accepts(old.key), accepts(replaced)]).toEqual([true, true]);
    expect((await rotate()).out).toMatch(/Replace each of these keys.*\n[\s\S]*old /);

    for (const { keyId, label } of await past.keys.list('acme')) {
      if (label !== 'new') await past.keys.revoke({ account: 'acme', keyId });
    }
    const { out } = await rotate();
    expect(out).toContain('No key of the old version is left.');
    expect(out).toContain(`"checksumSecretVersions": ["${next}"]`);
    deployed = [next];
    expect([accepts(old.key), accepts(replaced)]).toEqual([false, true]);
    expect(await rotateJson()).toMatchObject({ step: 'start' });
    const made = (await storedItems(service.client, testTables.accounts)).filter(
      ({ account }) => account === 'service#',
    );
    expect(made.map(({ actor, action, detail, outcome }) => ({ actor, action, detail, outcome }))).toEqual(
      ['checksum-secret start', 'checksum-secret switch'].map((action) => ({
        actor: testCaller,
        action,
        detail: { version: next, before: { version: 'v1' } },
        outcome: 'done',
      })),
    );
  });

  it('starts with a warning where the accounts table refuses the entry', async () => {
    operations.PutItem = () => ({ error: 'AccessDeniedException' });
    const { exit, err } = await rotate('--start');
    delete operations.PutItem;
    expect([exit, versions.size]).toEqual([0, 2]);
    expect(err).toContain('Not in the audit, as the accounts table refuses the entry');
  });

  it('needs a deployment', async () => {
    expect(await run(['rotate-checksum-secret'])).toMatchObject({ exit: 2, err: expect.stringContaining('--stage') });
  });
});

describe('the next step of a rotation', () => {
  const state = { current: 'v2', next: null, previous: 'v1', deployed: ['v2'], isDeploying: false };

  it.each([
    ['nothing while a deployment runs', { next: 'v3', isDeploying: true }, { step: 'wait' }],
    ['a deployment before the switch', { next: 'v3', deployed: ['v2'] }, { step: 'deploy', versions: ['v3', 'v2'] }],
    [
      'a deployment before the switch, of a first version',
      { next: 'v3', deployed: [] },
      { step: 'deploy', versions: ['v3', 'v2'] },
    ],
    ['the switch once both are accepted', { next: 'v3', deployed: ['v3', 'v2'] }, { step: 'switch', next: 'v3' }],
    ['the switch at once where only the new one is', { next: 'v3', deployed: ['v3'] }, { step: 'switch', next: 'v3' }],
    ['the replacement of keys', { deployed: ['v2', 'v1'] }, { step: 'replace', versions: ['v2'] }],
    [
      'a deployment where the service was rolled back',
      { deployed: ['v1'] },
      { step: 'deploy', versions: ['v2', 'v1'] },
    ],
    ['none', {}, { step: 'start' }],
    ['none of a secret that never rotated', { previous: null, deployed: [] }, { step: 'start' }],
  ])('is %s', (_, change, step) => {
    expect(rotationStep({ ...state, ...change })).toEqual(step);
  });

  it.each([[[]], [['v2']], [['v2', 'v1']]])('reads the versions %j from the template', (ids: string[]) => {
    expect(deployedVersions(JSON.stringify(template(ids)))).toEqual(ids);
    expect(deployedVersions(JSON.stringify(template(ids), null, 2))).toEqual(ids);
  });

  it('reads the versions from the synthesized template', async () => {
    const [current, previous] = ['0f0a64ab-1111-4111-8111-111111111111', '0f0a64ab-2222-4222-8222-222222222222'];
    const { service: rotating } = await templates({ checksumSecretVersions: [current, previous] });
    expect(deployedVersions(JSON.stringify(rotating))).toEqual([current, previous]);
    expect(deployedVersions(JSON.stringify((await templates()).service))).toEqual([]);
  });
});
