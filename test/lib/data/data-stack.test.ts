import { fullDiff } from '@aws-cdk/cloudformation-diff';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  environmentsOf,
  everything,
  ofType,
  otherwise,
  portal,
  propertiesOf,
  type Template,
  templates,
} from '../synthesized.ts';

const { backupVaultArn } = everything;
const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c';

describe('the data stack', () => {
  let kept: Awaited<ReturnType<typeof templates>>;
  let heard: Awaited<ReturnType<typeof templates>>;
  /** With copies of backups, and then with another table of accounts as well. */
  let copied: Awaited<ReturnType<typeof templates>>;
  let used: Awaited<ReturnType<typeof templates>>;
  let trial: Template;

  beforeAll(async () => {
    kept = await templates();
    heard = await templates(everything);
    copied = await templates({ backupVaultArn, portal });
    used = await templates({
      backupVaultArn,
      portal,
      tables: { accounts: { name: 'restored', keyArn } },
    });
    trial = heard.data;
  });

  // CloudFormation replaces a table, and so loses what it holds, when its logical id, a key or a
  // local index changes. A failure here means just that: give a new table another name and move the
  // data, never change these lines alone.
  it('never replaces a table', () => {
    const pinned = Object.entries(ofType(kept.data, 'AWS::DynamoDB::Table')).map(
      ([id, { Properties }]) => ({
        id,
        name: Properties?.TableName ?? 'of CloudFormation',
        keys: Properties?.KeySchema,
        attributes: Properties?.AttributeDefinitions,
        localIndexes: Properties?.LocalSecondaryIndexes ?? [],
      }),
    );
    expect(pinned).toEqual([
      {
        id: 'Addresses02DFC07F',
        name: 'of CloudFormation',
        keys: [{ AttributeName: 'address', KeyType: 'HASH' }],
        attributes: [{ AttributeName: 'address', AttributeType: 'S' }],
        localIndexes: [],
      },
      {
        id: 'AccountsBE8A900E',
        name: 'of CloudFormation',
        keys: [
          { AttributeName: 'account', KeyType: 'HASH' },
          { AttributeName: 'item', KeyType: 'RANGE' },
        ],
        attributes: [
          { AttributeName: 'account', AttributeType: 'S' },
          { AttributeName: 'item', AttributeType: 'S' },
        ],
        localIndexes: [],
      },
    ]);
  });

  it('retains both tables when the stack is deleted, with point-in-time recovery', () => {
    for (const table of Object.values(ofType(kept.data, 'AWS::DynamoDB::Table'))) {
      expect(table).toMatchObject({
        DeletionPolicy: 'Retain',
        UpdateReplacePolicy: 'Retain',
        Properties: {
          BillingMode: 'PAY_PER_REQUEST',
          DeletionProtectionEnabled: true,
          PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
        },
      });
    }
    expect(kept.stack(kept.names.data).terminationProtection).toBe(true);
  });

  // A stack that failed to create is deleted before the next attempt. What is still empty goes with
  // it. A protected table can't be deleted by CloudFormation: docs/deploy.md says how to remove it.
  it('retains only the protected tables when its first deployment fails', () => {
    const staying = ['data', 'service', 'loader'] as const;
    const left = staying.flatMap((stack) =>
      Object.values(kept[stack].Resources).filter(
        ({ DeletionPolicy }) => DeletionPolicy === 'Retain',
      ),
    );
    expect(left.map(({ Type }) => Type)).toEqual(['AWS::DynamoDB::Table', 'AWS::DynamoDB::Table']);
    for (const type of ['AWS::SecretsManager::Secret', 'AWS::S3::Bucket', 'AWS::Logs::LogGroup']) {
      for (const { DeletionPolicy } of staying.flatMap((stack) =>
        Object.values(ofType(kept[stack], type)),
      )) {
        expect([type, DeletionPolicy]).toEqual([type, 'RetainExceptOnCreate']);
      }
    }
  });

  it('deletes everything of a trial, and encrypts it with its own key', () => {
    for (const table of Object.values(ofType(trial, 'AWS::DynamoDB::Table'))) {
      expect(table).toMatchObject({
        DeletionPolicy: 'Delete',
        Properties: {
          DeletionProtectionEnabled: false,
          SSESpecification: { SSEEnabled: true, SSEType: 'KMS' },
        },
      });
    }
    expect(propertiesOf(trial, 'AWS::KMS::Key')).toMatchObject([{ EnableKeyRotation: true }]);
  });

  it('lets CloudWatch use the key for log groups of this account, and for alarms', () => {
    const [key] = propertiesOf(trial, 'AWS::KMS::Key');
    type KeyStatement = { Principal: { Service?: string; AWS?: unknown }; Condition?: unknown };
    const policy = key?.KeyPolicy as { Statement: KeyStatement[] } | undefined;
    const services = (policy?.Statement ?? []).filter(
      ({ Principal }) => Principal.Service !== undefined,
    );
    const account = { Ref: 'AWS::AccountId' };
    const logGroups = { 'Fn::Join': ['', ['arn:aws:logs:eu-central-1:', account, ':*']] };
    expect(services.map(({ Principal, Condition }) => [Principal.Service, Condition])).toEqual([
      [
        'logs.eu-central-1.amazonaws.com',
        { ArnLike: { 'kms:EncryptionContext:aws:logs:arn': logGroups } },
      ],
      // AWS documents no condition for alarms.
      ['cloudwatch.amazonaws.com', undefined],
    ]);
  });

  it("copies a daily backup of only the accounts table to the operator's vault", () => {
    const { data } = copied;
    const Lifecycle = { DeleteAfterDays: 35 };
    const CopyActions = [{ DestinationBackupVaultArn: backupVaultArn, Lifecycle }];
    const [plan] = propertiesOf(data, 'AWS::Backup::BackupPlan');
    expect(plan?.BackupPlan).toMatchObject({ BackupPlanRule: [{ Lifecycle, CopyActions }] });
    const [selection] = propertiesOf(data, 'AWS::Backup::BackupSelection');
    const chosen = selection?.BackupSelection as { Resources: unknown[] } | undefined;
    expect(chosen?.Resources).toHaveLength(1);
    expect(JSON.stringify(chosen?.Resources)).toContain('AccountsBE8A900E');
    expect(ofType(kept.data, 'AWS::Backup::BackupPlan')).toEqual({});
    expect(environmentsOf(data)[0]?.[1]).toMatchObject({ BACKUP_COPY_VAULT_ARN: backupVaultArn });
  });

  it('keeps its vault with and without the setting, under a name that no earlier stack or key has used', async () => {
    const vaultOf = (template: typeof kept.data) =>
      Object.entries(ofType(template, 'AWS::Backup::BackupVault'))[0];
    const [id, without] = vaultOf(kept.data) ?? [];
    const [sameId, withSetting] = vaultOf(copied.data) ?? [];
    const [, withKey] = vaultOf((await templates({ encryptionKey: 'create' })).data) ?? [];
    const nameOf = (vault: typeof without) => JSON.stringify(vault?.Properties?.BackupVaultName);
    expect(sameId).toBe(id);
    expect(nameOf(withSetting)).toBe(nameOf(without));
    expect(nameOf(without)).toContain('AWS::StackId');
    expect(nameOf(withKey)).not.toBe(nameOf(without));
    expect([without?.DeletionPolicy, without?.UpdateReplacePolicy]).toEqual([
      'RetainExceptOnCreate',
      'Retain',
    ]);
  });

  it('is deployed into the configured account only', async () => {
    const { stack, names } = await templates(otherwise);
    for (const name of Object.values(names)) {
      expect(stack(name).environment).toMatchObject({
        account: otherwise.account,
        region: 'eu-central-1',
      });
    }
    expect(kept.stack(kept.names.data).environment.account).toBe('unknown-account');
  });

  it('uses an existing accounts table by its references alone, which go back when the setting goes', () => {
    const portalStack = ({ stack }: typeof used) => stack('bag-adres-prod-portal').template;
    for (const [one, other] of [
      [copied.data, used.data],
      [copied.service, used.service],
      [copied.loader, used.loader],
      [portalStack(copied), portalStack(used)],
    ]) {
      const { changes } = fullDiff(one as Template, other as Template).resources;
      const removed = Object.values(changes).filter(({ isRemoval }) => isRemoval);
      expect(removed.filter(({ resourceType }) => !resourceType?.endsWith('Version'))).toEqual([]);
      for (const type of [
        'AWS::DynamoDB::Table',
        'AWS::KMS::Key',
        'AWS::SecretsManager::Secret',
        'AWS::S3::Bucket',
      ]) {
        expect(ofType(other as Template, type)).toEqual(ofType(one as Template, type));
      }
    }
    const namesOf = (template: Template) =>
      JSON.stringify(template).match(/"ACCOUNTS_TABLE":"restored"/g)?.length;
    expect([namesOf(used.service), namesOf(portalStack(used))]).toEqual([3, 1]);
    expect(used.data.Outputs?.AccountsTableName).toEqual({ Value: 'restored' });
    const [selection] = Object.values(ofType(used.data, 'AWS::Backup::BackupSelection'));
    expect(JSON.stringify(selection)).toContain(':table/restored');
  });

  it('lets the version that serves go on with the other table while a deployment shifts traffic, in both directions', () => {
    const { service } = used;
    const before = ofType(copied.service, 'AWS::IAM::Policy');
    const policies = ofType(service, 'AWS::IAM::Policy');
    // Those on the other table are deleted in the end, as a resource of their own.
    for (const [id, policy] of Object.entries(before)) expect(policies[id]).toEqual(policy);
    const added = Object.entries(policies).filter(([id]) => !(id in before));
    expect(added.map(([id]) => id)).toEqual(
      ['Address', 'Validate', 'Usage'].map((name) => expect.stringMatching(`^${name}Uses`)),
    );
    for (const [id, { Properties }] of added) {
      expect(JSON.stringify(Properties)).toContain(':table/restored');
      expect(JSON.stringify(Properties)).toContain(keyArn);
      const users = Object.values(service.Resources).filter(({ DependsOn = [] }) =>
        DependsOn.includes(id),
      );
      expect(users.map(({ Type }) => Type)).toEqual(
        expect.arrayContaining(['AWS::Lambda::Function']),
      );
    }
  });

  it('warns when no one is notified of alarms, and only then', () => {
    const annotations = ({ stack, names }: Awaited<ReturnType<typeof templates>>) =>
      stack(names.data).messages.map(({ level, entry: { data } }) => `${level}: ${data}`);
    expect(annotations(kept)).toEqual([
      expect.stringMatching(/^warning: Nobody is notified of an alarm.*alarmEmail/),
    ]);
    expect(annotations(heard)).toEqual([]);
  });

  it('lets alarms publish to the topic, over TLS only, and notifies the operator by email', () => {
    const ofAccount = ['arn:aws:cloudwatch:eu-central-1:', { Ref: 'AWS::AccountId' }, ':alarm:*'];
    const statements = [
      { Effect: 'Deny', Condition: { Bool: { 'aws:SecureTransport': 'false' } } },
      {
        Effect: 'Allow',
        Principal: { Service: 'cloudwatch.amazonaws.com' },
        Condition: { ArnLike: { 'aws:SourceArn': { 'Fn::Join': ['', ofAccount] } } },
      },
    ].map((statement) => expect.objectContaining(statement));
    const [policy] = propertiesOf(kept.data, 'AWS::SNS::TopicPolicy');
    expect(policy?.PolicyDocument).toMatchObject({ Statement: expect.arrayContaining(statements) });
    expect(ofType(kept.data, 'AWS::SNS::Subscription')).toEqual({});
    const [subscription] = propertiesOf(trial, 'AWS::SNS::Subscription');
    expect(subscription).toMatchObject({ Protocol: 'email', Endpoint: 'beheer@example.nl' });
  });
});
