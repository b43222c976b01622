import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { BagAdres } from '../../bin/constructs.ts';
import { storedLayout } from '../../core/tables.ts';
import { everything, ofType, portal, type Template, templates } from '../lib/synthesized.ts';
import { app } from '../lib/unbundled-app.ts';
import { inSweep } from '../support/in-sweep.ts';
import { sweep } from '../support/sweep.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);

describe('the app', () => {
  it('exports nothing: an export in use blocks an update', async () => {
    const { data, service, loader } = await templates();
    for (const template of [data, service, loader]) {
      expect(JSON.stringify(template)).not.toMatch(/"Export":|Fn::ImportValue/);
    }
  });

  it('tags its resources as configured, and its functions with the version', async () => {
    const { service } = await templates(everything);
    const [lambda] = Object.values(ofType(service, 'AWS::Lambda::Function'));
    expect(lambda?.Properties?.Tags).toEqual([
      { Key: 'application', Value: 'bag-adres' },
      { Key: 'stage', Value: 'trial' },
      { Key: 'team', Value: 'adressen' },
      { Key: 'version', Value: version },
    ]);
  });

  it('names its version in functions and one output, so that the diff of an upgrade shows what matters', async () => {
    const { all } = await templates({ ...everything, portal });
    const naming = (of: (template: Template) => object) =>
      Object.values(all).flatMap((template) =>
        Object.entries(of(template)).filter(([, one]) =>
          JSON.stringify(one).includes(`"${version}"`),
        ),
      );
    expect(new Set(naming(({ Resources }) => Resources).map(([, { Type }]) => Type))).toEqual(
      new Set(['AWS::Lambda::Function']),
    );
    expect(naming(({ Outputs = {} }) => Outputs).map(([name]) => name)).toEqual(['Version']);
  });

  it('names the layout of what is stored in the metadata of every template', async () => {
    const { all } = await templates({ ...everything, portal });
    const layouts = Object.values(all).map(({ Metadata }) => Metadata);
    expect(layouts).toEqual(Array(4).fill({ 'bag-adres': { layout: storedLayout } }));
  });

  inSweep('leaves no feature flag for the command line of the CDK to report', () => {
    const { directory } = app().synth();
    const { artifacts } = JSON.parse(readFileSync(join(directory, 'manifest.json'), 'utf8'));
    type Flag = {
      recommendedValue: unknown;
      userValue?: unknown;
      unconfiguredBehavesLike?: { v2?: unknown };
    };
    const flags: Flag[] = Object.values(
      artifacts['aws-cdk-lib/feature-flag-report'].properties.flags,
    );
    expect(flags.length).toBeGreaterThan(80);
    const isReported = ({ userValue, recommendedValue, unconfiguredBehavesLike }: Flag) =>
      userValue === undefined && (unconfiguredBehavesLike?.v2 ?? false) !== recommendedValue;
    expect(flags.filter(isReported)).toEqual([]);
  });
});

describe('two deployments in one app of an operator', () => {
  const second = (settings: object) => {
    const own = app();
    new BagAdres(own, 'First', { stage: 'test', parts: [] });
    return new BagAdres(own, 'Second', { stage: 'test', parts: [], ...settings });
  };

  it('are refused where both would be the same stacks', () => {
    expect(() => second({})).toThrow(
      'Second and First would both be deployed as bag-adres-test-data and so on, to the same region and account. Give one of the two another "stage".',
    );
  });

  it.each(sweep([{ stage: 'prod2' }, { region: 'eu-west-1' }, { account: '123456789012' }], 1))(
    'differ by %j',
    (settings) => {
      expect(second(settings).data.stackName).toBe(`bag-adres-${settings.stage ?? 'test'}-data`);
    },
  );
});
