import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import { everything, ofType, otherwise, portal, type Template, templates } from '../synthesized.ts';

describe('the service stack', () => {
  let service: Template;
  let trial: Template;
  let other: Template;

  beforeAll(async () => {
    service = (await templates()).service;
    other = (await templates(otherwise)).service;
    trial = (await templates(everything)).service;
  });

  function properties(type: string, template = service): Record<string, unknown>[] {
    return Object.values(ofType(template, type)).map(({ Properties = {} }) => Properties);
  }

  /** The functions that answer requests: all but the usage job. */
  function answering(template: Template): Record<string, unknown>[] {
    return properties('AWS::Lambda::Function', template).filter(({ Timeout }) => Timeout === 6);
  }

  it.each([
    ['the reference page at /docs, unless turned off', '"REFERENCE_PAGE":"off"'],
    ['the test addresses, unless turned off', '"TEST_ADDRESSES":"off"'],
    ['objects only if turned on', '"DATASET_OBJECTEN":"on"'],
  ])('has %s', (_, variable) => {
    const having = (template: Template) =>
      properties('AWS::Lambda::Function', template).filter(({ Environment }) =>
        JSON.stringify(Environment)?.includes(variable),
      );
    expect([having(service).length, having(other).length]).toEqual([0, 2]);
  });

  it('tells its pages who runs it, and where the portal is', async () => {
    const branding = { name: 'Example BV', terms: 'https://www.example.nl/terms' };
    const template = (await templates({ branding, portal })).service;
    const variables = properties('AWS::Lambda::Function', template).flatMap(({ Environment }) => {
      const { BRANDING } = (Environment as { Variables: Record<string, string> } | undefined)?.Variables ?? {};
      return BRANDING === undefined ? [] : [JSON.parse(BRANDING)];
    });
    expect(variables).toEqual([{ ...branding, colour: '#0b4f8a', portalUrl: 'https://portal.example.nl' }]);
  });

  it('has no CORS', () => {
    expect(properties('AWS::ApiGatewayV2::Api')).toEqual([
      expect.not.objectContaining({ CorsConfiguration: expect.anything() }),
    ]);
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
    expect(Object.keys(stage?.Properties?.RouteSettings as object).sort()).toEqual(
      Object.values(routes)
        .map(({ Properties }) => Properties?.RouteKey)
        .sort(),
    );
    // API Gateway refuses settings of a route that does not exist yet.
    expect(stage?.DependsOn).toEqual(expect.arrayContaining(Object.keys(routes)));
  });

  it('logs requests without header, query, path or response, which could contain a key, a label or an address', () => {
    const [stage] = properties('AWS::ApiGatewayV2::Stage');
    const settings = stage?.AccessLogSettings as { Format: string } | undefined;
    expect(Object.values(JSON.parse(settings?.Format ?? '{}')).sort()).toEqual([
      '$context.error.responseType',
      '$context.identity.sourceIp',
      '$context.integration.integrationStatus',
      '$context.integrationLatency',
      '$context.requestId',
      '$context.responseLatency',
      '$context.responseLength',
      '$context.routeKey',
      '$context.status',
    ]);
  });

  it('runs both functions on Node 24 and arm64, with a timeout above their own deadline and platform logs from WARN', () => {
    const functions = properties('AWS::Lambda::Function');
    expect(answering(service)).toHaveLength(2);
    for (const lambda of answering(service))
      expect(lambda).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Timeout: 6,
        LoggingConfig: { LogFormat: 'JSON', SystemLogLevel: 'WARN' },
      });
    for (const lambda of functions) expect(lambda).not.toHaveProperty('TracingConfig');
    for (const lambda of properties('AWS::Lambda::Function', trial))
      expect(lambda).toMatchObject({ TracingConfig: { Mode: 'Active' } });
  });

  it('deploys a new version as a canary, and rolls it back on an alarm on 5xx or latency', () => {
    const groups = properties('AWS::CodeDeploy::DeploymentGroup');
    expect(groups).toHaveLength(2);
    for (const group of groups)
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaCanary10Percent5Minutes',
        AutoRollbackConfiguration: { Enabled: true, Events: expect.arrayContaining(['DEPLOYMENT_STOP_ON_ALARM']) },
        AlarmConfiguration: { Enabled: true },
      });
    expect(JSON.stringify(groups[0]?.AlarmConfiguration)).toMatch(/ServerErrors.*SlowAnswers/);
    for (const alias of Object.values(ofType(service, 'AWS::Lambda::Alias')))
      expect(alias.UpdatePolicy).toHaveProperty('CodeDeployLambdaAliasUpdate.DeploymentGroupName');
  });

  it('also rolls back on the alarm of the configured canary', async () => {
    const withCanary = (await templates({ canary: everything.canary })).service;
    const [address, validate] = properties('AWS::CodeDeploy::DeploymentGroup', withCanary);
    expect(JSON.stringify(address?.AlarmConfiguration)).toContain('CanaryFailed');
    expect(JSON.stringify(validate?.AlarmConfiguration)).not.toContain('CanaryFailed');
  });

  it("keeps the default endpoint besides the operator's domain if configured", () => {
    expect(properties('AWS::ApiGatewayV2::Api', other)).toMatchObject([{ DisableExecuteApiEndpoint: false }]);
  });

  it('deploys all at once and ignores the alarms in an emergency', () => {
    const groups = properties('AWS::CodeDeploy::DeploymentGroup', other);
    expect(groups).toHaveLength(2);
    for (const group of groups)
      expect(group).toMatchObject({
        DeploymentConfigName: 'CodeDeployDefault.LambdaAllAtOnce',
        AutoRollbackConfiguration: { Enabled: true, Events: ['DEPLOYMENT_FAILURE'] },
        AlarmConfiguration: { Enabled: false },
      });
  });

  it('retains earlier versions of a function, so that the alias can roll back at once', () => {
    const versions = Object.values(ofType(service, 'AWS::Lambda::Version'));
    expect(versions).toHaveLength(2);
    for (const version of [...versions, ...Object.values(ofType(trial, 'AWS::Lambda::Version'))])
      expect(version).toMatchObject({ DeletionPolicy: 'RetainExceptOnCreate', UpdateReplacePolicy: 'Retain' });
  });

  it('keeps logs for the configured time', () => {
    const groups = properties('AWS::Logs::LogGroup');
    expect(groups).toHaveLength(4);
    for (const group of groups) expect(group.RetentionInDays).toBe(30);
  });

  it("names the access log so that it needs no entry in the account's resource policy", () => {
    const named = properties('AWS::Logs::LogGroup').flatMap(({ LogGroupName }) => LogGroupName ?? []);
    expect(named).toHaveLength(1);
    expect(JSON.stringify(named[0])).toContain('/aws/vendedlogs/bag-adres-prod-service/access-');
    expect(JSON.stringify(named[0])).toContain('AWS::StackId');
  });

  it("responds only at the operator's domain, over TLS 1.2, if one is configured", () => {
    expect(properties('AWS::ApiGatewayV2::Api', trial)).toEqual([
      expect.objectContaining({ DisableExecuteApiEndpoint: true }),
    ]);
    expect(properties('AWS::ApiGatewayV2::DomainName', trial)).toEqual([
      expect.objectContaining({
        DomainName: 'adres.example.nl',
        DomainNameConfigurations: [expect.objectContaining({ SecurityPolicy: 'TLS_1_2' })],
      }),
    ]);
    expect(properties('AWS::Route53::RecordSet', trial).map(({ Type, Name }) => [Type, Name])).toEqual([
      ['A', 'adres.example.nl.'],
      ['AAAA', 'adres.example.nl.'],
    ]);
    expect(trial.Outputs?.BaseUrl?.Value).toBe('https://adres.example.nl');
    expect(JSON.stringify(service.Outputs?.BaseUrl?.Value)).toContain('"ApiEndpoint"');
  });

  it("encrypts logs and environment variables with the operator's key", () => {
    for (const group of properties('AWS::Logs::LogGroup', trial)) expect(group.KmsKeyId).toBeDefined();
    for (const lambda of properties('AWS::Lambda::Function', trial)) expect(lambda.KmsKeyArn).toBeDefined();
  });

  it('has a configured dashboard of existing metrics, and an output with its URL', () => {
    expect(properties('AWS::CloudWatch::Dashboard')).toEqual([]);
    const body = JSON.stringify(properties('AWS::CloudWatch::Dashboard', trial)[0]?.DashboardBody);
    for (const metric of ['Requests', 'Latency', '5xx', 'Errors', 'ReadThrottleEvents']) expect(body).toContain(metric);
    expect(JSON.stringify(trial.Outputs?.DashboardUrl?.Value)).toContain('#dashboards/dashboard/');
  });

  it('has a budget that writes at 80% and at 100% of the costs, and when the forecast exceeds them, to whom alarms go', () => {
    const [budget] = Object.values(ofType(trial, 'AWS::Budgets::Budget'));
    const { Budget, NotificationsWithSubscribers } = (budget?.Properties ?? {}) as {
      Budget: object;
      NotificationsWithSubscribers: { Notification: object; Subscribers: object[] }[];
    };
    expect(Budget).toMatchObject({
      BudgetLimit: { Amount: 200, Unit: 'USD' },
      TimeUnit: 'MONTHLY',
      BudgetType: 'COST',
    });
    expect(NotificationsWithSubscribers.map(({ Notification }) => Notification)).toMatchObject([
      { NotificationType: 'ACTUAL', Threshold: 80 },
      { NotificationType: 'FORECASTED', Threshold: 100 },
      { NotificationType: 'ACTUAL', Threshold: 100 },
    ]);
    for (const { Subscribers } of NotificationsWithSubscribers)
      expect(Subscribers).toEqual([{ SubscriptionType: 'EMAIL', Address: 'beheer@example.nl' }]);
  });

  it('has a budget only if it is configured, with somebody to write to', () => {
    expect(ofType(service, 'AWS::Budgets::Budget')).toEqual({});
    expect(() => parseConfig({ budget: { usdPerMonth: 50 } })).toThrow(
      'Set bagAdres.budget.email or bagAdres.alarmEmail',
    );
    expect(parseConfig({ budget: { usdPerMonth: 50, email: 'geld@example.nl' } }).budget?.email).toBe(
      'geld@example.nl',
    );
    expect(() => parseConfig({ budget: { usdPerMonth: 0, email: 'geld@example.nl' } })).toThrow('budget.usdPerMonth');
  });
});
