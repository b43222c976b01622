import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  type ComparedTemplate,
  lossesBetween,
  statefulTypes,
} from '../../operator/gate/compare-templates.ts';
import { everything, portal, templates } from '../lib/synthesized.ts';
import { fixtureOfLastRelease } from './last-release.ts';

const { version } = JSON.parse(
  readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
);
const configurations = { defaults: {}, everything: { ...everything, portal } };

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
    const before: Record<string, ComparedTemplate> = JSON.parse(
      readFileSync(fixtureOfLastRelease('templates.json') ?? '', 'utf8'),
    );
    expect(Object.keys(before).length).toBeGreaterThan(6);
    expect(
      Object.values(before).flatMap(({ Resources = {} }) => Object.keys(Resources)).length,
    ).toBeGreaterThan(30);
    const losses = Object.entries(before).flatMap(([stack, template]) =>
      lossesBetween(template, today[stack] ?? {}).map((loss) => ({ stack, ...loss })),
    );
    expect(losses).toEqual([]);
  });
});
