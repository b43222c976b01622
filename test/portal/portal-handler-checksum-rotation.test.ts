import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { environment } from '../../core/environment.ts';
import { portalCookies, sessionSeconds } from '../../portal/visit/cookies.ts';
import { run } from '../operator/command-line.ts';
import { type FakeStack, startFakeAws } from '../operator/fake-aws.ts';
import { type AddressService, startAddressService, testAddress, testTables } from '../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { portalSettings } from '../support/portal.ts';

type Answer = { statusCode: number; body: string };
type Handler = (event: unknown, context: unknown) => Promise<Answer>;

/** The versions of the checksum secret by id, those with a label, and those that the deployed service names. */
const values = new Map([['v1', 'the first secret of this deployment']]);
const labels: Record<string, string> = { AWSCURRENT: 'v1' };
let deployed = ['v1'];

const stacks: Record<string, FakeStack> = {
  'bag-adres-a-data': {
    outputs: { AccountsTableName: testTables.accounts, AddressesTableName: 'x', KeyChecksumSecretArn: 'checksum' },
  },
  'bag-adres-a-service': { outputs: {} },
};

const operations = {
  GetSecretValue: ({ SecretId }: { SecretId: string }) => {
    const checksum = values.get(labels.AWSCURRENT ?? '');
    return { value: { SecretString: SecretId === 'checksum' ? checksum : 'a session secret that is long enough' } };
  },
  DescribeSecret: () => ({
    value: { VersionIdsToStages: Object.fromEntries(Object.entries(labels).map(([label, id]) => [id, [label]])) },
  }),
  PutSecretValue: (input: { ClientRequestToken: string; SecretString: string }) => {
    values.set(input.ClientRequestToken, input.SecretString);
    labels.ROTATING = input.ClientRequestToken;
    return { value: {} };
  },
  UpdateSecretVersionStage: ({ VersionStage, MoveToVersionId }: { VersionStage: string; MoveToVersionId?: string }) => {
    delete labels[VersionStage];
    if (MoveToVersionId !== undefined) labels[VersionStage] = MoveToVersionId;
    return { value: {} };
  },
  GetTemplate: () => {
    const [current = '', previous] = deployed;
    const reference = (version: string) => `{{resolve:secretsmanager:x:SecretString:::${version}}}`;
    const variables = {
      KEY_CHECKSUM_SECRET: reference(current),
      ...(previous && { KEY_CHECKSUM_SECRET_PREVIOUS: reference(previous) }),
    };
    const body = JSON.stringify(variables).replaceAll('"', '&quot;');
    return {
      value: `<GetTemplateResponse><GetTemplateResult><TemplateBody>${body}</TemplateBody></GetTemplateResult></GetTemplateResponse>`,
    };
  },
};

let service: AddressService;
let aws: Awaited<ReturnType<typeof startFakeAws>>;

beforeAll(async () => {
  service = await startAddressService();
  aws = await startFakeAws(stacks, operations, service.endpoint);
  Object.assign(process.env, {
    AWS_REGION: 'eu-west-1',
    AWS_ACCESS_KEY_ID: 'local',
    AWS_SECRET_ACCESS_KEY: 'local',
    AWS_ENDPOINT_URL: aws.endpoint,
    [environment.accountsTable]: testTables.accounts,
    [environment.addressesTable]: testTables.addresses,
    [environment.keyChecksumSecretArn]: 'checksum',
    [environment.portalSessionSecret]: 'session',
    [environment.snapshotBucket]: 'x',
    [environment.statementsBucket]: 'x',
    [environment.loadMachine]: 'x',
    [environment.portal]: JSON.stringify({
      ...portalSettings,
      deployment: 'bag-adres-prod',
      signIn: {
        issuer: 'https://login.example.nl',
        clientId: 'portal',
        subjectClaim: 'sub',
        operators: ['olaf@operator.nl'],
      },
    }),
  });
});
afterAll(async () => {
  await aws.stop();
  await service.stop();
});

/** A new instance of a Lambda, which reads its environment as it starts. */
async function start(
  entry: 'lambdas/address/address-lambda' | 'lambdas/validate/validate-lambda' | 'portal/portal-handler',
): Promise<Handler> {
  jest.resetModules();
  const { handler } = (await import(`../../${entry}.ts`)) as { handler: Handler };
  return handler;
}

/** Deploys the service with these versions of the secret, and returns how a caller asks its new instances. */
async function deploy(versions: string[]) {
  deployed = versions;
  const [current = '', previous] = versions.map((id) => values.get(id) ?? '');
  process.env[environment.keyChecksumSecret] = current;
  if (previous) process.env[environment.previousKeyChecksumSecret] = previous;
  else delete process.env[environment.previousKeyChecksumSecret];
  const [address, validate] = [
    await start('lambdas/address/address-lambda'),
    await start('lambdas/validate/validate-lambda'),
  ];
  return (key: string) =>
    Promise.all([
      address(gatewayEvent(`/v1/address?${testAddress}`, { headers: { 'x-api-key': key } }), lambdaContext),
      validate(gatewayEvent('/v1/auth/validate', { headers: { 'x-api-key': key } }), lambdaContext),
    ]).then((answers) => answers.map(({ statusCode }) => statusCode));
}

/** A warm instance of the portal, in which an operator creates keys. */
async function openPortal() {
  const portal = await start('portal/portal-handler');
  const cookies = portalCookies({
    baseUrl: portalSettings.baseUrl,
    sessionSecret: async () => 'a session secret that is long enough',
  });
  const id = await service.admin.sessions.start('sub:o', sessionSeconds, { people: ['olaf@operator.nl'] });
  let cookie = '';
  const context = { header: (_name: string, value: string) => (cookie = value) };
  await cookies.writeSession(context as never, id);
  const token = await cookies.formToken(id, 'sub:o');
  let made = 0;
  return async (): Promise<string> => {
    const form = new URLSearchParams({ token, label: `portal ${++made}`, once: `00000000-0000-4000-8000-${made}` });
    const headers = {
      cookie: cookie.split(';', 1)[0] ?? '',
      origin: portalSettings.baseUrl,
      'content-type': 'application/x-www-form-urlencoded',
    };
    const event = { ...gatewayEvent('/accounts/acme/keys', { method: 'POST', headers }), body: form.toString() };
    const { statusCode, body } = await portal(event, lambdaContext);
    expect(statusCode).toBe(200);
    return /bagadres_[\w.-]+/.exec(body)?.[0] ?? '';
  };
}

const rotate = async (...args: string[]) =>
  JSON.parse((await run(['rotate-checksum-secret', '--stage', 'a', '--json', ...args])).out);

describe('a whole rotation of the checksum secret, with the handlers as they are deployed', () => {
  it('refuses no key of a warm portal, and lists each one that has to be replaced', async () => {
    await service.admin.plans.put({ code: 'standard', limits: { day: 1e6 } });
    await service.admin.accounts.create({ id: 'acme', plan: 'standard' });
    const createInPortal = await openPortal();
    let instances = [await deploy(['v1'])];
    const keys: string[] = [];
    const statuses: number[] = [];
    /** Lookups and validations with every key at every instance, while the portal creates another key. */
    const load = async () => {
      const asked = instances.flatMap((ask) => keys.map((key) => ask(key)));
      const [key, ...answers] = await Promise.all([createInPortal(), ...asked]);
      keys.push(key);
      statuses.push(...answers.flat());
    };

    await load();
    await load();
    const { versions: both } = await rotate('--start');
    await load();
    instances = [...instances, await deploy(both)];
    await load();
    instances = instances.slice(1);
    expect((await rotate()).step).toBe('replace');
    await load();
    await load();
    const { keys: old } = await rotate();
    expect(old.map(({ label }: { label: string }) => label).sort()).toEqual([1, 2, 3, 4].map((n) => `portal ${n}`));
    for (const { key_id: keyId } of old) await service.admin.keys.revoke({ account: 'acme', keyId });
    expect(await rotate()).toMatchObject({ step: 'replace', keys: [] });

    const ended = await deploy(both.slice(0, 1));
    const [fifth = '', sixth = ''] = keys.splice(0).slice(4);
    expect([await ended(fifth), await ended(sixth), await ended(await createInPortal())].flat()).toEqual(
      Array(6).fill(200),
    );
    expect([statuses.length, new Set(statuses)]).toEqual([36, new Set([200])]);
  });
});
