import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { stateName } from '../../lib/loader/load-states.ts';
import { stepNames, stepOf } from '../../loader/steps/load-steps.ts';
import {
  everything,
  ofType,
  otherwise,
  portal,
  signIn,
  type Template,
  templates,
} from '../lib/synthesized.ts';

type Trust = { Principal: { Service: string }; Condition?: unknown };
type Statement = {
  Effect: string;
  Action: string | string[];
  Resource: unknown;
  Condition?: unknown;
};

/**
 * What each role may do, `action on resource`, with nothing of it left out, but without the role of
 * the CDK's function that empties the buckets of a trial.
 */
function permissions({ Resources, ...rest }: Template): Record<string, string[]> {
  const ours = Object.entries(Resources).filter(
    ([id]) => !id.startsWith('CustomS3AutoDeleteObjects'),
  );
  const template = { ...rest, Resources: Object.fromEntries(ours) };
  const roles = Object.keys(ofType(template, 'AWS::IAM::Role'));
  const granted: Record<string, string[]> = Object.fromEntries(roles.map((role) => [role, []]));
  for (const [id, { Properties = {} }] of Object.entries(ofType(template, 'AWS::IAM::Role'))) {
    for (const managed of (Properties.ManagedPolicyArns as unknown[] | undefined) ?? []) {
      granted[id]?.push(`managed policy ${name(managed)}`);
    }
    expect(Properties.Policies).toBeUndefined();
  }
  for (const { Properties = {} } of Object.values(ofType(template, 'AWS::IAM::Policy'))) {
    const { Statement } = Properties.PolicyDocument as { Statement: Statement[] };
    const lines = Statement.flatMap(({ Effect, Action, Resource, Condition }) => {
      expect(Effect).toBe('Allow');
      return [Action]
        .flat()
        .flatMap((action) =>
          [Resource]
            .flat()
            .map(
              (resource) =>
                `${action} on ${name(resource)}${Condition ? ` if ${JSON.stringify(Condition)}` : ''}`,
            ),
        );
    });
    for (const role of Properties.Roles as { Ref: string }[]) granted[role.Ref]?.push(...lines);
  }
  return Object.fromEntries(
    Object.entries(granted).map(([role, lines]) => [
      role.replace(/[0-9A-F]{8}$/, ''),
      lines.sort(),
    ]),
  );
}

/**
 * A resource in words: the construct that a reference leads to, without the hash of its logical id.
 */
function name(value: unknown): string {
  if (typeof value === 'string') return value;
  const join = (value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'];
  if (join) return join[1].map(name).join('');
  const text = JSON.stringify(value);
  const output =
    /"OutputName":"PublishOutput(?:Ref|FnGetAtt)(\w+?)[0-9A-F]{8}(?:Arn|Name)?[0-9A-F]{8}"/.exec(
      text,
    )?.[1];
  if (output) return output;
  const part = (value as { 'Fn::Select'?: [number, { 'Fn::Split': [string, unknown] }] })[
    'Fn::Select'
  ];
  if (part) return name(part[1]['Fn::Split'][1]);
  const reference =
    (value as { 'Fn::GetAtt'?: [string, string] })['Fn::GetAtt']?.[0] ??
    (value as { Ref?: string }).Ref;
  return (reference ?? text).replace(/[0-9A-F]{8}$/, '');
}

/** The commands that these files construct: a new one here needs a grant in `lib`. */
function commandsIn(pattern: string, options: { exclude?: string[] } = {}): string[] {
  const sources = globSync(pattern, options).map((file) => readFileSync(file, 'utf8'));
  const commands = sources.flatMap((source) =>
    [...source.matchAll(/(?:new (?:Raw)?(\w+)Command|paginate(\w+))\(/g)].map(
      ([, one, pages]) => one ?? pages ?? '',
    ),
  );
  return [...new Set(commands)].sort();
}

/**
 * The permissions in a few words: the resources of the same actions together, without the lines
 * that each function may write to its own log.
 */
function inWords(lines: readonly string[]): string {
  const byResource = new Map<string, string[]>();
  for (const line of lines) {
    const [, action = '', resource = '', condition = ''] =
      /^(?:\w+:|managed policy .*\/)?(\S+?)(?: on (\S+)( if .*)?)?$/.exec(line) ?? [];
    if (/^(?:CreateLogStream|PutLogEvents)$/.test(action)) continue;
    const [, short = resource] = /^arn:[^{]*?:AWS::AccountId:(.*)$/.exec(resource) ?? [];
    const on = short === '' ? '' : `\`${short}\`${condition}`;
    byResource.set(on, [...(byResource.get(on) ?? []), `\`${action}\``]);
  }
  const byActions = Map.groupBy(byResource, ([, actions]) => actions.join(', '));
  const texts = [...byActions].map(([actions, resources]) => {
    const on = resources.map(([resource]) => resource).filter((resource) => resource !== '');
    return on.length === 0 ? actions : `${actions} on ${on.join(', ')}`;
  });
  return texts.join('; ') || 'nothing else';
}

const eventBus = 'arn:aws:events:eu-central-1:AWS::AccountId:event-bus/default';
const tracing = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *'];
const logging = (group: string) => [
  `logs:CreateLogStream on ${group}`,
  `logs:PutLogEvents on ${group}`,
];

describe('what each function may do', () => {
  let plain: Awaited<ReturnType<typeof templates>>;
  let encrypted: Awaited<ReturnType<typeof templates>>;
  let untraced: Awaited<ReturnType<typeof templates>>;

  beforeAll(async () => {
    plain = await templates({ tracing: true });
    untraced = await templates();
    encrypted = await templates(everything);
  });

  // The roles of the loader are held to its calls in state-machine-permissions.test.ts.
  it('is exactly this, in the service', () => {
    const deployment = [
      'managed policy arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited',
    ];
    expect(permissions(plain.service)).toEqual({
      AddressRole: [
        'dynamodb:BatchGetItem on Addresses',
        'dynamodb:GetItem on Accounts',
        'dynamodb:GetItem on Addresses',
        'dynamodb:UpdateItem on Accounts',
        ...logging('AddressLogs'),
        ...tracing,
      ],
      ValidateRole: [
        'dynamodb:BatchGetItem on Accounts',
        'dynamodb:GetItem on Accounts',
        ...logging('ValidateLogs'),
        ...tracing,
      ],
      UsageRole: [
        ...['BatchGetItem', 'GetItem', 'Query', 'UpdateItem'].map(
          (action) => `dynamodb:${action} on Accounts`,
        ),
        ...logging('UsageLogs'),
        's3:GetObject on Statements/statements/*',
        's3:ListBucket on Statements',
        's3:PutObject on Statements/statements/*',
        `events:PutEvents on ${eventBus}`,
        ...tracing,
      ].sort(),
      UsageScheduleRole: ['lambda:InvokeFunction on UsageFunction'],
      AddressDeploymentServiceRole: deployment,
      ValidateDeploymentServiceRole: deployment,
    });
  });

  it('includes X-Ray only where tracing is on', () => {
    for (const stack of ['service', 'loader'] as const) {
      const lines = Object.values(permissions(untraced[stack])).flat();
      expect(lines.length).toBeGreaterThan(5);
      expect(lines.filter((line) => line.startsWith('xray:'))).toEqual([]);
    }
  });

  // No local engine checks permissions, so a new call without a grant would fail only in the cloud.
  it('covers every command that a request sends', () => {
    const sent = commandsIn('{lambdas/{address,http},core,core/addresses}/*.ts');
    expect(sent).toEqual(['BatchGetItem', 'GetItem', 'TransactWriteItems', 'UpdateItem']);
    // IAM checks a transaction by what it contains; transactions of requests contain only updates.
    const needed = sent.map((command) =>
      command === 'TransactWriteItems' ? 'UpdateItem' : command,
    );
    const granted = permissions(plain.service).AddressRole ?? [];
    const [batch, ...others] = needed;
    expect(granted).toContain(`dynamodb:${batch} on Addresses`);
    for (const command of others) expect(granted).toContain(`dynamodb:${command} on Accounts`);
    expect(commandsIn('{lambdas/validate/*,core/accounts/key-record}.ts')).toEqual([
      'BatchGetItem',
    ]);
    // The other one reads the checksum secret.
    for (const command of ['BatchGetItem', 'GetItem']) {
      expect(permissions(plain.service).ValidateRole).toContain(`dynamodb:${command} on Accounts`);
    }
  });

  it('covers what the canary sends', () => {
    expect(commandsIn('lambdas/canary/*.ts')).toEqual(['GetSecretValue']);
    expect(permissions(encrypted.service).CanaryRole?.join()).toContain(
      'secretsmanager:GetSecretValue',
    );
  });

  it('covers the keys of the secrets that the canary and the portal read', async () => {
    const keyArn = (id: string) => `arn:aws:kms:eu-central-1:123456789012:key/mrk-${id}`;
    const { service, all } = await templates({
      canary: { ...everything.canary, keySecretKeyArn: keyArn('0a') },
      portal: {
        ...portal,
        signIn: { ...signIn, clientSecretKeyArn: keyArn('0b') },
      },
    });
    expect(permissions(service).CanaryRole).toContain(`kms:Decrypt on ${keyArn('0a')}`);
    expect(JSON.stringify(all)).toContain(
      JSON.stringify({ Action: 'kms:Decrypt', Effect: 'Allow', Resource: keyArn('0b') }),
    );
  });

  it('covers the events that the usage job puts', async () => {
    expect(commandsIn('packages/admin/usage-job/*.ts')).toEqual(['PutEvents']);
    expect(permissions((await templates(otherwise)).service).UsageRole?.join()).not.toContain(
      'events:',
    );
  });

  it('covers every command that the admin module sends, by the access of a portal or an operator', () => {
    const others = { exclude: ['**/key-record.ts'] };
    expect(commandsIn('{packages/admin/accounts,core/accounts}/**/*.ts', others)).toEqual(
      'BatchGet Delete Get Put Query Scan TransactWrite Update'.split(' '),
    );
  });

  it('is done for this account alone, by every service whose documentation has that condition', async () => {
    const all = [...Object.values((await templates({ ...everything, portal })).all)];
    const { all: trial } = await templates({ stage: 'trial', removalPolicy: 'destroy' });
    const services: Record<'own' | 'any', Set<string>> = { own: new Set(), any: new Set() };
    const roles = [...all, ...Object.values(trial)].flatMap((template) =>
      Object.values(ofType(template, 'AWS::IAM::Role')),
    );
    expect(roles.length).toBeGreaterThan(30);
    const own = { StringEquals: { 'aws:SourceAccount': expect.anything() } };
    for (const { Properties } of roles) {
      const { Statement } = (Properties as { AssumeRolePolicyDocument: { Statement: Trust[] } })
        .AssumeRolePolicyDocument;
      expect(Statement).toHaveLength(1);
      for (const { Principal, Condition } of Statement) {
        if (Condition) expect(Condition).toEqual(own);
        services[Condition ? 'own' : 'any'].add(Principal.Service);
      }
    }
    expect([...services.own].sort()).toEqual([
      'codedeploy.amazonaws.com',
      'lambda.amazonaws.com',
      'scheduler.amazonaws.com',
      'states.amazonaws.com',
    ]);
    // AWS Backup documents the condition for resource policies alone.
    expect([...services.any]).toEqual(['backup.amazonaws.com']);
  });

  it('is nothing in the data stack, except for configured backups', () => {
    expect(permissions(plain.data)).toEqual({});
    expect(permissions(encrypted.data)).toEqual({
      AccountsBackupPlanAccountsRole: [
        'managed policy arn:AWS::Partition:iam::aws:policy/service-role/AWSBackupServiceRolePolicyForBackup',
      ],
      AccountsBackupWatchRole: [
        'backup:GetBackupPlan on arn:aws:backup:eu-central-1:AWS::AccountId:backup-plan:AccountsBackupPlan',
        'backup:ListCopyJobs on *',
        'kms:Decrypt on EncryptionKey',
        'logs:CreateLogStream on AccountsBackupWatchLogs',
        'logs:PutLogEvents on AccountsBackupWatchLogs',
        'xray:PutTelemetryRecords on *',
        'xray:PutTraceSegments on *',
      ],
      AccountsBackupWatchScheduleRole: ['lambda:InvokeFunction on AccountsBackupWatchFunction'],
    });
  });

  it('adds only the use of one KMS key when the operator configures a key, and the canary', () => {
    const useObjects = ['kms:Decrypt on EncryptionKey', 'kms:GenerateDataKey on EncryptionKey'];
    const useTable = [
      'Decrypt',
      'DescribeKey',
      'Encrypt',
      'GenerateDataKey',
      'GenerateDataKeyWithoutPlaintext',
      'ReEncryptFrom',
      'ReEncryptTo',
    ].map((action) => `kms:${action} on EncryptionKey`);
    const more = (plainRoles: Record<string, string[]>, encryptedRoles: Record<string, string[]>) =>
      Object.fromEntries(
        Object.entries(encryptedRoles).map(([role, lines]) => {
          const added = lines.filter((line) => !plainRoles[role]?.includes(line));
          return [role, [...new Set(added)]];
        }),
      );
    expect(more(permissions(plain.service), permissions(encrypted.service))).toEqual({
      AddressRole: useTable,
      ValidateRole: useTable,
      UsageRole: useTable,
      UsageScheduleRole: [],
      CanaryRole: [
        ...useObjects.slice(0, 1),
        ...logging('CanaryLogs'),
        'secretsmanager:DescribeSecret on arn:aws:secretsmanager:eu-central-1:AWS::AccountId:secret:bag-adres-canary-??????',
        'secretsmanager:GetSecretValue on arn:aws:secretsmanager:eu-central-1:AWS::AccountId:secret:bag-adres-canary-??????',
        ...tracing,
      ],
      CanaryScheduleRole: ['lambda:InvokeFunction on CanaryFunction'],
      AddressDeploymentServiceRole: [],
      ValidateDeploymentServiceRole: [],
    });
    const ofSteps = stepNames.map((name) => [
      `Steps${stateName(name)}Role`,
      stepOf(name).table ? useTable : useObjects,
    ]);
    expect(more(permissions(plain.loader), permissions(encrypted.loader))).toEqual({
      ...Object.fromEntries(ofSteps),
      LoadRole: useObjects,
      LoadScheduleRole: [],
    });
  });

  // `UPDATE_DOCS=1 npm test -- test/templates/permissions` writes the table anew.
  it('is what docs/security.md says of each role', async () => {
    const { all } = await templates({ portal });
    const rows = Object.entries(all).flatMap(([part, template]) =>
      Object.entries(permissions(template)).map(
        ([role, lines]) => `| ${part} | ${role} | ${inWords(lines)} |`,
      ),
    );
    expect(rows.length).toBeGreaterThan(10);
    const table = ['| stack | role | may |', '|---|---|---|', ...rows].join('\n');
    const page = 'docs/security.md';
    const text = readFileSync(page, 'utf8');
    const updated = text.replace(
      /(<!-- roles -->\n\n)[\s\S]*?(\n\n<!-- \/roles -->)/,
      (_, before, after) => `${before}${table}${after}`,
    );
    if (process.env.UPDATE_DOCS) writeFileSync(page, updated);
    expect(text.includes('<!-- roles -->')).toBe(true);
    expect(readFileSync(page, 'utf8')).toBe(updated);
  });

  it('allows only the one API to invoke a function', () => {
    const permits = Object.values(ofType(plain.service, 'AWS::Lambda::Permission'));
    expect(permits.length).toBeGreaterThan(0);
    for (const { Properties } of permits) {
      expect(Properties?.Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(Properties?.SourceArn)).toContain('HttpApi');
    }
  });
});
