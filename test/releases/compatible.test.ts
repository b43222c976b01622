import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ComparedTemplate,
  lossesBetween,
  statefulTypes,
} from '../../operator/gate/compare-templates.ts';
import { everything, otherwise, portal, templates } from '../lib/synthesized.ts';
import { fixtureOfLastRelease } from './last-release.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const { source } = otherwise;
const configurations = { defaults: {}, everything: { ...everything, source, portal } };

/** What an upgrade must keep of a template: resources with state, and the names of outputs. */
function kept({ Resources = {}, Outputs = {} }: ComparedTemplate): ComparedTemplate {
  const resources = Object.entries(Resources)
    .filter(([, { Type }]) => statefulTypes.includes(Type))
    .map(([id, { Type, Properties = {} }]) => [id, { Type, Properties }]);
  const outputs = Object.keys(Outputs).map((name) => [name, {}]);
  return { Resources: Object.fromEntries(resources), Outputs: Object.fromEntries(outputs) };
}

/** `UPDATE_RELEASE=1` writes the fixture of the present version, at its release. */
const fixture = (name: string) => join(import.meta.dirname, name, 'templates.json');

function lastRelease(): Record<string, ComparedTemplate> {
  return JSON.parse(readFileSync(fixtureOfLastRelease('templates.json') ?? '', 'utf8'));
}

let today: Record<string, ComparedTemplate>;

beforeAll(async () => {
  today = {};
  for (const [name, configuration] of Object.entries(configurations)) {
    for (const [part, template] of Object.entries((await templates(configuration)).all)) {
      today[`${name} ${part}`] = template;
    }
  }
  if (!process.env.UPDATE_RELEASE) return;
  const wanted = Object.fromEntries(
    Object.entries(today).map(([name, template]) => [name, kept(template)]),
  );
  mkdirSync(join(import.meta.dirname, version), { recursive: true });
  writeFileSync(fixture(version), `${JSON.stringify(wanted, null, 1)}\n`);
});

describe('an upgrade from the last release with the same settings', () => {
  it('has fixtures to compare with', () => {
    expect(fixtureOfLastRelease('templates.json')).toBeDefined();
  });

  it('replaces and removes no resource with state', () => {
    const before = lastRelease();
    expect(Object.keys(before).length).toBeGreaterThan(6);
    expect(
      Object.values(before).flatMap(({ Resources = {} }) => Object.keys(Resources)).length,
    ).toBeGreaterThan(30);
    const losses = Object.entries(before).flatMap(([stack, template]) =>
      lossesBetween(template, today[stack] ?? {}).map((loss) => ({ stack, ...loss })),
    );
    expect(losses).toEqual([]);
  });

  // The stacks of the last release read these when they are deployed again, and so do scripts. An
  // output that the CDK no longer makes, because nothing reads it now, is added by name.
  it('keeps every output, so that each stack can go back', () => {
    const lost = Object.entries(lastRelease()).flatMap(([stack, { Outputs = {} }]) =>
      Object.keys(Outputs)
        .filter((name) => !(name in (today[stack]?.Outputs ?? {})))
        .map((name) => `${stack}: ${name}`),
    );
    expect(lost).toEqual([]);
  });
});
