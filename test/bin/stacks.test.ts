import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { everything, ofType, templates } from '../lib/synthesized.ts';

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

  it('tags its resources as configured, and those outside the data stack with the version', async () => {
    const { data, service, loader } = await templates(everything);
    // The template of the data stack is the same in the next version, so a deployment leaves the tables alone.
    expect(JSON.stringify(data)).toContain('"Key":"stage"');
    expect(JSON.stringify(data)).not.toContain('"Key":"version"');
    expect(JSON.stringify(loader)).toContain('"Key":"version"');
    const [lambda] = Object.values(ofType(service, 'AWS::Lambda::Function'));
    expect(lambda?.Properties?.Tags).toEqual([
      { Key: 'application', Value: 'bag-adres' },
      { Key: 'stage', Value: 'trial' },
      { Key: 'team', Value: 'adressen' },
      { Key: 'version', Value: version },
    ]);
  });

  it('warns about a region that the CDK does not know, and about no other', async () => {
    const warnings = async (region: string) => {
      const { stack, names } = await templates({ region });
      const messages = [names.data, names.service, names.loader].flatMap((name) =>
        stack(name).messages.map(({ entry }) => String(entry.data)),
      );
      return messages.filter((message) => message.includes('bagAdres.region'));
    };
    expect(await warnings('eu-central-9')).toEqual([expect.stringMatching(/"eu-central-9".*check its spelling/)]);
    expect(await warnings('eusc-de-east-1')).toEqual([]);
  });
});
