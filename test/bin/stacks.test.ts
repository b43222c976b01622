import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { everything, ofType, portal, type Template, templates } from '../lib/synthesized.ts';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

describe('the app', () => {
  it('outputs its version, for doctor to compare', async () => {
    expect((await templates()).service.Outputs?.Version?.Value).toBe(version);
  });

  it('has no exports, so that no stack blocks an update of another', async () => {
    const { data, service, loader } = await templates();
    for (const template of [data, service, loader]) {
      const text = JSON.stringify(template);
      expect(text).not.toContain('Fn::ImportValue');
      expect(text).not.toMatch(/"Export":/);
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
    const { data, service, loader, stack } = await templates({ ...everything, portal });
    const all = [data, service, loader, stack('bag-adres-trial-portal').template];
    const naming = (of: (template: Template) => object) =>
      all.flatMap((template) =>
        Object.entries(of(template)).filter(([, one]) => JSON.stringify(one).includes(`"${version}"`)),
      );
    expect(new Set(naming(({ Resources }) => Resources).map(([, { Type }]) => Type))).toEqual(
      new Set(['AWS::Lambda::Function']),
    );
    expect(naming(({ Outputs = {} }) => Outputs).map(([name]) => name)).toEqual(['Version']);
  });
});
