import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { createKeyStore } from '../../core/accounts/key-record.ts';
import { createAddressStore } from '../../core/addresses/address-store.ts';
import { systemClock } from '../../core/calendar.ts';
import type { AddressRequest } from '../../core/contract.ts';
import { availableIncludesIn } from '../../core/place-fields.ts';
import { addressRoute } from '../../lambdas/address/address-route.ts';
import type { RequestEvent } from '../../lambdas/http/middleware.ts';
import { referenceRoute } from '../../lambdas/validate/reference-route.ts';
import { validateRoute } from '../../lambdas/validate/validate-route.ts';
import { apiRoutes, routeKey } from '../../lib/shared/routes.ts';
import { type Integration, startGateway } from '../../local/gateway/gateway.ts';
import { hasDocsIn, isPublished } from '../../packages/reference/published.ts';
import { longDeadline, startAddressService, testSecrets, testTables } from './address-service.ts';
import { type ContractAnswer, expectContract } from './contract.ts';
import { loadDemo } from './demo-addresses.ts';
import { lambdaContext } from './gateway-event.ts';

/**
 * The service over real HTTP with the demo data, in this process. `send` checks every response
 * against the contract.
 */
export async function startHttpService() {
  const service = await startAddressService();
  const folder = await mkdtemp(join(tmpdir(), 'http-service-'));
  await loadDemo(service.client, testTables.addresses, folder);
  const faults: Faults = { next: new Map() };
  const gateway = await startGateway({
    routes: routesOver(service, faults),
    host: '127.0.0.1',
    port: 0,
  });
  const baseUrl = `http://127.0.0.1:${gateway.port}`;

  /** Sends a request and checks its response against the contract. */
  async function send(
    path: string,
    init: RequestInit = {},
  ): Promise<ContractAnswer & { json: unknown }> {
    const response = await fetch(new URL(path, baseUrl), init);
    const body = await response.text();
    const answer = { status: response.status, headers: Object.fromEntries(response.headers), body };
    expectContract(init.method ?? 'GET', path, answer);
    return {
      ...answer,
      json: answer.headers['content-type']?.includes('json') ? JSON.parse(body) : undefined,
    };
  }

  return {
    ...service,
    baseUrl,
    send,
    faults,
    stop: async () => {
      await gateway.stop();
      await service.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Set by a test to make the address store fail: always, `times` times, or at the next lookup of a
 * huisnummer.
 */
type Faults = { failing?: (Error & { times?: number }) | undefined; next: Map<number, Error> };

export type HttpService = Awaited<ReturnType<typeof startHttpService>>;

function routesOver(
  { client }: { client: Parameters<typeof createAccessStore>[0] },
  faults: Faults,
): { key: string; target: Integration }[] {
  const stores = {
    deadlineMilliseconds: longDeadline,
    accessStore: createAccessStore(client, testTables.accounts),
    checksumSecrets: testSecrets,
    clock: systemClock,
  };
  const addressStore = createAddressStore(client, testTables.addresses);
  const fail = (requests: readonly AddressRequest[]) => {
    const { failing } = faults;
    if (failing?.times !== undefined && --failing.times === 0) delete faults.failing;
    if (failing) throw failing;
    for (const { huisnummer } of requests) {
      const next = faults.next.get(huisnummer);
      faults.next.delete(huisnummer);
      if (next) throw next;
    }
  };
  const address = addressRoute({
    ...stores,
    addressStore: {
      find: async (request, include, signal) => {
        fail([request]);
        return await addressStore.find(request, include, signal);
      },
      findAll: async (requests, include, signal) => {
        fail(requests);
        return await addressStore.findAll(requests, include, signal);
      },
    },
    available: availableIncludesIn(process.env),
    datasetDate: async () => '2026-01-08',
  });
  const validate = validateRoute({
    ...stores,
    keyStore: createKeyStore(client, testTables.accounts),
  });
  // A test may turn the page with the reference off.
  const references = new Map<boolean, ReturnType<typeof referenceRoute>>();
  const referenceFor = (hasDocs: boolean) => {
    const reference = references.get(hasDocs) ?? referenceRoute(process.env);
    references.set(hasDocs, reference);
    return reference;
  };
  const functions = {
    Address: (request: RequestEvent) => address(request, lambdaContext),
    Validate: (request: RequestEvent) => {
      const hasDocs = hasDocsIn(process.env);
      const route = isPublished(request, hasDocs) ? referenceFor(hasDocs) : validate;
      return route(request, lambdaContext);
    },
  };
  return apiRoutes.map((route) => ({
    key: routeKey(route),
    target: (event) => functions[route.function](event as RequestEvent),
  }));
}
