import { describe, expect, it } from '@jest/globals';
import { type ComparedTemplate, compareTemplates } from '../../../operator/upgrade/compare-templates.ts';
import { planRollback, planUpgrade } from '../../../operator/upgrade/plan.ts';
import { compareVersions, type Release, readReleases } from '../../../operator/upgrade/releases.ts';

const table = (properties: Record<string, unknown> = {}) => ({
  Type: 'AWS::DynamoDB::Table',
  Properties: { KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }], ...properties },
});

function template(resources: ComparedTemplate['Resources'], version?: string): ComparedTemplate {
  return { Resources: resources ?? {}, Outputs: version === undefined ? {} : { Version: { Value: version } } };
}

function release(version: string, changes: Partial<Release> = {}): Release {
  const rollback = { possible: true, note: 'Nothing else is needed.' };
  return { version, stacks: 'x', fields: 'x', cost: 'x', manualSteps: [], migrations: [], rollback, ...changes };
}

describe('templates compared', () => {
  const before = template({ Addresses: table(), Role: { Type: 'AWS::IAM::Role' } });

  it.each([
    ['a table that is gone', template({}), 'is no longer in the template'],
    ['a table under another logical id', template({ Addresses2: table() }), 'is no longer in the template'],
    ['a table with another key', template({ Addresses: table({ KeySchema: [] }) }), 'has another KeySchema'],
    ['another local index', template({ Addresses: table({ LocalSecondaryIndexes: [] }) }), 'LocalSecondary'],
    ['a table with a name', template({ Addresses: table({ TableName: 'x' }) }), 'has another TableName'],
    ['another type', template({ Addresses: { Type: 'AWS::DynamoDB::GlobalTable' } }), 'AWS::DynamoDB::GlobalTable'],
  ])('report %s as a loss', (_, after, what) => {
    expect(compareTemplates(before, after).losses).toEqual([
      { logicalId: 'Addresses', type: 'AWS::DynamoDB::Table', what: expect.stringContaining(what) },
    ]);
  });

  it('report an output that is gone, and a secret that would get a new value', () => {
    const secret = (PasswordLength: number) => ({
      Type: 'AWS::SecretsManager::Secret',
      Properties: { GenerateSecretString: { PasswordLength } },
    });
    const { losses } = compareTemplates(template({ S: secret(64) }, '1.0.0'), template({ S: secret(65) }));
    expect(losses.map(({ what }) => what)).toEqual([expect.stringContaining('a new value'), 'is no longer there']);
  });

  it('count what else changes, without the order of members and the versions of functions', () => {
    const after = template({
      Addresses: { Properties: table().Properties, Type: 'AWS::DynamoDB::Table' },
      Role: { Type: 'AWS::IAM::Role', Properties: { Path: '/' } },
      Alarm: { Type: 'AWS::CloudWatch::Alarm' },
      VersionAB: { Type: 'AWS::Lambda::Version' },
    });
    expect(compareTemplates(before, after)).toEqual({ added: 1, changed: 1, removed: 0, losses: [] });
  });
});

describe('the plan of an upgrade', () => {
  const releases = [
    release('1.0.0'),
    release('1.0.1', { manualSteps: ['Confirm the subscription'] }),
    release('1.1.0', { migrations: ['accounts get a month'] }),
    release('1.2.0', { manualSteps: ['Not yet'] }),
  ];
  const data = { name: 'bag-adres-test-data', deployed: template({ T: table() }), next: template({ T: table() }) };
  const service = (from: string, to: string) => ({
    name: 'bag-adres-test-service',
    deployed: template({}, from),
    next: template({}, to),
  });

  it('has the releases in between, their manual steps before the deployment and their migrations after it', () => {
    const { steps, obstacles, deployed } = planUpgrade('test', '1.1.0', [data, service('1.0.0', '1.1.0')], releases);
    expect([deployed, obstacles]).toEqual(['1.0.0', []]);
    expect(steps).toEqual([
      'npx bag-adres config check --stage test',
      'Confirm the subscription (1.0.1)',
      'npx cdk diff -c bagAdres.stage=test',
      'npx cdk deploy --all -c bagAdres.stage=test',
      'Migration: accounts get a month (1.1.0)',
      'npx bag-adres doctor --stage test',
    ]);
  });

  it('deploys a changed data stack first', () => {
    const changed = { ...data, next: template({ T: table({ SSESpecification: {} }) }) };
    const { steps } = planUpgrade('test', '1.0.1', [changed, service('1.0.0', '1.0.1')], releases);
    expect(steps.filter((step) => step.includes('deploy'))).toEqual([
      'npx cdk deploy bag-adres-test-data -c bagAdres.stage=test',
      'npx cdk deploy --all -c bagAdres.stage=test',
    ]);
  });

  it('starts from the oldest version of any stack, and is a first deployment where there is none', () => {
    const half = { ...service('1.0.1', '1.1.0'), name: 'bag-adres-test-loader' };
    expect(planUpgrade('test', '1.1.0', [service('1.0.0', '1.1.0'), half], releases).deployed).toBe('1.0.0');
    const nothing = planUpgrade('test', '1.1.0', [{ ...data, deployed: undefined }], releases);
    expect(nothing).toMatchObject({ deployed: null, releases: [], obstacles: [], stacks: [{ isDeployed: false }] });
  });

  it('has an obstacle where the settings no longer have a stack that is deployed, and leaves that as it is', () => {
    const portal = { name: 'bag-adres-test-portal', deployed: template({ Role: table() }, '0.9.0'), next: undefined };
    const { obstacles, stacks, deployed } = planUpgrade('test', '1.0.0', [data, portal], releases);
    expect(obstacles).toEqual([
      expect.stringMatching(/^bag-adres-test-portal is deployed, but no longer in the settings: .* delete the stack/),
    ]);
    expect(stacks.at(-1)).toMatchObject({ isConfigured: false, deployedVersion: '0.9.0', removed: 0, losses: [] });
    expect(deployed).toBeNull();
  });

  it('has an obstacle where something would be lost, or a newer version is deployed', () => {
    const lost = { ...data, next: template({}) };
    expect(planUpgrade('test', '1.0.0', [lost, service('1.1.0', '1.0.0')], releases).obstacles).toEqual([
      'bag-adres-test-data: T (AWS::DynamoDB::Table) is no longer in the template.',
      expect.stringContaining('1.1.0 is deployed, and this is the older 1.0.0.'),
    ]);
  });
});

describe('the plan of a rollback', () => {
  const releases = [
    release('1.0.0'),
    release('1.0.1'),
    release('1.1.0', { rollback: { possible: false, note: 'New items.' } }),
  ];

  const prod = { stage: 'prod', hasPortal: false };
  const options = '--exclusively --require-approval never -c bagAdres.stage=prod -c bagAdres.deployment=emergency';

  it.each([
    [false, 'bag-adres-prod-loader'],
    [true, 'bag-adres-prod-loader bag-adres-prod-portal'],
  ])(
    'installs the former release and deploys every stack with code past its alarms, the service first (portal: %s)',
    (hasPortal, others) => {
      expect(planRollback({ stage: 'prod', hasPortal }, '1.0.1', releases)).toEqual({
        to: '1.0.0',
        obstacle: null,
        steps: [
          'npm install --save-exact bag-adres@1.0.0',
          'npx bag-adres config check --stage prod',
          `npx cdk deploy bag-adres-prod-service ${options}`,
          `npx cdk deploy ${others} ${options}`,
        ],
      });
    },
  );

  it.each(['0.9.0', '1.0.2', '1.1.0'])('refuses %s, which is no release up to the installed one', (to) => {
    expect(planRollback(prod, '1.0.1', releases, to)?.obstacle).toBe(
      `There is no release ${to} up to 1.0.1. Choose one of: 1.0.0, 1.0.1.`,
    );
  });

  it('applies no version that is not named, as the one before changes with the first step', () => {
    expect(planRollback({ ...prod, apply: true }, '1.0.1', releases)?.obstacle).toBe(
      'Name the version that you go back to: rollback-code --stage prod --to 1.0.0 --apply.',
    );
    expect(planRollback({ ...prod, apply: true }, '1.0.1', releases, '1.0.0')?.obstacle).toBeNull();
  });

  it('says when a release on the way can not be undone, and when there is none before', () => {
    expect(planRollback(prod, '1.1.0', releases, '1.0.0')?.obstacle).toBe(
      "1.1.0 can't be undone: New items. Move forward with a corrected version.",
    );
    expect(planRollback(prod, '1.0.0', releases)).toBeUndefined();
    expect(planRollback(prod, '1.1.0', releases, './a b.tgz')?.steps[0]).toBe('npm install --save-exact "./a b.tgz"');
  });
});

describe('the list of releases', () => {
  it('is in order and without repetition', () => {
    const versions = readReleases().map(({ version }) => version);
    expect(versions.toSorted(compareVersions)).toEqual(versions);
    expect(new Set(versions).size).toBe(versions.length);
  });
});
