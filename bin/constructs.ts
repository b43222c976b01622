import { Aspects, CfnOutput, Tags } from 'aws-cdk-lib';
import type { IHttpApi } from 'aws-cdk-lib/aws-apigatewayv2';
import type { ITable } from 'aws-cdk-lib/aws-dynamodb';
import type { IGrantable } from 'aws-cdk-lib/aws-iam';
import { Construct, type IConstruct } from 'constructs';
import { storedLayout } from '../core/tables.ts';
import type { Config, ConfigInput } from '../lib/config/config-schema.ts';
import {
  deploymentName,
  packageVersion,
  portalStackName,
  stackNames,
  templateMetadata,
} from '../lib/config/deployment.ts';
import { DataStack } from '../lib/data/data-stack.ts';
import { LoaderStack } from '../lib/loader/loader-stack.ts';
import { ServiceStack } from '../lib/service/service-stack.ts';
import { grantTable, TrustOwnAccount } from '../lib/shared/grants.ts';
import { chargeOperations } from '../lib/shared/routes.ts';
import { featureFlags } from '../operator/config/feature-flags.ts';
import { parseConfig } from '../operator/config/parse-config.ts';
import { PortalStack } from '../portal/stack/portal-stack.ts';

/** The stacks besides the data stack, which they all need. */
export type BagAdresPart = 'service' | 'loader' | 'portal';

/**
 * The configuration, with the names of `bag-adres.json` (docs/configuration.md). Everything has a
 * default.
 */
export type BagAdresProps = ConfigInput & {
  /**
   * The stacks to create beside the data stack. By default all: the portal only if it is
   * configured.
   */
  parts?: readonly BagAdresPart[];
};

/** The stacks of one deployment. */
export type BagAdresStacks = {
  readonly data: DataStack;
  readonly service: ServiceStack | undefined;
  readonly loader: LoaderStack | undefined;
  readonly portal: PortalStack | undefined;
};

/** The HTTP interface, for other stacks of the app. */
export type BagAdresApi = {
  /** The URL that callers use, without a slash at the end. */
  readonly url: string;
  readonly httpApi: IHttpApi;
};

/** The accounts, their keys and their quotas, for other stacks of the app. */
export type BagAdresAccounts = {
  readonly table: ITable;
  /**
   * Allows what checking a key and counting a request takes, as the service itself does it; nothing
   * else.
   */
  grantCharge(grantee: IGrantable): void;
};

/** The addresses, for other stacks of the app. */
export type BagAdresAddresses = {
  readonly table: ITable;
  /** Allows lookups. */
  grantRead(grantee: IGrantable): void;
};

/**
 * The address service inside an app of your own: its stacks, in the region and account of the
 * props. It reads no context and no environment variable. Two constructs in one app differ in
 * `stage`, `region` or `account`.
 *
 * ```ts
 * const settings = { stage: 'test', alarmEmail: 'beheer@example.nl' };
 * const bagAdres = new BagAdres(app, 'BagAdres', settings);
 * bagAdres.accounts.grantCharge(gateway);
 * ```
 */
export class BagAdres extends Construct {
  readonly data: DataStack;
  /** The stack with the HTTP interface, unless `parts` leaves it out. */
  readonly service: ServiceStack | undefined;
  /** The stack that loads the register, unless `parts` leaves it out. */
  readonly loader: LoaderStack | undefined;
  /** The stack of the customer portal, if it is configured. */
  readonly portal: PortalStack | undefined;
  readonly accounts: BagAdresAccounts;
  readonly addresses: BagAdresAddresses;

  /** @throws ConfigError that names each invalid prop and its allowed values */
  constructor(scope: Construct, id: string, { parts, ...settings }: BagAdresProps = {}) {
    super(scope, id);
    const config = parseConfig(settings, `the props of ${this.node.path}`);
    for (const [flag, value] of Object.entries(featureFlags)) this.node.setContext(flag, value);
    const { data, service, loader, portal } = addStacks(this, config, parts);
    this.data = data;
    this.service = service;
    this.loader = loader;
    this.portal = portal;
    this.accounts = {
      table: data.accounts,
      grantCharge: (grantee) => grantTable(data.accounts, grantee, ...chargeOperations),
    };
    this.addresses = {
      table: data.addresses,
      grantRead: (grantee) => grantTable(data.addresses, grantee, 'GetItem', 'BatchGetItem'),
    };
  }

  /** The HTTP interface. @throws Error if `parts` leaves it out */
  get api(): BagAdresApi {
    if (!this.service) throw new Error(`${this.node.path} has no API: add 'service' to its parts.`);
    return { url: this.service.publicUrl, httpApi: this.service.httpApi };
  }
}

/**
 * Adds the stacks of a configuration to `scope`. @throws Error for a portal without the parts that
 * it needs
 */
export function addStacks(
  scope: Construct,
  config: Config,
  parts?: readonly BagAdresPart[],
): BagAdresStacks {
  const has = (part: BagAdresPart) => parts?.includes(part) ?? true;
  const names = stackNames(deploymentName(config.stage));
  const data = new DataStack(scope, names.data, { config, stackName: names.data });
  refuseSecond(data);
  const propsOf = (part: 'service' | 'loader') => ({ config, stackName: names[part], data });
  const service = has('service')
    ? new ServiceStack(scope, names.service, propsOf('service'))
    : undefined;
  const loader = has('loader')
    ? new LoaderStack(scope, names.loader, propsOf('loader'))
    : undefined;
  const portal = has('portal') ? addPortal(scope, config, { data, service, loader }) : undefined;
  if (parts?.includes('portal') && !portal) {
    throw new Error("parts has 'portal': configure it in `portal` too.");
  }
  // `doctor` compares it with its own version.
  if (service) new CfnOutput(service, 'Version', { value: packageVersion() });
  const stacks = [data, service, loader, portal].filter((stack) => stack !== undefined);
  const tags = { application: 'bag-adres', stage: config.stage, ...config.tags };
  for (const stack of stacks) {
    stack.addMetadata(templateMetadata, { layout: storedLayout });
    Aspects.of(stack).add(new TrustOwnAccount());
    for (const [key, value] of Object.entries(tags)) Tags.of(stack).add(key, value);
    // On functions only, which a new version changes anyway, so that the diff of an upgrade shows
    // what else it changes.
    Tags.of(stack).add('version', packageVersion(), {
      includeResourceTypes: ['AWS::Lambda::Function'],
    });
  }
  return { data, service, loader, portal };
}

/** Two deployments of one stage would be the same stacks: the second would overwrite the first. */
function refuseSecond(data: DataStack): void {
  const isSame = (other: IConstruct): other is DataStack =>
    other instanceof DataStack &&
    other.stackName === data.stackName &&
    other.environment === data.environment;
  const first = data.node.root.node.findAll().find((other) => other !== data && isSame(other));
  if (!first) return;
  const [here, there] = [data, first].map(({ node }) => node.scope?.node.path);
  throw new Error(
    `${here} and ${there} would both be deployed as ${data.stackName} and so on, to the same region and account. Give one of the two another "stage".`,
  );
}

type PortalNeeds = Pick<BagAdresStacks, 'data' | 'service' | 'loader'>;

function addPortal(
  scope: Construct,
  config: Config,
  { data, service, loader }: PortalNeeds,
): PortalStack | undefined {
  if (!config.portal) return undefined;
  if (!service || !loader) throw new Error("A portal needs the parts 'service' and 'loader'.");
  const stackName = portalStackName(deploymentName(config.stage));
  const { bucket, stateMachineArn, stateMachineName } = loader;
  return new PortalStack(scope, stackName, {
    config,
    portal: config.portal,
    stackName,
    data,
    apiUrl: service.publicUrl,
    loads: { bucket, stateMachineArn, stateMachineName },
  });
}
