import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import jsonata from 'jsonata';
import { thresholdsOf } from '../../../lib/loader/loader-steps.ts';
import { loaderEnvironment, publicMutations } from '../../../loader/names.ts';
import { DeployedStep } from '../../../loader/steps/deployed-step.ts';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import {
  environmentsOf,
  everything,
  ofType,
  otherwise,
  propertiesOf,
  type Template,
  templates,
} from '../synthesized.ts';

type Retry = {
  ErrorEquals: string[];
  JitterStrategy?: string;
  IntervalSeconds?: number;
  MaxAttempts?: number;
};

type State = {
  Type: string;
  Retry?: Retry[];
  Catch?: { ErrorEquals: string[]; Next: string }[];
  ItemProcessor?: { States: Record<string, State>; ProcessorConfig: unknown };
  TimeoutSeconds?: number;
};

/** The definition as the service gets it, its references left as text. */
function definition(template: Template): { States: Record<string, State>; TimeoutSeconds: number } {
  const [machine] = propertiesOf(template, 'AWS::StepFunctions::StateMachine');
  const join = machine?.DefinitionString as { 'Fn::Join': [string, (string | object)[]] };
  const textOf = (part: string | object) =>
    typeof part === 'string' ? part : Object.values(part).flat().join('.');
  return JSON.parse(join['Fn::Join'][1].map(textOf).join(''));
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
    const inner = Object.values(States).flatMap(({ ItemProcessor }) =>
      Object.entries(ItemProcessor?.States ?? {}),
    );
    return [...Object.entries(States), ...inner].filter(([, { Type }]) => Type === 'Task');
  };

  /** What the functions are given under this name. */
  const variablesOf = (name: string) =>
    environmentsOf(loader).flatMap(([, variables]) => variables[name] ?? []);

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
    const longest = Math.max(
      ...propertiesOf(loader, 'AWS::Lambda::Function').map(({ Timeout }) => Number(Timeout)),
    );
    expect(variablesOf('SETTLE_SECONDS')).toHaveLength(1);
    const [settles] = variablesOf('SETTLE_SECONDS').map(Number);
    expect(settles).toBeGreaterThanOrEqual(longest + 300);
    const {
      IntervalSeconds = 0,
      MaxAttempts = 0,
      JitterStrategy,
    } = Discover?.Retry?.find(settling) ?? ({} as Retry);
    expect(IntervalSeconds * MaxAttempts).toBeGreaterThan(settles ?? 0);
    expect(JitterStrategy).toBeUndefined();
  });

  it('releases the lock and notifies the operator after any failure, unless a Lambda may still write', () => {
    const { States } = definition(loader);
    const endOf = ({ Catch = [] }: State) =>
      Catch.find(({ ErrorEquals }) => ErrorEquals.includes('States.ALL'))?.Next;
    const unguarded = Object.entries(States).filter(
      ([, state]) => ['Task', 'Map'].includes(state.Type) && endOf(state) !== 'ReleaseAfterFailure',
    );
    expect(unguarded.map(([name, state]) => [name, endOf(state)]).sort()).toEqual([
      ['Apply', 'NotifyFailure'],
      // A notification changes nothing about the end of a load.
      ['NotifyFailure', 'NotifyFailureUnsent'],
      ['NotifyPublished', 'NotifyPublishedUnsent'],
      ['NotifyRefused', 'NotifyRefusedUnsent'],
      // Without the quota a load runs as many functions as configured.
      ['ReadQuota', 'Discover'],
      ['ReleaseAfterFailure', 'NotifyFailure'],
    ]);
    expect(States.ReleaseAfterFailure).toMatchObject({
      Next: 'NotifyFailure',
      Catch: [{ ErrorEquals: ['States.ALL'], Next: 'NotifyFailure' }],
    });
    for (const [notify, Next] of [
      ['NotifyPublished', 'Done'],
      ['NotifyRefused', 'Refused'],
      ['NotifyFailure', 'Failed'],
    ] as const) {
      expect(States[notify]).toMatchObject({ Next });
      expect(States[`${notify}Unsent`]).toMatchObject({ Type: 'Pass', Next });
    }
    const [filter] = propertiesOf(loader, 'AWS::Logs::MetricFilter');
    const [, ...counted] = String(filter?.FilterPattern).match(/"\w+"/g) ?? [];
    const unsent = Object.keys(States).filter((name) => name.endsWith('Unsent'));
    expect(counted.map((name) => name.slice(1, -1)).sort()).toEqual(unsent.sort());
  });

  // A running execution keeps its definition when the state machine changes; a function that it
  // named would change.
  it('invokes retained versions of its functions, so that a running load keeps its code', async () => {
    const calledIn = (template: Template) => [
      ...JSON.stringify(definition(template)).matchAll(/"FunctionName":"(\w+)"/g),
    ];
    const versions = ofType(loader, 'AWS::Lambda::Version');
    const called = new Set(calledIn(loader).map(([, name]) => name));
    expect([...called].sort()).toEqual(Object.keys(versions).sort());
    expect(called.size).toBe(Object.keys(ofType(loader, 'AWS::Lambda::Function')).length);
    const trial = ofType(quiet, 'AWS::Lambda::Version');
    for (const version of [...Object.values(versions), ...Object.values(trial)]) {
      expect(version).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    }

    const next = (await templates({ source: otherwise.source })).loader;
    const changed = Object.keys(ofType(next, 'AWS::Lambda::Version')).filter(
      (version) => !versions[version],
    );
    expect(changed).toEqual([expect.stringMatching(/^StepsDiscover/)]);
    expect(calledIn(next).map(([, name]) => name)).toContain(changed[0]);
  });

  it('may invoke versions of an earlier deployment, but no unpublished code', () => {
    const policies = propertiesOf(loader, 'AWS::IAM::Policy');
    const ofMachine = policies.filter(({ PolicyName }) =>
      /^LoadRoleDefaultPolicy/.test(String(PolicyName)),
    );
    type Policy = { Statement: { Action: unknown; Resource: unknown[] }[] };
    const statements = ofMachine.flatMap(
      ({ PolicyDocument }) => (PolicyDocument as Policy).Statement,
    );
    const invoke =
      statements.find(({ Action }) => Action === 'lambda:InvokeFunction')?.Resource ?? [];
    expect(invoke).toHaveLength(Object.keys(ofType(loader, 'AWS::Lambda::Function')).length);
    for (const resource of invoke) {
      expect(resource).toEqual({
        'Fn::Join': ['', [{ 'Fn::GetAtt': [expect.any(String), 'Arn'] }, ':*']],
      });
    }
  });

  it('ends before its lock expires, with a timeout on every task', () => {
    const { TimeoutSeconds } = definition(loader);
    const lock = variablesOf('LOCK_SECONDS');
    expect(lock).toHaveLength(1);
    expect(TimeoutSeconds).toBeLessThan(Number(lock[0]));
    for (const [, { TimeoutSeconds: own }] of tasks()) expect(own).toBeGreaterThan(0);
  });

  it('passes the configured thresholds to the guard, and the number of snapshots to publish', () => {
    expect(variablesOf(loaderEnvironment.thresholds)).toEqual([
      expect.stringContaining('"minimumAddresses":9000000'),
    ]);
    expect(variablesOf(loaderEnvironment.keepSnapshots)).toEqual(['3']);
  });

  it.each([
    [{ maximumShare: 0.2 }, { maximumShare: 0.2 }, ['alwaysAllowed']],
    [{ maximumShare: 1 }, { alwaysAllowed: 100_000_000 }, ['alwaysAllowedInPlace']],
    [
      { maximumPlaceShare: 1 },
      { maximumShare: 0.05, alwaysAllowedInPlace: 100_000_000 },
      ['alwaysAllowed'],
    ],
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
    expect(environmentsOf(other).filter(([, variables]) => name in variables)).toEqual([
      [expect.stringMatching(/Discover/), expect.objectContaining(Variables)],
    ]);
    expect(variablesOf(name)).toEqual([]);
  });

  it("looks for mutations only if configured: in the public mirror, or in the operator's list", () => {
    const sourceIn = (template: Template) => {
      const [, variables] = environmentsOf(template).find(([id]) => /Discover/.test(id)) ?? [];
      return [variables?.MUTATIONS_SOURCE, template.Outputs?.MutationsSource?.Value];
    };
    expect(sourceIn(loader)).toEqual([undefined, undefined]);
    expect(sourceIn(quiet)).toEqual([publicMutations, publicMutations]);
    expect(sourceIn(other)).toEqual([otherwise.mutations, otherwise.mutations]);
  });

  it('with mutations, raises alarms on a dataset that is a week old and on any audit difference', () => {
    const ofMetric = (template: Template, name: string) =>
      propertiesOf(template, 'AWS::CloudWatch::Alarm').filter(
        ({ MetricName }) => MetricName === name,
      );
    expect(ofMetric(loader, 'DatasetAgeDays')).toMatchObject([{ Threshold: 45 }]);
    expect(ofMetric(quiet, 'DatasetAgeDays')).toMatchObject([{ Threshold: 7 }]);
    expect(ofMetric(loader, 'AuditDifferences')).toEqual([]);
    expect(ofMetric(quiet, 'AuditDifferences')).toMatchObject([
      { Threshold: 1, Statistic: 'Maximum', TreatMissingData: 'notBreaching' },
    ]);
  });

  it('checks daily in Amsterdam time, unless the schedule is off', () => {
    expect(propertiesOf(loader, 'AWS::Scheduler::Schedule')).toEqual([
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
    const expiring = lifecycle?.Rules.filter(
      ({ ExpirationInDays }) => ExpirationInDays !== undefined,
    );
    expect(expiring?.map(({ Prefix }) => Prefix)).toEqual(['loads/', 'uploads/', 'map-runs/']);
    // The settings name only what stays: each check reads it again.
    for (const field of ['source', 'mutations']) {
      const named = (prefix?: string) =>
        parseConfig({ [field]: `s3://snapshots/${prefix}extract.zip` });
      for (const { Prefix } of expiring ?? []) {
        expect(() => named(Prefix)).toThrow(
          /`s3:\/\/BUCKET\/sources\/FILE` in the bucket of the loader, where files stay: in `uploads\/` they expire\./,
        );
      }
      expect(named('sources/')).toMatchObject({ [field]: 's3://snapshots/sources/extract.zip' });
    }
    expect(expiring?.some(({ Prefix = '' }) => 'sources/extract.zip'.startsWith(Prefix))).toBe(
      false,
    );
    const overTls = {
      Effect: 'Deny',
      Action: 's3:*',
      Condition: { Bool: { 'aws:SecureTransport': 'false' } },
    };
    expect(propertiesOf(loader, 'AWS::S3::BucketPolicy')[0]?.PolicyDocument).toMatchObject({
      Statement: [overTls],
    });
  });

  it('keeps overwritten and deleted object versions for two weeks, but not in a trial', () => {
    const [bucket] = propertiesOf(loader, 'AWS::S3::Bucket');
    const twoWeeks = { NoncurrentVersionExpiration: { NoncurrentDays: 14 }, Status: 'Enabled' };
    expect(bucket).toMatchObject({
      VersioningConfiguration: { Status: 'Enabled' },
      LifecycleConfiguration: {
        Rules: expect.arrayContaining([expect.objectContaining(twoWeeks)]),
      },
    });
    expect(propertiesOf(quiet, 'AWS::S3::Bucket')[0]).not.toHaveProperty('VersioningConfiguration');
  });

  /** An expression of the definition with these variables. */
  const evaluated = async (
    expression: unknown,
    variables: Record<string, unknown>,
  ): Promise<unknown> =>
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
    const { Begin, ReadQuota, Extract, Merge } = definition(loader).States as Record<
      string,
      Expressions
    >;
    const states = { result: { AccountLimit: { UnreservedConcurrentExecutions: free } } };
    const configured = Begin?.Assign?.concurrency;
    const concurrency = await evaluated(ReadQuota?.Assign?.concurrency, {
      concurrency: configured,
      states,
    });
    expect(concurrency).toBe(expected);
    for (const map of [Extract, Merge]) {
      expect(await evaluated(map?.MaxConcurrency, { concurrency })).toBe(expected);
    }
  });

  it("names the log of the state machine so that it needs no entry in the account's resource policy", () => {
    const names = propertiesOf(loader, 'AWS::Logs::LogGroup').flatMap(
      ({ LogGroupName }) => LogGroupName ?? [],
    );
    expect(JSON.stringify(names)).toContain('/aws/vendedlogs/bag-adres-prod-loader/loads-');
  });

  it('reports the deployed version daily, and shows it on the configured dashboard', () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(variablesOf('DEPLOYED_VERSION')).toEqual([version]);
    const [dashboard] = propertiesOf(quiet, 'AWS::CloudWatch::Dashboard');
    expect(JSON.stringify(dashboard?.DashboardBody)).toContain(
      "SEARCH('{BagAdres/trial,service,version} MetricName=",
    );
  });
});
