import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { handle, type LambdaEvent } from 'hono/aws-lambda';
import { portalApp } from '../../lambdas/portal/app.ts';
import { type Admin, createAdmin } from '../../lambdas/shared/accounts/admin.ts';
import { AdminError } from '../../lambdas/shared/accounts/admin-error.ts';
import { createAdminStore } from '../../lambdas/shared/accounts/admin-store.ts';
import { type LoadRunner, loadsOf } from '../../lambdas/shared/loads/loads.ts';
import { approveLoad } from '../../loader/run/run-load.ts';
import type { LoadReport } from '../../loader/steps/load-report.ts';
import { type AddressTable, dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { openStorage } from '../../loader/storage/open.ts';
import { localDynamoDb } from '../engine/client.ts';
import { startGateway } from '../gateway/gateway.ts';
import { type LocalPerson, startProvider } from './provider.ts';

/** The local portal and its OpenID provider. */
export type LocalPortal = {
  portalUrl: string;
  issuer: string;
  /** The ports that they listen on. */
  listening: { portal: number; provider: number };
};

export type LocalPortalOptions = {
  /** The DynamoDB engine, and the secret that it requires. */
  endpoint: string;
  accessKeyId?: string | undefined;
  accountsTable: string;
  addressesTable: string;
  checksumSecret: string;
  /** The loader's storage. */
  storageFolder: string;
  /** The address API, as customers call it. */
  apiUrl: string;
  /** Of the portal, and of the provider: another one is picked where it is taken, or 0. */
  ports: { portal: number; provider: number };
  /** Whether something else listens on these ports already, and forwards to `listening`. */
  isBehind?: boolean;
};

/** Only reachable from this machine: a visitor can sign in as anyone. */
const host = '127.0.0.1';

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
 * Starts the portal with the same code and the same events that it gets in a Lambda, and an OpenID provider to sign in at.
 * Everything that is started is added to `resources` at once.
 */
export async function startPortal(options: LocalPortalOptions, resources: AsyncDisposableStack): Promise<LocalPortal> {
  const { accountsTable: table, checksumSecret, ports, isBehind = false } = options;
  const connection = localDynamoDb(options.endpoint, options.accessKeyId);
  resources.defer(() => connection.destroy());
  const client = DynamoDBDocumentClient.from(connection);
  const adminAs = (actor: string) => createAdmin({ client, table, checksumSecret, actor });
  await addDemoMember(adminAs('npm start'));
  const portalPort = isBehind ? ports.portal : await freePort(host, ports.portal);
  const portalUrl = `http://${host}:${portalPort}`;
  const secret = randomBytes(32).toString('hex');
  const registration = { clientId: 'portal', clientSecret: secret };
  const people = [customer, operator];
  const providerPort = isBehind ? ports.provider : await freePort(host, ports.provider);
  const provider = await startProvider({
    host,
    port: providerPort,
    behindPort: isBehind ? 0 : undefined,
    people,
    portalUrl,
    ...registration,
  });
  resources.defer(provider.stop);
  const storage = await openStorage(options.storageFolder);
  const addresses = dynamoDbAddressTable(connection, options.addressesTable, { transactions: true });
  const runner = localLoadRunner({ storageFolder: options.storageFolder, addresses, report: console.log });
  // A killed load continues where it stopped, so stopping does not wait long for one.
  resources.defer(() => Promise.race([runner.settle(), setTimeout(5000, undefined, { ref: false })]));
  const app = portalApp(
    {
      settings: {
        baseUrl: portalUrl,
        apiUrl: options.apiUrl,
        company: 'Adresdienst',
        colour: '#0b4f8a',
        signIn: {
          issuer: provider.issuer,
          clientId: registration.clientId,
          clientSecret: async () => secret,
          operators: [operator.email],
        },
        sessionSecret: async () => secret,
      },
      adminAs,
      loadsAs: async (actor) => loadsOf(createAdminStore(client, table, actor, Date.now), storage, runner),
      now: Date.now,
    },
    (error, id) => console.error(`Portal request ${id}: ${error instanceof Error ? error.stack : String(error)}`),
  );
  const answer = handle(app);
  const target = async (event: string) => JSON.stringify(await answer(JSON.parse(event) as LambdaEvent));
  const gateway = await startGateway({ routes: [{ key: '$default', target }], host, port: isBehind ? 0 : portalPort });
  resources.defer(gateway.stop);
  return { portalUrl, issuer: provider.issuer, listening: { portal: gateway.port, provider: provider.listening } };
}

/** The customer of the demo account. Somebody may have deleted that account. */
async function addDemoMember(admin: Admin): Promise<void> {
  const input = { account: 'demo', person: customer.email, role: 'admin' } as const;
  const people = [customer.email];
  try {
    if ((await admin.members.roleIn(input.account, people)) === null) await admin.members.add(input);
  } catch (error) {
    if (!(error instanceof AdminError)) throw error;
  }
}

/** The port if it is free, else any other that is. */
async function freePort(host: string, port: number): Promise<number> {
  const tried = await portIfFree(host, port);
  return tried ?? (await portIfFree(host, 0)) ?? 0;
}

function portIfFree(host: string, port: number): Promise<number | undefined> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once('error', () => resolve(undefined));
    probe.listen(port, host, () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : undefined));
    });
  });
}

export type LocalLoadRunnerOptions = {
  /** The loader's storage. */
  storageFolder: string;
  addresses: AddressTable;
  /** Called with how each load ended. */
  report: (text: string) => void;
};

/** Runs approved loads in this process. What it knows of them ends with it; a load that it began can be approved again. */
export function localLoadRunner({ storageFolder, addresses, report }: LocalLoadRunnerOptions) {
  const runs = new Map<string, { since: string; state: 'running' | 'done' | 'failed'; end: Promise<void> }>();

  async function run(load: string, end: (state: 'done' | 'failed') => void): Promise<void> {
    try {
      const { peildatum }: LoadReport = await approveLoad({ storage: storageFolder, addresses, load });
      end('done');
      report(`Load ${load} was approved in the portal: the snapshot of ${peildatum} is live.`);
    } catch (error) {
      end('failed');
      report(`Load ${load} was approved in the portal and failed: ${error instanceof Error ? error.message : error}`);
    }
  }

  const runner: LoadRunner = {
    running: async () =>
      [...runs].flatMap(([name, { since, state }]) => (state === 'running' ? [{ name, since }] : [])),
    async start(name, load) {
      if (runs.has(name)) return;
      const since = new Date().toISOString();
      const end = run(load, (state) => runs.set(name, { since, state, end }));
      runs.set(name, { since, state: 'running', end });
    },
    stateOf: async (name) => runs.get(name)?.state ?? 'none',
  };
  /** Waits until no load is running. */
  const settle = async () => void (await Promise.all([...runs.values()].map(({ end }) => end)));
  return { ...runner, settle };
}
