import { globSync, readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  everything,
  otherwise,
  propertiesOf,
  type Template,
  templates,
} from '../lib/synthesized.ts';
import { deployedLoader } from '../loader/deployed-loader.ts';
import type { JsonObject } from '../support/state-machine/expressions.ts';

type Parts = Record<'data' | 'service' | 'loader', Template>;
const partsOf = ({ data, service, loader }: Parts): Parts => ({ data, service, loader });

describe('a deployment with the settings for operators', () => {
  let all: Parts;
  let plain: Parts;
  beforeAll(async () => {
    all = partsOf(await templates({ ...everything, source: 'https://example.nl/x.zip' }));
    plain = partsOf(await templates());
  });

  it('reserves and provisions concurrency for lookups alone, and none by default', () => {
    const lookups = ({ service }: Parts) =>
      propertiesOf(service, 'AWS::Lambda::Function').filter(
        ({ ReservedConcurrentExecutions: some }) => some !== undefined,
      );
    const Description = 'Looks up one address';
    expect(lookups(all)).toMatchObject([{ Description, ReservedConcurrentExecutions: 100 }]);
    expect(lookups(plain)).toEqual([]);
    const provisioned = propertiesOf(all.service, 'AWS::Lambda::Alias').flatMap(
      ({ ProvisionedConcurrencyConfig }) => ProvisionedConcurrencyConfig ?? [],
    );
    expect(provisioned).toEqual([{ ProvisionedConcurrentExecutions: 2 }]);
  });

  it('sets warm throughput only if configured', () => {
    const warm = ({ data }: Parts) =>
      propertiesOf(data, 'AWS::DynamoDB::Table').map(({ WarmThroughput }) => WarmThroughput);
    expect(warm(plain)).toEqual([undefined, undefined]);
    expect(warm(all)).toEqual([undefined, { WriteUnitsPerSecond: 8000 }]);
  });

  it('limits the concurrent functions of a load to the configured number', async () => {
    const concurrency = ({ loader }: Parts) => {
      const definition = JSON.stringify(
        propertiesOf(loader, 'AWS::StepFunctions::StateMachine')[0]?.DefinitionString,
      );
      return [...definition.matchAll(/\bconcurrency\\+":(\d+)/g)].map(([, most]) => Number(most));
    };
    expect(concurrency(plain)).toEqual([10]);
    expect(concurrency(await templates(otherwise))).toEqual([otherwise.loadConcurrency]);
  });

  it('lets as many functions write as the table has partitions of 1,000 writes a second', async () => {
    const places = { table: 'addresses', bucket: 'snapshots', topic: 'alarms' };
    const apply = async (bagAdres: Record<string, unknown>) => {
      const { States } = (await deployedLoader(bagAdres, places)).definition as {
        States: JsonObject;
      };
      const { ItemBatcher, MaxConcurrency } = States.Apply as JsonObject;
      return [(ItemBatcher as JsonObject).MaxItemsPerBatch, MaxConcurrency];
    };
    expect(await apply({})).toEqual([5, '{% $min([4, $concurrency]) %}']);
    expect(await apply({ warmThroughput: { accountsWrites: 8000 } })).toEqual([
      5,
      '{% $min([4, $concurrency]) %}',
    ]);
    expect(await apply({ warmThroughput: { addressesWrites: 40_900 } })).toEqual([
      1,
      '{% $min([40, $concurrency]) %}',
    ]);
  });
});

describe('another partition', () => {
  it.each([
    ['eusc-de-east-1', 'aws-eusc'],
    ['cn-north-1', 'aws-cn'],
  ])('%s has no ARN of the partition aws in any template', async (region, partition) => {
    const parts = partsOf(await templates({ region, schedule: 'off' }));
    const text = JSON.stringify(parts);
    expect(text).not.toMatch(/arn:aws:/);
    expect(text).toMatch(new RegExp(`arn:(?:${partition}|"?,?\\{"Ref":"AWS::Partition"\\})`));
  });

  it('is not prevented by a hard-coded ARN in the source', () => {
    const folders =
      'lib,core,packages/admin,packages/ui,packages/reference,lambdas,loader,portal,bin,operator';
    const files = globSync(`{${folders}}/**/*.ts`);
    expect(files.length).toBeGreaterThan(100);
    expect(files.filter((file) => /arn:aws:/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
