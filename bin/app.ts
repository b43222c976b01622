import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from '../lib/config/config-error.ts';
import { readSettingsFile } from '../operator/config/settings.ts';
import { addChecks, bagAdresApp } from './stacks.ts';

/**
 * The props of the app: none under the CDK command line, which passes context and output folder
 * itself.
 */
function appProps() {
  if (process.env.CDK_CONTEXT_JSON !== undefined) return {};
  // Run by local/launch.js, which is faster, it reads cdk.json as the CDK command line does.
  const root = resolve(import.meta.dirname, '..');
  const { output, context } = JSON.parse(readFileSync(resolve(root, 'cdk.json'), 'utf8'));
  return { outdir: process.env.CDK_OUTDIR ?? resolve(root, output), context };
}

try {
  // The CDK runs an app in the folder of its cdk.json.
  const app = bagAdresApp(appProps(), readSettingsFile(process.cwd()));
  await addChecks(app);
  app.synth();
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
