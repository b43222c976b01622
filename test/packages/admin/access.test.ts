import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { App, Stack } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import { Table } from 'aws-cdk-lib/aws-dynamodb';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Code, Function as LambdaFunction, Runtime } from 'aws-cdk-lib/aws-lambda';
import { Bucket } from 'aws-cdk-lib/aws-s3';
import { PortalAccess } from '../../../packages/admin/access.ts';
import { type Admin, createAdmin } from '../../../packages/admin/admin.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';

const tableArn = 'arn:aws:dynamodb:eu-central-1:123456789012:table/Accounts';
const keyArn = 'arn:aws:kms:eu-central-1:123456789012:key/0a1b2c3d-0000-0000-0000-000000000000';

const bucketArn = 'arn:aws:s3:::snapshots';
const stateMachineArn = 'arn:aws:states:eu-central-1:123456789012:stateMachine:Load';

type Statement = {
  Action: string | string[];
  Resource: string | string[];
  Condition?: Record<string, unknown>;
};

type Options = { encrypted?: boolean; plans?: 'read' | 'change'; loads?: boolean };

function portalStack({ encrypted = false, plans, loads = false }: Options = {}): Template {
  const stack = new Stack(new App(), 'Portal', {
    env: { region: 'eu-central-1', account: '123456789012' },
  });
  const portal = new LambdaFunction(stack, 'BackEnd', {
    code: Code.fromInline('exports.handler = async () => {}'),
    handler: 'index.handler',
    runtime: Runtime.NODEJS_24_X,
  });
  new PortalAccess(stack, 'Access', {
    accounts: Table.fromTableAttributes(stack, 'Accounts', {
      tableArn,
      ...(encrypted && { encryptionKey: Key.fromKeyArn(stack, 'Key', keyArn) }),
    }),
    ...(plans && { plans }),
    ...(loads && {
      loads: {
        bucket: Bucket.fromBucketAttributes(stack, 'Bucket', {
          bucketArn,
          ...(encrypted && { encryptionKey: Key.fromKeyArn(stack, 'BucketKey', keyArn) }),
        }),
        stateMachineArn,
      },
    }),
  }).serve(portal);
  return Template.fromStack(stack);
}

function statements(template: Template): Statement[] {
  const [policy] = Object.values(template.findResources('AWS::IAM::Policy'));
  return policy?.Properties.PolicyDocument.Statement;
}

const actionsOn = (resource: string, all: Statement[]) =>
  all
    .filter(({ Resource }) => [Resource].flat().includes(resource))
    .flatMap(({ Action }) => Action)
    .sort();

describe('the permissions of PortalAccess', () => {
  let granted: Statement[];
  let template: Template;
  let service: Awaited<ReturnType<typeof startAddressService>>;

  beforeAll(async () => {
    template = portalStack();
    granted = statements(template);
    service = await startAddressService();
  });
  afterAll(() => service.stop());

  it('are exactly these, on the accounts table only', () => {
    const calls =
      'BatchGetItem ConditionCheckItem DeleteItem GetItem PutItem Query UpdateItem'.split(' ');
    expect(actionsOn(tableArn, granted)).toEqual(calls.map((call) => `dynamodb:${call}`));
    expect(granted.flatMap(({ Resource }) => Resource).filter((one) => one !== tableArn)).toEqual(
      [],
    );
  });

  it('come with the settings that the admin module needs', () => {
    template.hasResourceProperties('AWS::Lambda::Function', {
      Environment: { Variables: { ACCOUNTS_TABLE: 'Accounts' } },
    });
  });

  it('include the KMS key of the table if it has one', () => {
    const all = statements(portalStack({ encrypted: true }));
    expect(actionsOn(keyArn, all)).toContain('kms:Decrypt');
  });

  it('include writing plans if operators change them in the portal', async () => {
    const statements = portalStatements({ plans: 'change' });
    const refused: string[] = [];
    const admin = observedAdmin(service.client, statements, refused);
    await admin.plans.put({ code: 'made', limits: { day: 1 } });
    await admin.plans.put({
      code: 'made',
      state: 'inactive',
      seen: { limits: { day: 1 }, state: 'active' },
    });
    await admin.plans.audit('made');
    expect(refused).toEqual([]);
  });

  it('include seeing and approving loads if configured, and no other object or execution', () => {
    const statements = portalStatements({ loads: true });
    const of = (action: string) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(action))
        .flatMap(({ Resource }) => Resource);
    expect(of('s3:GetObject')).toEqual([
      `${bucketArn}/manifest.json`,
      `${bucketArn}/manifest.copy.json`,
      `${bucketArn}/loads/*/proposal.json`,
      `${bucketArn}/loads/*/csv/*`,
    ]);
    expect([of('s3:ListBucket'), of('states:StartExecution'), of('states:ListExecutions')]).toEqual(
      [[bucketArn], [stateMachineArn], [stateMachineArn]],
    );
    expect(of('states:DescribeExecution')).toHaveLength(1);
    expect(JSON.stringify(of('states:DescribeExecution'))).toContain(':approve-*');
    expect(
      statements.flatMap(({ Action }) => Action).filter((action) => /^(s3|states):/.test(action)),
    ).toHaveLength(5);
    portalStack({ loads: true }).hasResourceProperties('AWS::Lambda::Function', {
      Environment: {
        Variables: { SNAPSHOT_BUCKET: 'snapshots', LOAD_MACHINE_ARN: stateMachineArn },
      },
    });
  });

  it('are enough for everything a portal does, and do not include writing plans', async () => {
    const refused: string[] = [];
    const admin = observedAdmin(service.client, granted, refused);

    await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
    await service.admin.plans.put({ code: 'large', limits: { day: 1000 } });
    await admin.accounts.create({ id: 'a', plan: 'small' });
    await admin.accounts.set({ id: 'a', plan: 'large', limits: { day: 7 } });
    const { keyId } = await admin.keys.create({ account: 'a', label: 'webshop' });
    await admin.keys.create({ account: 'a', label: 'another' });
    await admin.keys.list('a');
    await admin.keys.revoke({ account: 'a', keyId });
    await admin.accounts.suspend('a');
    await admin.accounts.activate('a');
    await admin.accounts.show('a');
    await admin.accounts.audit('a');
    await admin.accounts.list({ prefix: 'a' });
    await admin.plans.list();
    await admin.keys.create({ account: 'a', label: 'once', token: 'token-of-the-portal' });
    await expect(admin.accounts.create({ id: 'a', plan: 'small' })).rejects.toThrow('already');
    await admin.accounts.suspend('a');
    await admin.accounts.delete('a');
    expect(refused).toEqual([]);

    await admin.plans.put({ code: 'small', limits: { day: null } });
    expect([...new Set(refused)].sort()).toEqual(['dynamodb:PutItem', 'dynamodb:UpdateItem']);
  });
});

const portalStatements = (options: Options) => statements(portalStack(options));

/** The admin module, with the actions that these statements do not grant noted in `refused`. */
function observedAdmin(
  client: DynamoDBDocumentClient,
  granted: Statement[],
  refused: string[],
): Admin {
  const observed = Object.assign(Object.create(client), { send: undefined }) as typeof client;
  observed.send = ((command: { constructor: { name: string }; input: object }, ...rest: []) => {
    const lacking = needs(command).filter((need) => !isGranted(need, granted));
    refused.push(...lacking.map(({ action }) => action));
    return client.send(command as never, ...rest);
  }) as typeof client.send;
  return createAdmin({ client: observed, table: testTables.accounts });
}

type Need = { action: string; partition: string | undefined };
type Input = {
  Key?: { account?: string };
  Item?: { account?: string };
  TransactItems?: Record<string, Input>[];
};

/**
 * What IAM asks of a command: an action with its partition, for each item of a transaction by
 * itself.
 */
function needs(command: { constructor: { name: string }; input: Input }): Need[] {
  const { input } = command;
  const operation = command.constructor.name.replace('Command', '');
  const one = (action: string, { Key, Item }: Input): Need => ({
    action,
    partition: Key?.account ?? Item?.account,
  });
  if (operation === 'TransactWrite') {
    return (input.TransactItems ?? []).flatMap((item) =>
      Object.entries(item).map(([name, part]) => one(`dynamodb:${name}Item`, part)),
    );
  }
  const byItem = ['Get', 'BatchGet', 'Put', 'Update', 'Delete'].includes(operation);
  return [one(`dynamodb:${operation}${byItem ? 'Item' : ''}`, input)];
}

function isGranted({ action, partition }: Need, all: Statement[]): boolean {
  return all.some(({ Action, Condition }) => {
    if (![Action].flat().includes(action)) return false;
    return Condition === undefined || (partition !== undefined && !partition.startsWith('plan#'));
  });
}
