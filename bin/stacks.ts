import { Annotations, App, type AppProps, CfnOutput, type Stack, Tags, Validations } from 'aws-cdk-lib';
import { RegionInfo } from 'aws-cdk-lib/region-info';
import { deploymentName, packageVersion, portalStackName, stackNames } from '../lib/config/deployment.ts';
import { parseConfig, readContext } from '../lib/config/parse-config.ts';
import { DataStack } from '../lib/data/data-stack.ts';
import { LoaderStack } from '../lib/loader/loader-stack.ts';
import { ServiceStack } from '../lib/service/service-stack.ts';
import { PortalStack } from '../portal/stack/portal-stack.ts';

/** The app with its stacks, from the configuration in the context; throws ConfigError if that is invalid. */
export function bagAdresApp(props: AppProps = {}): App {
  const app = new App({ analyticsReporting: false, ...props });
  const config = parseConfig(readContext(app.node.getAllContext()));
  const names = stackNames(deploymentName(config.stage));
  const data = new DataStack(app, names.data, { config, stackName: names.data });
  const service = new ServiceStack(app, names.service, { config, stackName: names.service, data });
  const loader = new LoaderStack(app, names.loader, { config, stackName: names.loader, data });
  const withCode: Stack[] = [service, loader];
  if (config.portal) {
    const stackName = portalStackName(deploymentName(config.stage));
    const { bucket, stateMachineArn } = loader;
    const { baseUrl: apiUrl } = service;
    const portal = new PortalStack(app, stackName, {
      config,
      portal: config.portal,
      stackName,
      data,
      apiUrl,
      loads: { bucket, stateMachineArn },
    });
    withCode.push(portal);
  }
  // `doctor` compares it with its own version.
  new CfnOutput(service, 'Version', { value: packageVersion() });
  for (const [key, value] of Object.entries({ application: 'bag-adres', stage: config.stage, ...config.tags }))
    Tags.of(app).add(key, value);
  // Not on the data stack, so that a new version leaves its template, and with it the tables, as it is.
  for (const stack of withCode) Tags.of(stack).add('version', packageVersion());
  if (!RegionInfo.regions.some(({ name }) => name === config.region))
    Annotations.of(data).addWarningV2(
      'bag-adres:unknownRegion',
      `bagAdres.region is "${config.region}", which the CDK does not know: check its spelling. A region that is newer than the CDK may work.`,
    );
  return app;
}

/**
 * Checks every template with cdk-nag at synth; a finding that is not acknowledged is an error. `CDK_VALIDATION=false` skips
 * this and the CDK's built-in checks, which makes a synth for local use faster.
 */
export async function addChecks(app: App): Promise<void> {
  if (process.env.CDK_VALIDATION === 'false') return;
  const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
