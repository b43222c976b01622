import { type App, Validations } from 'aws-cdk-lib';

/**
 * Has cdk-nag judge every template at synth, where a finding that nobody acknowledged is an error. `CDK_VALIDATION=false`
 * leaves this out along with the checks that the CDK has built in: a synth for local use is quicker that way.
 */
export async function addChecks(app: App): Promise<void> {
  if (process.env.CDK_VALIDATION === 'false') return;
  const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
