import { App, type AppProps, Validations } from 'aws-cdk-lib';
import { FLAGS } from 'aws-cdk-lib/cx-api';
import { isReleased } from '../lib/shared/bundle.ts';
import { featureFlags } from '../operator/config/feature-flags.ts';
import { parseConfig } from '../operator/config/parse-config.ts';
import { readSettings, type SettingsFile } from '../operator/config/settings.ts';
import { addStacks } from './constructs.ts';

/**
 * The app with its stacks, from the settings in the context and in `file`.
 * @throws ConfigError if they are invalid
 */
export function bagAdresApp({ context, ...props }: AppProps = {}, file?: SettingsFile): App {
  const app = new App({
    analyticsReporting: false,
    ...props,
    context: { ...otherFlags(), ...featureFlags, ...context },
  });
  const { record, source } = readSettings(app.node.getAllContext(), file);
  const config = parseConfig(record, source);
  addStacks(app, config);
  return app;
}

/**
 * The flags that this project leaves to the CDK, each at its default there. Its command line would
 * otherwise report them after every command, as if the operator had to do something about them.
 */
function otherFlags(): Record<string, unknown> {
  const usual = Object.entries(FLAGS).map(([name, flag]) => ({
    name,
    ...flag,
    value: flag.unconfiguredBehavesLike?.v2 ?? false,
  }));
  return Object.fromEntries(
    usual
      .filter(({ value, recommendedValue }) => value !== recommendedValue)
      .map(({ name, value }) => [name, value]),
  );
}

/**
 * Checks every template with cdk-nag at synth; a finding that is not acknowledged is an error.
 * `CDK_VALIDATION=false` skips this and the CDK's built-in checks, which makes a synth for local
 * use faster. An installed package leaves cdk-nag out: the tests of its release have run it.
 */
export async function addChecks(app: App): Promise<void> {
  if (process.env.CDK_VALIDATION === 'false' || isReleased) return;
  const { AwsSolutionsChecks, ServerlessChecks } = await import('cdk-nag');
  Validations.of(app).addPlugins(new AwsSolutionsChecks(app), new ServerlessChecks(app));
}
