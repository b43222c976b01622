import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect } from '@jest/globals';
import { addChecks } from '../../bin/stacks.ts';
import '../lib/assemblies.ts';
import { everything, portal, signIn } from '../lib/synthesized.ts';
import { app } from '../lib/unbundled-app.ts';
import { inSweep } from '../support/in-sweep.ts';

const largest = { ...everything, dataset: { objecten: true }, portal: { ...portal, signIn } };
const cases = ['strong', 'weak'].flatMap((references) =>
  Object.entries({ 'every option and a portal': largest, 'the defaults': {} }).map(
    ([name, settings]) => ({ references, name, settings }),
  ),
);

type Report = { pluginReports: { violations: { ruleName: string; description: string }[] }[] };

/** What cdk-nag finds and nobody has acknowledged, as a synthesis in a clone reports it. */
async function findingsOf(settings: object, references: string): Promise<string[]> {
  const context = { '@aws-cdk/core:defaultCrossStackReferences': references };
  const checked = app({ ...settings }, { context });
  delete process.env.CDK_VALIDATION;
  await addChecks(checked);
  try {
    checked.synth();
  } catch {
    // The report has what it found.
  }
  const file = readFileSync(join(checked.outdir, 'validation-report.json'), 'utf8');
  const { pluginReports }: Report = JSON.parse(file);
  expect(pluginReports.length).toBeGreaterThan(1);
  return pluginReports.flatMap(({ violations }) =>
    violations.map(({ ruleName, description }) => `${ruleName}: ${description}`),
  );
}

describe('a synthesis in a clone', () => {
  inSweep.each(cases)(
    'has no finding that is not acknowledged, with $references references and $name',
    async ({ settings, references }) => {
      expect(await findingsOf(settings, references)).toEqual([]);
    },
  );
});
