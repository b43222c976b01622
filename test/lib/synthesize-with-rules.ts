import { Stack } from 'aws-cdk-lib';
import { CfnBucket } from 'aws-cdk-lib/aws-s3';
import { addChecks } from '../../lib/app.ts';
import { app } from './synthesized.ts';

/**
 * Synthesizes each configuration of the JSON array in the first argument with every rule of `npm run synth`, and prints a JSON array with
 * what the rules report on each. The last one gets a stack that breaks rules. This is a process of its own because the rules take several
 * times longer inside Jest's sandbox.
 */
async function report(config: Record<string, unknown>, { planted = false } = {}): Promise<string> {
  const checked = app(config);
  if (planted) new CfnBucket(new Stack(checked, 'planted'), 'Bucket');
  delete process.env.CDK_VALIDATION;
  await addChecks(checked);
  try {
    checked.synth();
    return '';
  } catch (error) {
    return String(error);
  }
}

const reports: string[] = [];
for (const config of JSON.parse(process.argv[2] ?? '[]')) reports.push(await report(config));
reports.push(await report({}, { planted: true }));
process.stdout.write(JSON.stringify(reports));
