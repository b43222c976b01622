import { App, type AppProps, Tags } from 'aws-cdk-lib';
import { parseConfig } from './config/parse-config.ts';
import { readContext } from './config/read-context.ts';
import { DataStack } from './data-stack.ts';
import { LoaderStack } from './loader-stack.ts';
import { ServiceStack } from './service-stack.ts';
import { stackNames } from './stack-names.ts';

/** The app with its stacks, as the context configures it; throws ConfigError where that can't be. */
export function bagAdresApp(props: AppProps = {}): App {
  const app = new App({ analyticsReporting: false, ...props });
  const config = parseConfig(readContext(app.node.getAllContext()));
  const names = stackNames(config.stage);
  const data = new DataStack(app, names.data, { config, stackName: names.data });
  new ServiceStack(app, names.service, { config, stackName: names.service, data });
  new LoaderStack(app, names.loader, { config, stackName: names.loader, data });
  for (const [key, value] of Object.entries({ application: 'bag-adres', stage: config.stage, ...config.tags }))
    Tags.of(app).add(key, value);
  return app;
}
