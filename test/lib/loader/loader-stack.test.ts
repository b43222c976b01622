import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import jsonata from 'jsonata';
import { thresholdsOf } from '../../../lib/loader/loader-steps.ts';
import { loaderEnvironment, publicMutations } from '../../../loader/names.ts';
import { DeployedStep } from '../../../loader/steps/deployed-step.ts';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import { everything, ofType, otherwise, type Template, templates } from '../synthesized.ts';

type Retry = { ErrorEquals: string[]; JitterStrategy?: string; IntervalSeconds?: number; MaxAttempts?: number };

type State = {
  Type: string;
  Retry?: Retry[];
  Catch?: { ErrorEquals: string[]; Next: string }[];
  ItemProcessor?: { States: Record<string, State>; ProcessorConfig: unknown };
  TimeoutSeconds?: number;
};

/** The definition as the service gets it, its references left as text. */
function definition(template: Template): {
  States: Record<string, State>;
  QueryLanguage: string;
  TimeoutSeconds: number;
} {
  const [machine] = Object.values(ofType(template, 'AWS::StepFunctions::StateMachine'));
  const join = machine?.Properties?.DefinitionString as { 'Fn::Join': [string, unknown[]] };
  return JSON.parse(
    join['Fn::Join'][1]
      .map((part) =>
        typeof part === 'string'
          ? part
          : Object.values(part as object)
              .flat()
              .join('.'),
      )
      .join(''),
  );
}

type Lifecycle = { Rules: { Prefix?: string; ExpirationInDays?: number }[] };

describe('the loader stack', () => {
  let loader: Template;
  let quiet: Template;
  let other: Template;

  beforeAll(async () => {
    loader = (await templates()).loader;
    other = (await templates(otherwise)).loader;
    quiet = (await templates({ ...everything, schedule: 'off' })).loader;
  });

  const tasks = () => {
    const { States } = definition(loader);
    const inner = Object.values(States).flatMap(({ ItemProcessor }) => Object.entries(ItemProcessor?.States ?? {}));
    return [...Object.entries(States), ...inner].filter(([, { Type }]) => Type === 'Task');
  };

  /** What the functions are given under this name. */
  const variablesOf = (name: string) =>
    Object.values(ofType(loader, 'AWS::Lambda::Function')).flatMap(({ Properties }) => {
      const { Variables } = (Properties?.Environment ?? {}) as { Variables?: Record<string, string> };
      return Variables?.[name] ?? [];
    });

  const settling = ({ ErrorEquals }: Retry) => ErrorEquals.includes('LockSettlingError');

  it('retries a step only for named errors, with jitter', () => {
    for (const [, { Retry = [] }] of tasks()) {
      expect(Retry.length).toBeGreaterThan(0);
      for (const { ErrorEquals, JitterStrategy } of Retry.filter((retry) => !settling(retry))) {
        expect(JitterStrategy).toBe('FULL');
        expect(ErrorEquals).not.toContain('States.ALL');
      }
    }
  });

  it('waits after a stopped load until none of its functions can still write, and then continues', () => {
    const { Discover } = definition(loader).States;
    const functions = Object.values(ofType(loader, 'AWS::Lambda::Function')).map(({ Properties }) => Properties);
    const longest = Math.max(...functions.map((properties) => Number(properties?.Timeout)));
    expect(variablesOf('SETTLE_SECONDS')).toHaveLength(1);
    const [settles] = variablesOf('SETTLE_SECONDS').map(Number);
    expect(settles).toBeGreaterThanOrEqual(longest + 300);
    const { IntervalSeconds = 0, MaxAttempts = 0, JitterStrategy } = Discover?.Retry?.find(settling) ?? ({} as Retry);
    expect(IntervalSeconds * MaxAttempts).toBeGreaterThan(settles ?? 0);
    expect(JitterStrategy).toBeUndefined();
  });

  it('releases the lock and notifies the operator after any failure, unless a Lambda may still write', () => {
    const { States } = definition(loader);
    const endOf = ({ Catch = [] }: State) => Catch.find(({ ErrorEquals }) => ErrorEquals.includes('States.ALL'))?.Next;
    const unguarded = Object.entries(States).filter(
      ([, state]) => ['Task', 'Map'].includes(state.Type) && endOf(state) !== 'ReleaseAfterFailure',
    );
    expect(unguarded.map(([name, state]) => [name, endOf(state)]).sort()).toEqual([
      ['Apply', 'NotifyFailure'],
      ['NotifyFailure', undefined],
      // Without the quota a load runs as many functions as configured.
      ['ReadQuota', 'Discover'],
      ['ReleaseAfterFailure', 'NotifyFailure'],
    ]);
    expect(States.ReleaseAfterFailure).toMatchObject({
      Next: 'NotifyFailure',
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'NotifyFailure' }],
    });
    expect(States.NotifyFailure).toMatchObject({ Next: 'Failed' });
  });

  // A running execution keeps its definition when the state machine changes; a function that it named would change.
  it('invokes retained versions of its functions, so that a running load keeps its code', async () => {
    const calledIn = (template: Template) => [
      ...JSON.stringify(definition(template)).matchAll(/"FunctionName":"(\w+)"/g),
    ];
    const versions = ofType(loader, 'AWS::Lambda::Version');
    const called = new Set(calledIn(loader).map(([, name]) => name));
    expect([...called].sort()).toEqual(Object.keys(versions).sort());
    expect(called.size).toBe(Object.keys(ofType(loader, 'AWS::Lambda::Function')).length);
    const trial = ofType(quiet, 'AWS::Lambda::Version');
    for (const version of [...Object.values(versions), ...Object.values(trial)])
      expect(version).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });

    const next = (await templates({ source: otherwise.source })).loader;
    const changed = Object.keys(ofType(next, 'AWS::Lambda::Version')).filter((version) => !versions[version]);
    expect(changed).toEqual([expect.stringMatching(/^StepsDiscover/)]);
    expect(calledIn(next).map(([, name]) => name)).toContain(changed[0]);
  });

  it('may invoke versions of an earlier deployment, but no unpublished code', () => {
    const policies = Object.values(ofType(loader, 'AWS::IAM::Policy')).map(({ Properties = {} }) => Properties);
    const ofMachine = policies.filter(({ PolicyName }) => /^LoadRoleDefaultPolicy/.test(String(PolicyName)));
    const statements = ofMachine.flatMap(({ PolicyDocument }) => {
      const { Statement } = PolicyDocument as { Statement: { Action: unknown; Resource: unknown[] }[] };
      return Statement;
    });
    const invoke = statements.find(({ Action }) => Action === 'lambda:InvokeFunction')?.Resource ?? [];
    expect(invoke).toHaveLength(Object.keys(ofType(loader, 'AWS::Lambda::Function')).length);
    for (const resource of invoke)
      expect(resource).toEqual({ 'Fn::Join': ['', [{ 'Fn::GetAtt': [expect.any(String), 'Arn'] }, ':*']] });
  });

  it('ends before its lock expires, with a timeout on every task', () => {
    const { TimeoutSeconds } = definition(loader);
    const lock = variablesOf('LOCK_SECONDS');
    expect(lock).toHaveLength(1);
    expect(TimeoutSeconds).toBeLessThan(Number(lock[0]));
    for (const [, { TimeoutSeconds: own }] of tasks()) expect(own).toBeGreaterThan(0);
  });

  it('passes the configured thresholds to the guard, and the number of snapshots to publish', () => {
    const variables = Object.values(ofType(loader, 'AWS::Lambda::Function')).map(({ Properties }) =>
      JSON.stringify(Properties?.Environment),
    );
    expect(variables.filter((text) => text?.includes('minimumAddresses\\":9000000'))).toHaveLength(1);
    expect(variables.filter((text) => text?.includes('"KEEP_SNAPSHOTS":"3"'))).toHaveLength(1);
  });

  it.each([
    [
      { maximumShare: 0.2 },
      { maximumRemovedShare: 0.2, maximumChangedShare: 0.4, maximumAddedShare: 0.4 },
      ['alwaysAllowed'],
    ],
    [{ maximumShare: 1 }, { maximumChangedShare: 1, alwaysAllowed: 100_000_000 }, ['alwaysAllowedInPlace']],
    [{ maximumPlaceShare: 1 }, { maximumRemovedShare: 0.05, alwaysAllowedInPlace: 100_000_000 }, ['alwaysAllowed']],
  ])('gives the guard the thresholds that its settings mean: %j', (guard, thresholds, absent) => {
    const found = thresholdsOf(parseConfig({ guard }).guard);
    expect(found).toMatchObject(thresholds);
    for (const name of absent) expect(found).not.toHaveProperty(name);
    const inLambda = { [loaderEnvironment.thresholds]: JSON.stringify(found) };
    expect(new DeployedStep('guard', inLambda).thresholds).toMatchObject(thresholds);
  });

  it.each([
    ['a configured source', { EXTRACT_SOURCE: otherwise.source }],
    ['that addresses have objects', { DATASET_OBJECTEN: 'on' }],
  ])('tells the step that plans a load %s, and no other', (_, Variables) => {
    const [name = ''] = Object.keys(Variables);
    const functions = Object.entries(ofType(other, 'AWS::Lambda::Function')).filter(([, { Properties }]) =>
      JSON.stringify(Properties?.Environment).includes(`"${name}"`),
    );
    expect(functions.map(([id, { Properties }]) => [id, Properties?.Environment])).toEqual([
      [expect.stringMatching(/Discover/), { Variables: expect.objectContaining(Variables) }],
    ]);
    expect(variablesOf(name)).toEqual([]);
  });

  it("looks for mutations only if configured: in the public mirror, or in the operator's list", () => {
    const sourceIn = (template: Template) => {
      const [discover] = Object.entries(ofType(template, 'AWS::Lambda::Function')).filter(([id]) =>
        /Discover/.test(id),
      );
      const { Variables } = (discover?.[1].Properties?.Environment ?? {}) as { Variables?: Record<string, string> };
      return [Variables?.MUTATIONS_SOURCE, template.Outputs?.MutationsSource?.Value];
    };
    expect(sourceIn(loader)).toEqual([undefined, undefined]);
    expect(sourceIn(quiet)).toEqual([publicMutations, publicMutations]);
    expect(sourceIn(other)).toEqual([otherwise.mutations, otherwise.mutations]);
  });

  it('with mutations, raises alarms on a dataset that is a week old and on any audit difference', () => {
    const alarms = (template: Template) =>
      Object.values(ofType(template, 'AWS::CloudWatch::Alarm')).map(({ Properties }) => Properties);
    const ofMetric = (template: Template, name: string) =>
      alarms(template).filter((alarm) => alarm?.MetricName === name);
    expect(ofMetric(loader, 'DatasetAgeDays')).toMatchObject([{ Threshold: 45 }]);
    expect(ofMetric(quiet, 'DatasetAgeDays')).toMatchObject([{ Threshold: 7 }]);
    expect(ofMetric(loader, 'AuditDifferences')).toEqual([]);
    expect(ofMetric(quiet, 'AuditDifferences')).toMatchObject([
      { Threshold: 1, Statistic: 'Maximum', TreatMissingData: 'notBreaching' },
    ]);
  });

  it('checks daily in Amsterdam time, unless the schedule is off', () => {
    expect(Object.values(ofType(loader, 'AWS::Scheduler::Schedule')).map(({ Properties }) => Properties)).toEqual([
      expect.objectContaining({
        ScheduleExpression: 'cron(30 5 * * ? *)',
        ScheduleExpressionTimezone: 'Europe/Amsterdam',
        Target: expect.objectContaining({ Input: '{}' }),
      }),
    ]);
    expect(ofType(quiet, 'AWS::Scheduler::Schedule')).toEqual({});
  });

  it('keeps snapshots in a private, encrypted, TLS-only bucket, where work expires but snapshots do not', () => {
    const [[id, bucket] = []] = Object.entries(ofType(loader, 'AWS::S3::Bucket'));
    expect(id).toBe('SnapshotsD03D071C');
    expect(bucket).toMatchObject({
      DeletionPolicy: 'RetainExceptOnCreate',
      UpdateReplacePolicy: 'Retain',
      Properties: {
        PublicAccessBlockConfiguration: {
          BlockPublicAcls: true,
          BlockPublicPolicy: true,
          IgnorePublicAcls: true,
          RestrictPublicBuckets: true,
        },
        BucketEncryption: { ServerSideEncryptionConfiguration: [expect.anything()] },
      },
    });
    const lifecycle = bucket?.Properties?.LifecycleConfiguration as Lifecycle | undefined;
    const expiring = lifecycle?.Rules.filter(({ ExpirationInDays }) => ExpirationInDays !== undefined).map(
      ({ Prefix }) => Prefix,
    );
    expect(expiring).toEqual(['loads/', 'map-runs/', 'uploads/']);
    const [policy] = Object.values(ofType(loader, 'AWS::S3::BucketPolicy'));
    expect(policy?.Properties?.PolicyDocument).toMatchObject({
      Statement: [
        expect.objectContaining({
          Effect: 'Deny',
          Action: 's3:*',
          Condition: { Bool: { 'aws:SecureTransport': 'false' } },
        }),
      ],
    });
  });

  it('keeps overwritten and deleted object versions for two weeks, but not in a trial', () => {
    const bucketOf = (template: Template) => Object.values(ofType(template, 'AWS::S3::Bucket'))[0]?.Properties;
    expect(bucketOf(loader)).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: expect.arrayContaining([
          expect.objectContaining({ NoncurrentVersionExpiration: { NoncurrentDays: 14 }, Status: 'Enabled' }),
        ]),
      },
    });
    expect(bucketOf(quiet)).not.toHaveProperty('VersioningConfiguration');
  });

  /** An expression of the definition with these variables. */
  const evaluated = async (expression: unknown, variables: Record<string, unknown>): Promise<unknown> =>
    jsonata(String(expression).replace(/^\{%|%\}$/g, '')).evaluate({}, variables);

  it('paces its writers below the capacity of a new table', async () => {
    const [writer = 0] = variablesOf('WRITES_PER_SECOND').map(Number);
    const { MaxConcurrency } = definition(loader).States.Apply as { MaxConcurrency?: string };
    const writers = Number(await evaluated(MaxConcurrency, { concurrency: 10 }));
    expect(writer * writers).toBeGreaterThan(3000);
    expect(writer * writers).toBeLessThan(4000);
    expect(await evaluated(MaxConcurrency, { concurrency: 2 })).toBe(2);
  });

  it.each([
    [1000, 10],
    [40, 10],
    [39, 9],
    [10, 2],
    [3, 1],
    [0, 1],
  ])("uses, of an account's concurrency of %d, %d for a load", async (free, expected) => {
    type Expressions = { Assign?: Record<string, unknown>; MaxConcurrency?: string };
    const { Begin, ReadQuota, Extract, Merge } = definition(loader).States as Record<string, Expressions>;
    const states = { result: { AccountLimit: { UnreservedConcurrentExecutions: free } } };
    const configured = Begin?.Assign?.concurrency;
    const concurrency = await evaluated(ReadQuota?.Assign?.concurrency, { concurrency: configured, states });
    expect(concurrency).toBe(expected);
    for (const map of [Extract, Merge]) expect(await evaluated(map?.MaxConcurrency, { concurrency })).toBe(expected);
  });

  it("names the log of the state machine so that it needs no entry in the account's resource policy", () => {
    const names = Object.values(ofType(loader, 'AWS::Logs::LogGroup')).flatMap(
      ({ Properties }) => Properties?.LogGroupName ?? [],
    );
    expect(JSON.stringify(names)).toContain('/aws/vendedlogs/bag-adres-prod-loader/loads-');
  });

  it('reports the deployed version daily, and shows it on the configured dashboard', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(variablesOf('DEPLOYED_VERSION')).toEqual([version]);
    const [dashboard] = Object.values(ofType(quiet, 'AWS::CloudWatch::Dashboard'));
    expect(JSON.stringify(dashboard?.Properties?.DashboardBody)).toContain(
      "SEARCH('{BagAdres/trial,service,version} MetricName=",
    );
  });
});
