import { existsSync, mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { App, Stack } from 'aws-cdk-lib';
import { CfnTable } from 'aws-cdk-lib/aws-dynamodb';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { addChecks } from '../../bin/stacks.ts';
import { isFullSweep } from '../support/sweep.ts';
import { assemblies } from './assemblies.ts';
import { everything, portal } from './synthesized.ts';
import { app } from './unbundled-app.ts';

/**
 * Prints, as one JSON object, what cdk-nag and the CDK's own check of properties find in each of these apps, warnings
 * included: those don't fail a synthesis. A process of its own, because the rules take several times longer inside
 * Jest's sandbox.
 */
const signIn = { issuer: 'https://login.example.nl', clientId: 'portal', clientSecretName: 'portal-client' };
const flawed = new App({ outdir: mkdtempSync(join(assemblies, 'flawed-')), treeMetadata: false });
const planted = new Stack(flawed, 'planted');
new CfnBucket(planted, 'Bucket');
new CfnTable(planted, 'Table', { keySchema: [], tableClass: 'CHEAP' });

const apps: Record<string, App> = {
  // `npm run synth` judges the configuration of cdk.json; the first two have every option that adds resources. The one
  // with all types of resources comes first: the check keeps its engine, whose start takes a second, for fewer types.
  userPool: app({ ...everything, stage: 'acceptance', portal }),
  ...(isFullSweep && { provider: app({ ...everything, portal: { ...portal, signIn } }) }),
  flawed,
};

delete process.env.CDK_VALIDATION;
const reports: Record<string, unknown> = {};
for (const [name, checked] of Object.entries(apps)) reports[name] = await findings(checked);
process.stdout.write(JSON.stringify(reports));

async function findings(checked: App): Promise<{ plugins: string[]; found: string[] }> {
  const report = join(checked.outdir, 'validation-report.json');
  await addChecks(checked);
  try {
    checked.synth();
  } catch (error) {
    if (!existsSync(report)) throw error;
  }
  type Report = { pluginReports: { pluginName: string; violations: { ruleName: string; description: string }[] }[] };
  const { pluginReports }: Report = JSON.parse(readFileSync(report, 'utf8'));
  return {
    plugins: pluginReports.map(({ pluginName }) => pluginName),
    found: pluginReports.flatMap(({ violations }) =>
      violations.map(({ ruleName, description }) => `${ruleName}: ${description}`),
    ),
  };
}
