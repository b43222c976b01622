import { cpSync, mkdtempSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { App, Aspects, type IAspect, Validations } from 'aws-cdk-lib';
import { AwsSolutionsChecks, ServerlessChecks } from 'cdk-nag';
import type { IConstruct } from 'constructs';
import { BagAdres, type BagAdresProps } from '../../../bin/constructs.ts';
import { type Judge, npmPackages, root } from '../judge.ts';
import { configurations } from '../templates/configurations.ts';

type Example = { acknowledgeForCdkNag2(app: IConstruct): void };
type Packs = Record<'AwsSolutionsChecks' | 'ServerlessChecks', new () => IAspect>;

/**
 * The rules of cdk-nag as somebody's own app with `BagAdres` applies them, in the version before
 * too.
 */
export const nag: Judge = {
  description: 'cdk-nag 3 and 2: the stacks of `BagAdres` in an app of their own',
  needs: [['npm', '--version']],
  async judge() {
    const folder = await npmPackages('nag/package-lock.json');
    const former = createRequire(join(folder, 'here.js'))('cdk-nag') as Packs;
    const example = join(folder, 'cdk-nag-2.mjs');
    cpSync(join(root, 'docs/examples/construct/cdk-nag-2.mjs'), example);
    const { acknowledgeForCdkNag2 } = (await import(pathToFileURL(example).href)) as Example;
    const findings: string[] = [];
    // Another judge leaves the rules out of its syntheses.
    delete process.env.CDK_VALIDATION;
    for (const [name, configuration] of Object.entries(configurations)) {
      const newer = ownApp(configuration);
      Validations.of(newer).addPlugins(new AwsSolutionsChecks(newer), new ServerlessChecks(newer));
      const older = ownApp(configuration);
      Aspects.of(older).add(new former.AwsSolutionsChecks());
      Aspects.of(older).add(new former.ServerlessChecks());
      acknowledgeForCdkNag2(older);
      findings.push(...violations(newer).map((found) => `${name}, cdk-nag 3: ${found}`));
      findings.push(...errors(older).map((found) => `${name}, cdk-nag 2: ${found}`));
    }
    return { findings, detail: `${Object.keys(configurations).length} configurations` };
  },
};

function ownApp(configuration: Record<string, unknown>): App {
  const context = { 'aws:cdk:bundling-stacks': [] };
  const app = new App({
    outdir: mkdtempSync(join(tmpdir(), 'judge-nag-')),
    context,
    treeMetadata: false,
  });
  new BagAdres(app, 'BagAdres', configuration as BagAdresProps);
  return app;
}

/** What the plugins of an app report, which also fails its synthesis. */
function violations(app: App): string[] {
  try {
    app.synth();
  } catch {
    // The report has what it found.
  }
  type Report = { pluginReports: { violations: { ruleName: string; description: string }[] }[] };
  const { pluginReports }: Report = JSON.parse(
    readFileSync(join(app.outdir, 'validation-report.json'), 'utf8'),
  );
  return pluginReports.flatMap(({ violations }) =>
    violations.map(({ ruleName, description }) => `${ruleName} ${description}`),
  );
}

/** The errors that the aspects of an app leave at its constructs. */
function errors(app: App): string[] {
  const { stacks } = app.synth();
  const messages = stacks.flatMap(({ messages }) =>
    messages.filter(({ level }) => level === 'error'),
  );
  return messages.map(({ id, entry }) => `${id} ${entry.data}`);
}
