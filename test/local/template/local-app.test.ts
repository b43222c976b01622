import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { evaluator, TemplateError } from '../../../local/template/evaluate.ts';
import { localApp, readAssembly } from '../../../local/template/local-app.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const data = {
  Resources: {
    Addresses01: {
      Type: 'AWS::DynamoDB::Table',
      Properties: {
        KeySchema: [{ AttributeName: 'address', KeyType: 'HASH' }],
        AttributeDefinitions: [{ AttributeName: 'address', AttributeType: 'S' }],
        SSESpecification: { 'Fn::Unheard': 'of' },
      },
    },
    Secret02: { Type: 'AWS::SecretsManager::Secret', Properties: {} },
  },
  Outputs: {
    Table: { Value: { Ref: 'Addresses01' } },
    Secret: { Value: { Ref: 'Secret02' } },
  },
};

const service = {
  Parameters: { Stage: { Type: 'String', Default: 'prod' } },
  Resources: {
    Function03: {
      Type: 'AWS::Lambda::Function',
      Properties: {
        Code: { S3Bucket: 'assets', S3Key: 'abc.zip' },
        Handler: 'index.handler',
        Timeout: 6,
        Environment: {
          Variables: {
            TABLE: { 'Fn::GetStackOutput': { StackName: 'data-prod', OutputName: 'Table' } },
            SECRET: {
              'Fn::Join': [
                '',
                ['{{resolve:secretsmanager:', { 'Fn::ImportValue': 'data-prod:Secret' }, ':SecretString:::}}'],
              ],
            },
            STAGE: { 'Fn::Sub': `\${Stage}-\${AWS::Region}` },
            NUMBER: 3,
            NONE: { Ref: 'AWS::NoValue' },
          },
        },
      },
    },
    NotServed04: { Type: 'AWS::Lambda::Function', Properties: { Handler: { 'Fn::Unheard': 'of' } } },
    Version05: { Type: 'AWS::Lambda::Version', Properties: { FunctionName: { Ref: 'Function03' } } },
    Alias06: { Type: 'AWS::Lambda::Alias', Properties: { FunctionName: { Ref: 'Function03' }, Name: 'live' } },
    Direct07: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: {
        IntegrationType: 'AWS_PROXY',
        IntegrationUri: { 'Fn::GetAtt': ['Function03', 'Arn'] },
        PayloadFormatVersion: '2.0',
        TimeoutInMillis: 5000,
      },
    },
    Aliased08: {
      Type: 'AWS::ApiGatewayV2::Integration',
      Properties: { IntegrationType: 'AWS_PROXY', IntegrationUri: { Ref: 'Alias06' }, PayloadFormatVersion: '2.0' },
    },
    Route09: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: { RouteKey: 'ANY /a', Target: { 'Fn::Join': ['/', ['integrations', { Ref: 'Direct07' }]] } },
    },
    Route10: {
      Type: 'AWS::ApiGatewayV2::Route',
      Properties: { RouteKey: '$default', Target: { 'Fn::Join': ['', ['integrations/', { Ref: 'Aliased08' }]] } },
    },
  },
};

const manifest = {
  artifacts: {
    Data: {
      type: 'aws:cloudformation:stack',
      properties: { templateFile: 'data.template.json', stackName: 'data-prod' },
    },
    Service: { type: 'aws:cloudformation:stack', properties: { templateFile: 'service.template.json' } },
    Tree: { type: 'cdk:tree', properties: { file: 'tree.json' } },
  },
};

const local = { tableName: (id: string) => `${id}-x1`, secret: 'hush' };
const folder = folderForNow('assembly-');

beforeAll(async () => {
  await mkdir(join(folder, 'asset.abc'));
  const files = {
    'manifest.json': manifest,
    'data.template.json': data,
    'data.assets.json': { files: {} },
    'service.template.json': service,
    'service.assets.json': { files: { abc: { source: { path: 'asset.abc' } } } },
    'asset.abc/index.mjs': '',
  };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), JSON.stringify(content));
});

describe('the application in the templates', () => {
  it('consists of its tables, its routes, and their functions with all values resolved', async () => {
    expect(localApp(await readAssembly(folder), local)).toEqual({
      tables: [
        {
          TableName: 'Addresses01-x1',
          KeySchema: [{ AttributeName: 'address', KeyType: 'HASH' }],
          AttributeDefinitions: [{ AttributeName: 'address', AttributeType: 'S' }],
        },
      ],
      routes: [
        { key: 'ANY /a', functionName: 'Function03', timeoutMilliseconds: 5_000 },
        { key: '$default', functionName: 'Function03', timeoutMilliseconds: 30_000 },
      ],
      functions: [
        {
          name: 'Function03',
          module: join(folder, 'asset.abc', 'index.mjs'),
          handler: 'handler',
          environment: {
            TABLE: 'Addresses01-x1',
            SECRET: 'hush',
            STAGE: 'prod-eu-west-1',
            NUMBER: '3',
          },
          timeoutMilliseconds: 6_000,
          memoryMegabytes: 128,
        },
      ],
    });
  });

  it.each([
    ['Direct07', { PayloadFormatVersion: '1.0' }],
    ['Route09', { RouteKey: 'GET /a/{id}' }],
  ] as const)('is refused where %s is %j, which the local run does not support', async (id, change) => {
    const [dataStack, serviceStack] = await readAssembly(folder);
    if (!dataStack || !serviceStack) throw new Error('two stacks');
    const old = structuredClone(service.Resources);
    Object.assign(old[id].Properties, change);
    const stacks = [dataStack, { ...serviceStack, resources: old }];
    expect(() => localApp(stacks, local)).toThrow(`${id} in the template is not as expected`);
  });
});

describe('a value of a template', () => {
  it.each([
    [{ Ref: 'AWS::Region' }, 'eu-west-1'],
    [{ 'Fn::Sub': `x-\${Addresses01}` }, 'x-Addresses01-x1'],
    [{ 'Fn::GetAtt': ['Addresses01', 'Arn'] }, 'arn:aws:dynamodb:eu-west-1:000000000000:table/Addresses01-x1'],
    [
      ['a', { Ref: 'AWS::NoValue' }, 'b'],
      ['a', 'b'],
    ],
    [{ a: { Ref: 'AWS::NoValue' }, b: 1 }, { b: 1 }],
  ])('%j is evaluated as CloudFormation does', async (value, expected) => {
    const stacks = await readAssembly(folder);
    const [stack] = stacks;
    if (!stack) throw new Error('a stack');
    expect(evaluator(stacks, local)(value, stack)).toEqual(expected);
  });

  it.each([
    [{ 'Fn::Unheard': 'of' }],
    [{ Ref: 'Nothing' }],
    [{ 'Fn::Sub': [`\${A}`, { A: 'x' }] }],
    [{ 'Fn::GetStackOutput': { StackName: 'data-prod', OutputName: 'Nothing' } }],
    [{ 'Fn::ImportValue': 'data-prod:Nothing' }],
  ])('%j is refused rather than guessed', async (value) => {
    const stacks = await readAssembly(folder);
    const [stack] = stacks;
    if (!stack) throw new Error('a stack');
    expect(() => evaluator(stacks, local)(value, stack)).toThrow(TemplateError);
  });
});
