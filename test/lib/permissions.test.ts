import { beforeAll, describe, expect, it } from '@jest/globals';
import { everything, ofType, type Template, templates } from './synthesized.ts';

type Statement = { Effect: string; Action: string | string[]; Resource: unknown; Condition?: unknown };

/** What each role may do, `action on resource`, with nothing of it left out. */
function permissions(template: Template): Record<string, string[]> {
  const roles = Object.keys(ofType(template, 'AWS::IAM::Role'));
  const granted: Record<string, string[]> = Object.fromEntries(roles.map((role) => [role, []]));
  for (const [id, { Properties = {} }] of Object.entries(ofType(template, 'AWS::IAM::Role'))) {
    for (const managed of (Properties.ManagedPolicyArns as unknown[] | undefined) ?? [])
      granted[id]?.push(`managed policy ${name(managed)}`);
    expect(Properties.Policies).toBeUndefined();
  }
  for (const { Properties = {} } of Object.values(ofType(template, 'AWS::IAM::Policy'))) {
    const { Statement } = Properties.PolicyDocument as { Statement: Statement[] };
    const lines = Statement.flatMap(({ Effect, Action, Resource, Condition }) => {
      expect(Effect).toBe('Allow');
      return [Action].flat().flatMap((action) =>
        [Resource].flat().map((resource) => `${action} on ${name(resource)}${Condition ? ` if ${JSON.stringify(Condition)}` : ''}`),
      );
    });
    for (const role of Properties.Roles as { Ref: string }[]) granted[role.Ref]?.push(...lines);
  }
  return Object.fromEntries(Object.entries(granted).map(([role, lines]) => [role.replace(/[0-9A-F]{8}$/, ''), lines.sort()]));
}

/** A resource in words: the construct that a reference leads to, without the hash of its logical id. */
function name(value: unknown): string {
  if (typeof value === 'string') return value;
  const text = JSON.stringify(value);
  const output = /"OutputName":"PublishOutput(?:Ref|FnGetAtt)(\w+?)[0-9A-F]{8}(Arn)?[0-9A-F]{8}"/.exec(text)?.[1];
  if (output) return output;
  const join = (value as { 'Fn::Join'?: [string, unknown[]] })['Fn::Join'];
  if (join) return join[1].map(name).join('');
  const reference = (value as { 'Fn::GetAtt'?: [string, string] })['Fn::GetAtt']?.[0] ?? (value as { Ref?: string }).Ref;
  return (reference ?? text).replace(/[0-9A-F]{8}$/, '');
}

const tracing = ['xray:PutTelemetryRecords on *', 'xray:PutTraceSegments on *'];
const logging = (group: string) => [`logs:CreateLogStream on ${group}`, `logs:PutLogEvents on ${group}`];

describe('what each function may do', () => {
  let plain: ReturnType<typeof templates>;
  let encrypted: ReturnType<typeof templates>;

  beforeAll(() => {
    plain = templates();
    encrypted = templates(everything);
  }, 60_000);

  it('is exactly this, in the service', () => {
    const deployment = ['managed policy arn:AWS::Partition:iam::aws:policy/service-role/AWSCodeDeployRoleForLambdaLimited'];
    expect(permissions(plain.service)).toEqual({
      AddressRole: [
        'dynamodb:GetItem on Accounts',
        'dynamodb:GetItem on Addresses',
        'dynamodb:UpdateItem on Accounts',
        ...logging('AddressLogs'),
        ...tracing,
      ],
      ValidateRole: ['dynamodb:GetItem on Accounts', ...logging('ValidateLogs'), ...tracing],
      AddressDeploymentServiceRole: deployment,
      ValidateDeploymentServiceRole: deployment,
    });
  });

  it('is nothing at all in the data stack', () => {
    expect(permissions(plain.data)).toEqual({});
  });

  it('is no more than the use of one key on top of it, where data is encrypted with a key of the operator', () => {
    const before = permissions(plain.service);
    for (const [role, lines] of Object.entries(permissions(encrypted.service))) {
      const more = lines.filter((line) => !before[role]?.includes(line));
      for (const line of more) expect(line).toMatch(/^kms:(Decrypt|Encrypt|ReEncrypt\*|GenerateDataKey\*|DescribeKey) on EncryptionKey$/);
    }
  });

  it('reaches a function from the one API only', () => {
    const permits = Object.values(ofType(plain.service, 'AWS::Lambda::Permission'));
    expect(permits.length).toBeGreaterThan(0);
    for (const { Properties } of permits) {
      expect(Properties?.Principal).toBe('apigateway.amazonaws.com');
      expect(JSON.stringify(Properties?.SourceArn)).toContain('HttpApi');
    }
  });
});
