import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import {
  environmentsOf,
  everything,
  ofType,
  otherwise,
  portal,
  propertiesOf,
  type Template,
  templates,
} from '../synthesized.ts';

describe('the service stack', () => {
  let service: Template;
  let trial: Template;
  let other: Template;

  beforeAll(async () => {
    service = (await templates()).service;
    other = (await templates(otherwise)).service;
    trial = (await templates(everything)).service;
  });

  const properties = (type: string, template = service) => propertiesOf(template, type);

  it.each([
    ['the reference page at /docs, unless turned off', 'REFERENCE_PAGE', 'off'],
    ['the test addresses, unless turned off', 'TEST_ADDRESSES', 'off'],
    ['objects only if turned on', 'DATASET_OBJECTEN', 'on'],
    ['a public URL only if configured', 'PUBLIC_URL', otherwise.api.publicUrl],
  ])('has %s', (_, name, value) => {
    const having = (template: Template) =>
      environmentsOf(template).filter(([, { [name]: set }]) => set === value);
    expect([having(service).length, having(other).length]).toEqual([0, 2]);
  });

  it('tells its pages who runs it, and where the portal is', async () => {
    const branding = { name: 'Example BV', terms: 'https://www.example.nl/terms' };
    const template = (await templates({ branding, portal })).service;
    const pages = environmentsOf(template).flatMap(([, { BRANDING }]) =>
      BRANDING ? [JSON.parse(BRANDING)] : [],
    );
    expect(pages).toEqual([
      { ...branding, colour: '#0b4f8a', portalUrl: 'https://portal.example.nl' },
    ]);
  });

  it('has no CORS', () => {
    const [api] = properties('AWS::ApiGatewayV2::Api');
    expect(api).not.toHaveProperty('CorsConfiguration');
  });

  it("throttles each route separately, as configured, so that junk can't use up the throttle of lookups", () => {
    const others = { ThrottlingRateLimit: 20, ThrottlingBurstLimit: 40 };
    const [[, stage] = []] = Object.entries(ofType(service, 'AWS::ApiGatewayV2::Stage'));
    expect(stage?.Properties).toMatchObject({
      StageName: '$default',
      DefaultRouteSettings: others,
      RouteSettings: {
        'ANY /v1/address': { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
        'ANY /v1/addresses': { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
        'ANY /v1/auth/validate': others,
        $default: others,
      },
    });
    const routes = ofType(service, 'AWS::ApiGatewayV2::Route');
    const keys = properties('AWS::ApiGatewayV2::Route').map(({ RouteKey }) => RouteKey);
    expect(Object.keys(stage?.Properties?.RouteSettings as object).sort()).toEqual(keys.sort());
    // API Gateway refuses settings of a route that does not exist yet.
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(Object.keys(routes)));
  });

  it('logs requests without header, query, path or response, which could contain a key, a label or an address', () => {
    const [stage] = properties('AWS::ApiGatewayV2::Stage');
    const settings = stage?.AccessLogSettings as { Format: string } | undefined;
    const logged =
      'error.responseType identity.sourceIp integration.integrationStatus integrationLatency requestId';
    expect(Object.values(JSON.parse(settings?.Format ?? '{}')).sort()).toEqual(
      `${logged} responseLatency responseLength routeKey status`
        .split(' ')
        .map((name) => `$context.${name}`),
    );
  });

  it('runs both functions on Node 24 and arm64, with a timeout above their own deadline and platform logs from WARN', () => {
    const functions = properties('AWS::Lambda::Function');
    const answering = functions.filter(({ Timeout }) => Timeout === 6);
    const LoggingConfig = { LogFormat: 'JSON', SystemLogLevel: 'WARN' };
    expect(answering).toHaveLength(2);
    for (const lambda of answering) {
      expect(lambda).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        LoggingConfig,
      });
    }
    for (const lambda of functions) expect(lambda).not.toHaveProperty('TracingConfig');
    for (const lambda of properties('AWS::Lambda::Function', trial)) {
      expect(lambda).toMatchObject({ TracingConfig: { Mode: 'Active' } });
    }
  });

  it('deploys a new version as a canary, and rolls it back on an alarm on 5xx or latency', () => {
    const groups = properties('AWS::CodeDeploy::DeploymentGroup');
    expect(groups).toHaveLength(2);
    for (const group of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: {
          Enabled: true,
          Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']),
        },
        AlarmConfiguration: { Enabled: true },
      });
    }
    expect(JSON.stringify(groups[0]?.AlarmConfiguration)).toMatch(/ServerErrors.*SlowAnswers/);
    for (const alias of Object.values(ofType(service, 'AWS::Lambda::Alias'))) {
      expect(alias.UpdatePolicy).toHaveProperty('CodeDeployLambdaAliasUpdate.DeploymentGroupName');
    }
  });

  it('also rolls back on the alarm of the configured canary', async () => {
    const withCanary = (await templates({ canary: everything.canary })).service;
    const [address, validate] = properties('AWS::CodeDeploy::DeploymentGroup', withCanary);
    expect(JSON.stringify(address?.AlarmConfiguration)).toContain('CanaryFailed');
    expect(JSON.stringify(validate?.AlarmConfiguration)).not.toContain('CanaryFailed');
  });

  it.each([false, true])(
    'lets callers, the portal and, if asked (%s), the canary use the public URL',
    async (usesPublicUrl) => {
      const canary = { ...everything.canary, usesPublicUrl };
      const { all } = await templates({ ...otherwise, portal, canary });
      const functions = Object.values(all).flatMap((template) =>
        environmentsOf(template).map(([, variables]) => variables),
      );
      const own = `https://${otherwise.domain.name}`;
      const { publicUrl } = otherwise.api;
      const called = functions.flatMap(({ CANARY_URL }) => CANARY_URL ?? []);
      expect(called).toEqual([expect.stringContaining(usesPublicUrl ? publicUrl : own)]);
      expect(all.service?.Outputs?.BaseUrl?.Value).toBe(own);
      const shown = functions.flatMap(({ PORTAL }) => (PORTAL ? JSON.stringify(PORTAL) : []));
      expect(shown).toEqual([expect.stringContaining(publicUrl)]);
      expect(shown.join()).not.toContain(own);
    },
  );

  it("keeps the default endpoint besides the operator's domain if configured", () => {
    expect(properties('AWS::ApiGatewayV2::Api', other)).toMatchObject([
      { DisableExecuteApiEndpoint: false },
    ]);
  });

  it('deploys all at once and ignores the alarms in an emergency', () => {
    const groups = properties('AWS::CodeDeploy::DeploymentGroup', other);
    expect(groups).toHaveLength(2);
    for (const group of groups) {
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
        AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE'] },
        AlarmConfiguration: { Enabled: false },
      });
    }
  });

  it('retains earlier versions of a function, so that the alias can roll back at once', () => {
    const versions = Object.values(ofType(service, 'AWS::Lambda::Version'));
    expect(versions).toHaveLength(2);
    for (const version of [...versions, ...Object.values(ofType(trial, 'AWS::Lambda::Version'))]) {
      expect(version).toMatchObject({
        DeletionPolicy: 'RetainExceptOnCreate',
        UpdateReplacePolicy: 'Retain',
      });
    }
  });

  it('keeps logs for the configured time', () => {
    const groups = properties('AWS::Logs::LogGroup');
    expect(groups).toHaveLength(4);
    for (const group of groups) expect(group.RetentionInDays).toBe(30);
  });

  it("names the access log so that it needs no entry in the account's resource policy", () => {
    const named = properties('AWS::Logs::LogGroup').flatMap(
      ({ LogGroupName }) => LogGroupName ?? [],
    );
    expect(named).toHaveLength(1);
    expect(JSON.stringify(named[0])).toContain('/aws/vendedlogs/bag-adres-prod-service/access-');
    expect(JSON.stringify(named[0])).toContain('AWS::StackId');
  });

  it("responds only at the operator's domain, over TLS 1.2, if one is configured", () => {
    expect(properties('AWS::ApiGatewayV2::Api', trial)).toMatchObject([
      { DisableExecuteApiEndpoint: true },
    ]);
    expect(properties('AWS::ApiGatewayV2::DomainName', trial)).toMatchObject([
      { DomainName: 'adres.example.nl', DomainNameConfigurations: [{ SecurityPolicy: 'TLS_1_2' }] },
    ]);
    expect(
      properties('AWS::Route53::RecordSet', trial).map(({ Type, Name }) => [Type, Name]),
    ).toEqual([
      ['A', 'adres.example.nl.'],
      ['AAAA', 'adres.example.nl.'],
    ]);
    expect(trial.Outputs?.BaseUrl?.Value).toBe('https://adres.example.nl');
    expect(JSON.stringify(service.Outputs?.BaseUrl?.Value)).toContain('"ApiEndpoint"');
  });

  it("encrypts logs and environment variables with the operator's key", () => {
    for (const group of properties('AWS::Logs::LogGroup', trial)) {
      expect(group.KmsKeyId).toBeDefined();
    }
    for (const lambda of properties('AWS::Lambda::Function', trial)) {
      expect(lambda.KmsKeyArn).toBeDefined();
    }
  });

  it('has a configured dashboard of existing metrics, and an output with its URL', () => {
    expect(properties('AWS::CloudWatch::Dashboard')).toEqual([]);
    const body = JSON.stringify(properties('AWS::CloudWatch::Dashboard', trial)[0]?.DashboardBody);
    for (const metric of ['Requests', 'Latency', '5xx', 'Errors', 'ReadThrottleEvents']) {
      expect(body).toContain(metric);
    }
    expect(JSON.stringify(trial.Outputs?.DashboardUrl?.Value)).toContain('#dashboards/dashboard/');
  });

  it('has a budget that writes at 80% and at 100% of the costs, and when the forecast exceeds them, to whom alarms go', () => {
    const Subscribers = [{ SubscriptionType: 'EMAIL', Address: 'beheer@example.nl' }];
    expect(properties('AWS::Budgets::Budget', trial)).toMatchObject([
      {
        Budget: {
          BudgetLimit: { Amount: 200, Unit: 'USD' },
          TimeUnit: 'MONTHLY',
          BudgetType: 'COST',
        },
        NotificationsWithSubscribers: [
          { Notification: { NotificationType: 'ACTUAL', Threshold: 80 }, Subscribers },
          { Notification: { NotificationType: 'FORECASTED', Threshold: 100 }, Subscribers },
          { Notification: { NotificationType: 'ACTUAL', Threshold: 100 }, Subscribers },
        ],
      },
    ]);
  });

  it('has a budget only if it is configured, with somebody to write to', () => {
    expect(ofType(service, 'AWS::Budgets::Budget')).toEqual({});
    expect(() => parseConfig({ budget: { usdPerMonth: 50 } })).toThrow(
      'Set bagAdres.budget.email or bagAdres.alarmEmail',
    );
    const email = 'geld@example.nl';
    expect(parseConfig({ budget: { usdPerMonth: 50, email } }).budget?.email).toBe(email);
    expect(() => parseConfig({ budget: { usdPerMonth: 0, email } })).toThrow('budget.usdPerMonth');
  });
});
