import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { everything, type Resource } from './synthesized.ts';
import { app } from './unbundled-app.ts';

/** Every file of a cloud assembly: its path and what it holds. */
function contents(directory: string): Record<string, string> {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name);
      return [path.slice(directory.length + 1), readFileSync(path, 'utf8')];
    }),
  );
}

describe('the app', () => {
  let first: Record<string, string>;
  let second: Record<string, string>;
  const directories: string[] = [];

  beforeAll(() => {
    for (let i = 0; i < 2; i++) directories.push(app({}, { bundle: true }).synth().directory);
    [first = {}, second = {}] = directories.map(contents);
  }, 60_000);

  afterAll(() => {
    for (const directory of directories) rmSync(directory, { recursive: true });
  });

  it('is byte for byte the same when synthesized again, including bundles', () => {
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining([expect.stringMatching(/^asset\.[0-9a-f]{64}\/index\.mjs$/)]),
    );
    expect(Object.keys(second).sort()).toEqual(Object.keys(first).sort());
    for (const [path, text] of Object.entries(first)) if (second[path] !== text) throw new Error(`${path} differs`);
  });

  it('gives each function its own code, which includes the module of its handler', () => {
    const functions = Object.entries(first)
      .filter(([path]) => path.endsWith('.template.json'))
      .flatMap(([, text]) => Object.values<Resource>(JSON.parse(text).Resources))
      .filter(({ Type }) => Type === 'AWS::Lambda::Function')
      .map(({ Properties }) => {
        const { Code, Handler } = Properties as { Code: { S3Key: string }; Handler: string };
        return `asset.${Code.S3Key.replace('.zip', '')}/${Handler.replace('.handler', '.mjs')}`;
      });
    expect(functions.length).toBeGreaterThan(10);
    expect(new Set(functions).size).toBe(functions.length);
    expect(Object.keys(first)).toEqual(expect.arrayContaining(functions));
  });

  it('outputs its version, for doctor to compare', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const template = Object.entries(first).find(([path]) => path.endsWith('-service.template.json'))?.[1] ?? '{}';
    expect(JSON.parse(template).Outputs.Version.Value).toBe(version);
  });

  it('has no exports, so that no stack blocks an update of another', () => {
    const templates = Object.entries(first).filter(([path]) => path.endsWith('.template.json'));
    expect(templates.length).toBeGreaterThanOrEqual(2);
    for (const [, text] of templates) {
      expect(text).not.toContain('Fn::ImportValue');
      expect(text).not.toMatch(/"Export":/);
    }
  });

  it('ships no source map and no path of the machine that made it', () => {
    const bundles = Object.entries(first).filter(([path]) => path.startsWith('asset.'));
    for (const [path, text] of bundles) {
      // Modules, and the style and script of the page at /docs.
      expect(path).toMatch(/\.mjs$|\/page\/[a-z-]+\.(?:js|css)$/);
      if (path.endsWith('.mjs')) expect([path, text.includes('sourceMappingURL')]).toEqual([path, false]);
      expect([path, text.includes(process.cwd())]).toEqual([path, false]);
    }
    expect(Object.keys(first)).toEqual(
      expect.arrayContaining(['source-maps/Address/index.mjs.map', 'source-maps/Loader/merge.mjs.map']),
    );
  });

  it('tags its resources as configured, and those outside the data stack with the version', () => {
    const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
    const texts = Object.entries(contents(app(everything).synth().directory));
    const text = (stack: string) => texts.find(([path]) => path.endsWith(`${stack}.template.json`))?.[1] ?? '{}';
    const { Resources } = JSON.parse(text('service'));
    // The template of the data stack is the same in the next version, so a deployment leaves the tables alone.
    expect(text('data')).not.toContain('"Key": "version"');
    expect(text('loader')).toContain('"Key": "version"');
    const lambda = Object.values<{ Type: string; Properties: { Tags?: unknown } }>(Resources).find(
      ({ Type }) => Type === 'AWS::Lambda::Function',
    );
    expect(lambda?.Properties.Tags).toEqual([
      { Key: 'application', Value: 'bag-adres' },
      { Key: 'stage', Value: 'trial' },
      { Key: 'team', Value: 'adressen' },
      { Key: 'version', Value: version },
    ]);
  });

  it('warns about a region that the CDK does not know, and about no other', () => {
    const warnings = (region: string) => {
      const messages = app({ region })
        .synth()
        .stacks.flatMap((stack) => stack.messages.map(({ entry }) => String(entry.data)));
      return messages.filter((message) => message.includes('bagAdres.region'));
    };
    expect(warnings('eu-central-9')).toEqual([expect.stringMatching(/"eu-central-9".*check its spelling/)]);
    expect(warnings('eusc-de-east-1')).toEqual([]);
  });
});
