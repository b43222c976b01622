import { dirname } from 'node:path';
import { startLocalPortal as startPortal } from '../../local/portal.ts';
import type { LocalPortal } from '../../portal/local/start-portal.ts';
import { testTables } from './address-service.ts';
import { type HttpService, startHttpService } from './http-service.ts';
import { createWaitingLoad } from './waiting-load.ts';

/** The same as `startLocalPortalOf`, with the account `demo`, which has a key. */
export const startLocalPortal = () =>
  startLocalPortalOf(async ({ admin }) => {
    await admin.plans.put({ code: 'small', limits: { minute: 60, day: 1000 } });
    await admin.plans.put({ code: 'large', limits: { day: 50_000, month: null } });
    await admin.accounts.create({ id: 'demo', plan: 'small' });
    return admin.keys.create({ account: 'demo', label: 'kassa' });
  });

/**
 * The service and the portal over real HTTP, with a real OpenID provider, a register of its own in
 * which a load waits, and what `addAccounts` adds. The provider knows an operator, and a customer
 * who is a member of `demo` if that exists.
 */
export async function startLocalPortalOf<Added extends object>(
  addAccounts: (service: HttpService, dataFolder: string) => Promise<Added>,
) {
  const service = await startHttpService();
  const resources = new AsyncDisposableStack();
  resources.defer(service.stop);
  const register = await createWaitingLoad(service.client);
  resources.defer(register.stop);
  const added = await addAccounts(service, dirname(register.storageFolder));
  const portal: LocalPortal = await startPortal(
    {
      endpoint: service.endpoint,
      accountsTable: testTables.accounts,
      addressesTable: register.addressesTable,
      storageFolder: register.storageFolder,
      apiUrl: service.baseUrl,
      ports: { portal: 0, provider: 0 },
    },
    resources,
  );
  return { ...service, ...portal, ...added, register, stop: () => resources.disposeAsync() };
}
