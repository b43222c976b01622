import { randomBytes } from 'node:crypto';
import type { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { APIGatewayProxyEventV2 } from 'aws-lambda';
import { type Admin, AdminError, createAdmin } from '../../packages/admin/index.ts';
import type { Loads } from '../../packages/admin/loads.ts';
import type { Statements } from '../../packages/admin/statements.ts';
import type { OperatorLinks } from '../../packages/ui/links.ts';
import { type GatewayEvent, portalApp, portalHandler } from '../portal-app.ts';
import type { PortalSettings } from '../request/portal-request.ts';
import { type LocalPerson, startProvider } from './provider.ts';

export type LocalPortal = { portalUrl: string; issuer: string };

export type LocalPortalOptions = {
  client: DynamoDBDocumentClient;
  accountsTable: string;
  /** The loads of this machine, on behalf of `actor`. */
  loadsAs: (actor: string) => Promise<Loads>;
  statements: () => Promise<Statements>;
  /** Serves what `target` answers to an event of API Gateway. */
  startGateway: (
    target: (event: APIGatewayProxyEventV2) => Promise<unknown>,
    at: { host: string; port: number },
  ) => Promise<Listening>;
  /** The address API, as customers call it. */
  apiUrl: string;
  /** How the pages present the operator. */
  branding?:
    | (OperatorLinks &
        Partial<Pick<PortalSettings, 'colour' | 'logo' | 'languages'>> & {
          name?: string | undefined;
        })
    | undefined;
  /** Whether addresses have their objects. */
  objecten?: boolean;
  /** The key of the demo account. */
  demoKey?: string;
  /** The ports of the portal and the provider; if a port is taken or 0, another port is picked. */
  ports: { portal: number; provider: number };
};

type Listening = { port: number; stop: () => Promise<void> };

/** Only reachable from this machine: a visitor can sign in as anyone. */
const host = '127.0.0.1';

const demoAccount = 'demo';
const customer: LocalPerson = {
  id: 'customer',
  name: 'Kim Klant',
  email: 'kim@customer.example',
  about: 'a customer, administrator of the account "demo"',
};
const operator: LocalPerson = {
  id: 'operator',
  name: 'Olaf Operator',
  email: 'olaf@operator.example',
  about: 'an operator of the service',
};

/**
 * Starts the portal with the same code and the same events that it gets in a Lambda, and an OpenID
 * provider to sign in at. Everything that is started is added to `resources` at once.
 */
export async function startPortal(
  options: LocalPortalOptions,
  resources: AsyncDisposableStack,
): Promise<LocalPortal> {
  const { client, accountsTable: table, loadsAs, statements, ports, branding } = options;
  const adminAs = (actor: string) => createAdmin({ client, table, actor });
  await addDemoMember(adminAs('npm start'));
  const secret = randomBytes(32).toString('hex');
  // The portal and the provider name each other, so the address of each is known before the portal
  // answers.
  let answer: ReturnType<typeof portalHandler> | undefined;
  const target = async (event: APIGatewayProxyEventV2) =>
    answer?.(event as unknown as GatewayEvent);
  const gateway = await onFreePort(ports.portal, (port) =>
    options.startGateway(target, { host, port }),
  );
  resources.defer(gateway.stop);
  const portalUrl = `http://${host}:${gateway.port}`;
  const registration = {
    clientId: 'portal',
    clientSecret: secret,
    people: [customer, operator],
    portalUrl,
  };
  const provider = await onFreePort(ports.provider, (port) =>
    startProvider({ host, port, ...registration }),
  );
  resources.defer(provider.stop);
  const app = portalApp(
    {
      settings: {
        baseUrl: portalUrl,
        apiUrl: options.apiUrl,
        company: branding?.name,
        colour: branding?.colour ?? '#0b4f8a',
        links: branding ?? {},
        logo: branding?.logo,
        languages: branding?.languages,
        objecten: options.objecten,
        demo:
          options.demoKey === undefined
            ? undefined
            : { account: demoAccount, key: options.demoKey },
        signIn: {
          issuer: provider.issuer,
          clientId: registration.clientId,
          clientSecret: async () => secret,
          subjectClaim: 'sub',
          operators: [operator.email],
        },
        sessionSecret: async () => secret,
      },
      adminAs,
      loadsAs,
      statements,
      now: Date.now,
    },
    (error, id) =>
      console.error(
        `Portal request ${id}: ${error instanceof Error ? error.stack : String(error)}`,
      ),
  );
  answer = portalHandler(app);
  return { portalUrl, issuer: provider.issuer };
}

/** Starts a server on this port, or on any free port if it is taken. */
function onFreePort<Server>(
  port: number,
  start: (port: number) => Promise<Server>,
): Promise<Server> {
  return start(port).catch(() => start(0));
}

/** The customer of the demo account. Somebody may have deleted that account. */
async function addDemoMember(admin: Admin): Promise<void> {
  const input = { account: demoAccount, person: customer.email, role: 'admin' } as const;
  const people = [customer.email];
  try {
    if ((await admin.members.roleIn(input.account, people)) === null) {
      await admin.members.add(input);
    }
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
  }
}
