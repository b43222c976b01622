import { beforeAll, describe, expect, it } from '@jest/globals';
import { environment } from '../../../core/environment.ts';
import { pageRoutes } from '../../../portal/portal-app.ts';
import { everything, ofType, portal, type Template, templates } from '../../lib/synthesized.ts';
import { inSweep } from '../../support/in-sweep.ts';

const { domain } = portal;
const signIn = {
  issuer: 'https://login.example.nl',
  clientId: 'portal',
  clientSecretName: 'portal-client',
};
/** Nearly as many as are accepted. */
const operators = [
  ...portal.operators,
  ...Array.from(
    { length: 49 },
    (_, index) => `voornaam.achternaam-${index + 10}@sociaal.gemeente.example`,
  ),
];

async function portalStack(config: Record<string, unknown>) {
  const { stack } = await templates({ stage: 'trial', removalPolicy: 'destroy', ...config });
  return stack(`bag-adres-${config.stage ?? 'trial'}-portal`);
}

const allOf = (template: Template, type: string) => Object.values(ofType(template, type));

const portalTemplate = async (config: Record<string, unknown>) =>
  (await portalStack(config)).template;

describe('the stack of the portal', () => {
  let withProvider: Template;
  let withPool: Template;
  let ending: Template;
  let warnings: Record<'withProvider' | 'ending', string[]>;

  beforeAll(async () => {
    const unsaid = await portalStack({
      portal: { ...portal, operators, signIn },
      branding: { languages: ['en'] },
    });
    const said = await portalStack({
      portal: { ...portal, signIn: { ...signIn, clientSecretExpires: '2027-01-31' } },
    });
    [withProvider, ending] = [unsaid.template, said.template];
    const textOf = ({ messages }: typeof said) => messages.map(({ entry }) => String(entry.data));
    warnings = { withProvider: textOf(unsaid), ending: textOf(said) };
    withPool = await portalTemplate({ portal });
  });

  it('exists only if the portal is configured', async () => {
    expect(Object.keys((await templates()).all)).toEqual(['data', 'service', 'loader']);
  });

  it('fits into the environment of a function with as many operators as are accepted', () => {
    // What refers to other resources is at most as long as the ARN of a secret.
    const arn = `arn:aws:secretsmanager:ap-northeast-1:123456789012:secret:${'x'.repeat(64)}-AbCdEf`;
    const filledIn = (value: unknown): string => {
      if (typeof value === 'string') return value;
      const [[name, inner] = []] = Object.entries(value as Record<string, unknown>);
      return name === 'Fn::Join' ? (inner as [string, unknown[]])[1].map(filledIn).join('') : arn;
    };
    const [lambda] = allOf(withProvider, 'AWS::Lambda::Function').filter((one) =>
      JSON.stringify(one.Properties?.Environment).includes(environment.portal),
    );
    const environmentOf = lambda as unknown as {
      Properties: { Environment: { Variables: object } };
    };
    const { Variables } = environmentOf.Properties.Environment;
    const bytes = Buffer.byteLength(
      JSON.stringify(
        Object.fromEntries(
          Object.entries(Variables).map(([name, value]) => [name, filledIn(value)]),
        ),
      ),
    );
    // Nearly all of it is used, or the limit is lower than it has to be.
    expect(bytes).toBeLessThanOrEqual(4096);
    expect(bytes).toBeGreaterThan(3700);
  });

  it('has its own host name and no other endpoint, and a rate for pages, for sign-ins and for assets', () => {
    expect(allOf(withProvider, 'AWS::ApiGatewayV2::DomainName')).toMatchObject([
      { Properties: { DomainName: 'portal.example.nl' } },
    ]);
    expect(allOf(withProvider, 'AWS::ApiGatewayV2::Api')).toMatchObject([
      { Properties: { DisableExecuteApiEndpoint: true } },
    ]);
    expect(allOf(withProvider, 'AWS::ApiGatewayV2::Stage')).toMatchObject([
      {
        Properties: {
          DefaultRouteSettings: { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
          RouteSettings: {
            'GET /sign-in': { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
            'GET /callback': { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
            'GET /assets/{file+}': { ThrottlingRateLimit: 100, ThrottlingBurstLimit: 200 },
            'GET /accounts/{page+}': { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
            'POST /accounts/{page+}': { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
            'ANY /operator/{page+}': { ThrottlingRateLimit: 50, ThrottlingBurstLimit: 100 },
          },
        },
      },
    ]);
  });

  it('logs the path of each request, which names the account, without its query string', () => {
    const [stage] = allOf(withProvider, 'AWS::ApiGatewayV2::Stage');
    const settings = stage?.Properties?.AccessLogSettings as { Format: string } | undefined;
    const Format = settings?.Format ?? '';
    expect(JSON.parse(Format)).toMatchObject({
      path: '$context.path',
      ip: '$context.identity.sourceIp',
    });
    expect(Format).not.toMatch(/query|header|Cookie/i);
  });

  it('gives no page of an account to the route of the first page, which a stranger can exhaust', () => {
    const routes = allOf(withProvider, 'AWS::ApiGatewayV2::Route').map(({ Properties }) =>
      String(Properties?.RouteKey),
    );
    const [stage] = allOf(withProvider, 'AWS::ApiGatewayV2::Stage');
    expect(Object.keys(stage?.Properties?.RouteSettings as object).sort()).toEqual(
      routes.filter((key) => key !== '$default').sort(),
    );
    // As API Gateway matches: a greedy variable takes one segment or more.
    const routeOf = (method: string, path: string) =>
      routes.find((key) => {
        const [verb = '', pattern = ''] = key.split(' ');
        const start = pattern.replace(/\{.*$/, '');
        const isMatch = pattern.includes('+}')
          ? path.startsWith(start) && path.length > start.length
          : path === pattern;
        return (verb === 'ANY' || verb === method) && isMatch;
      }) ?? '$default';
    const onDefault = pageRoutes.map(({ method, path }) => [
      method,
      path,
      routeOf(method, path.replaceAll(/:\w+/g, 'x')),
    ]);
    expect(
      onDefault
        .filter(([, , route]) => route === '$default')
        .map(([, path]) => path)
        .sort(),
    ).toEqual(['/', '/help', '/sessions', '/sessions']);
  });

  it('has alarms for pages that fail or are throttled, a provider that refuses it, and what ends: certificate and client secret', () => {
    const alarmsOf = (template: Template) =>
      allOf(template, 'AWS::CloudWatch::Alarm').map(({ Properties }) => [
        /#(.*)$/.exec(String(Properties?.AlarmDescription))?.[1],
        Properties?.Threshold,
        Properties?.TreatMissingData,
      ]);
    const always = [
      ['certificate-ends', 45, 'ignore'],
      ['certificate-ends', 14, 'ignore'],
      ['portal-fails', 1, 'missing'],
      ['portal-throttled', 1, 'notBreaching'],
      ['portal-sign-in-fails', 1, 'notBreaching'],
    ];
    expect(alarmsOf(withProvider)).toEqual(always);
    expect(alarmsOf(ending)).toEqual([...always, ['client-secret-ends', 60, 'notBreaching']]);
    expect(ending.Outputs?.ClientSecretExpires?.Value).toBe('2027-01-31');
    expect(JSON.stringify(ofType(ending, 'AWS::Lambda::Function'))).toContain(
      '"PORTAL_CLIENT_SECRET_EXPIRES":"2027-01-31"',
    );
  });

  it('counts for the alarm what the function logs when the provider refuses it, not when it is down', () => {
    const [filter] = allOf(withProvider, 'AWS::Logs::MetricFilter');
    expect(filter?.Properties?.FilterPattern).toBe(
      '{ ($.provider = "*") && ($.provider != "unreachable") }',
    );
  });

  it('warns at synth of a client secret whose end nobody is told before', () => {
    expect(warnings.withProvider).toEqual([
      expect.stringContaining('set portal.signIn.clientSecretExpires'),
    ]);
    expect(warnings.ending).toEqual([]);
  });

  it('has its records in Route 53, or says which one to create elsewhere', async () => {
    const { hostedZoneId: _id, hostedZoneName: _name, ...elsewhere } = domain;
    const template = await portalTemplate({ portal: { ...portal, signIn, domain: elsewhere } });
    expect(Object.keys(ofType(template, 'AWS::Route53::RecordSet'))).toEqual([]);
    expect(JSON.stringify(template.Outputs?.DomainRecord)).toContain('portal.example.nl CNAME ');
    expect(Object.keys(ofType(withProvider, 'AWS::Route53::RecordSet'))).toHaveLength(2);
    expect(withProvider.Outputs?.DomainRecord).toBe(undefined);
  });

  it('passes the sign-in and operator settings to the function, and never a secret', () => {
    const lambda = allOf(withProvider, 'AWS::Lambda::Function').find(
      ({ Properties }) => Properties?.Description === 'The customer portal',
    );
    const { Variables } = (
      lambda as unknown as { Properties: { Environment: { Variables: object } } }
    ).Properties.Environment;
    const text = JSON.stringify(Variables);
    expect(Object.keys(Variables).sort()).toEqual(
      [
        environment.accountsTable,
        environment.loadMachine,
        environment.portal,
        environment.portalClientSecret,
        environment.portalSessionSecret,
        environment.snapshotBucket,
        environment.statementsBucket,
      ].sort(),
    );
    expect(text).toContain('olaf@example.nl');
    expect(text).toContain('https://login.example.nl');
    expect(text).toContain(String.raw`\"languages\":[\"en\"]`);
    expect(text).not.toContain('{{resolve:');
  });

  it('may only use accounts and plans, read statements, see loads that await approval, and start the state machine', () => {
    const ofPortal = Object.entries(ofType(withProvider, 'AWS::IAM::Policy')).filter(([id]) =>
      id.startsWith('Portal'),
    );
    const statements = ofPortal.flatMap(
      ([, { Properties }]) =>
        (
          Properties as {
            PolicyDocument: { Statement: { Action: string | string[]; Resource: unknown }[] };
          }
        ).PolicyDocument.Statement,
    );
    expect([...new Set(statements.flatMap(({ Action }) => Action))].sort()).toEqual([
      'dynamodb:BatchGetItem',
      'dynamodb:ConditionCheckItem',
      'dynamodb:DeleteItem',
      'dynamodb:GetItem',
      'dynamodb:PutItem',
      'dynamodb:Query',
      'dynamodb:UpdateItem',
      'events:PutEvents',
      'logs:CreateLogStream',
      'logs:PutLogEvents',
      's3:GetObject',
      's3:ListBucket',
      'secretsmanager:DescribeSecret',
      'secretsmanager:GetSecretValue',
      'states:DescribeExecution',
      'states:ListExecutions',
      'states:StartExecution',
    ]);
    const resourcesOf = (action: string) =>
      statements
        .filter(({ Action }) => [Action].flat().includes(action))
        .flatMap(({ Resource }) => Resource)
        .map((resource) => JSON.stringify(resource));
    expect(
      resourcesOf('s3:GetObject').map((resource) => /"(\/[^"]+)"\]\]\}$/.exec(resource)?.[1]),
    ).toEqual([
      '/statements/*',
      '/loads/*/csv/*',
      '/loads/*/proposal.json',
      '/manifest.copy.json',
      '/manifest.json',
    ]);
    expect(resourcesOf('states:StartExecution')).toEqual([expect.not.stringContaining('*')]);
    expect(resourcesOf('states:DescribeExecution')).toEqual([
      expect.stringMatching(/:approve-\*"\]\]\}$/),
    ]);
  });

  it('creates a user pool if no provider is configured, without sign-up and with a required second factor', () => {
    expect(allOf(withProvider, 'AWS::Cognito::UserPool')).toEqual([]);
    expect(allOf(withPool, 'AWS::Cognito::UserPool')).toMatchObject([
      {
        Properties: {
          AdminCreateUserConfig: { AllowAdminCreateUserOnly: true },
          MfaConfiguration: 'ON',
        },
      },
    ]);
    expect(allOf(withPool, 'AWS::Cognito::UserPoolClient')).toMatchObject([
      {
        Properties: {
          AllowedOAuthFlows: ['code'],
          CallbackURLs: ['https://portal.example.nl/callback'],
          GenerateSecret: false,
        },
      },
    ]);
  });

  it('leaves nothing that blocks a second attempt when its creation fails', async () => {
    const kept = await portalTemplate({ portal, stage: 'kept', removalPolicy: 'retain' });
    const [pool] = allOf(kept, 'AWS::Cognito::UserPool');
    // CloudFormation can't delete a pool with deletion protection, so its rollback must not try.
    expect(pool).toMatchObject({
      DeletionPolicy: 'Retain',
      Properties: { DeletionProtection: 'ACTIVE' },
    });
  });

  inSweep(
    'keeps the domain of the user pool when the host name of the portal changes',
    async () => {
      const domainOf = async (more: object) =>
        Object.entries(
          ofType(
            await portalTemplate({ portal: { ...portal, ...more } }),
            'AWS::Cognito::UserPoolDomain',
          ),
        );
      const [[id, generated] = []] = await domainOf({});
      expect(JSON.stringify(generated?.Properties?.Domain)).toMatch(/"bag-adres-".*AWS::StackId/);
      expect(await domainOf({ domain: { ...domain, name: 'aws.example.nl' } })).toEqual([
        [id, generated],
      ]);
      expect((await domainOf({ cognitoPrefix: 'adres-portal' }))[0]?.[1]?.Properties?.Domain).toBe(
        'adres-portal',
      );
    },
  );

  it.each([
    [
      'a prefix that ends in a hyphen',
      { portal: { ...portal, cognitoPrefix: 'adres-' } },
      'none at the ends',
    ],
    [
      'a prefix with a word that AWS reserves',
      { portal: { ...portal, cognitoPrefix: 'my-aws' } },
      'without `aws`',
    ],
    [
      'a host name in upper case',
      { portal: { ...portal, domain: { ...domain, name: 'Portal.example.nl' } } },
      'bagAdres.portal.domain.name is "Portal.example.nl". Allowed: a host name in lower case',
    ],
    [
      'the host name of the API',
      { domain: everything.domain, portal: { ...portal, domain: everything.domain } },
      'another one',
    ],
    [
      'a zone that the host name is not in',
      { portal: { ...portal, domain: { ...domain, name: 'x.org' } } },
      'not in the zone',
    ],
    ['a colour by its name', { portal, branding: { colour: 'blue' } }, 'a colour such as'],
    [
      'a client secret that ends on no date',
      { portal: { ...portal, signIn: { ...signIn, clientSecretExpires: '31-01-2027' } } },
      'a date, for instance',
    ],
    [
      'a provider without TLS',
      { portal: { ...portal, signIn: { ...signIn, issuer: 'http://x.nl' } } },
      'https://',
    ],
  ])('is refused with %s', async (_, config, message) => {
    await expect(portalTemplate(config)).rejects.toThrow(message);
  });
});
