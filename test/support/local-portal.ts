import { startLocalPortal as startPortal } from '../../local/portal.ts';
import type { LocalPortal } from '../../portal/local/portal.ts';
import { testChecksumSecret, testTables } from './address-service.ts';
import { startHttpService } from './http-service.ts';
import { createWaitingLoad } from './waiting-load.ts';

/**
 * The service and the portal over real HTTP, with a real OpenID provider, the account `demo` and a customer of it, and
 * a register of its own in which a load waits.
 */
export async function startLocalPortal() {
  const service = await startHttpService();
  const resources = new AsyncDisposableStack();
  resources.defer(service.stop);
  const register = await createWaitingLoad(service.client);
  resources.defer(register.remove);
  await service.admin.plans.put({ code: 'small', limits: { minute: 60, day: 1000 } });
  await service.admin.plans.put({ code: 'large', limits: { day: 50_000, month: null } });
  await service.admin.accounts.create({ id: 'demo', plan: 'small' });
  const { key, keyId } = await service.admin.keys.create({ account: 'demo', label: 'kassa' });
  const portal: LocalPortal = await startPortal(
    {
      endpoint: service.endpoint,
      accountsTable: testTables.accounts,
      addressesTable: register.addressesTable,
      checksumSecret: testChecksumSecret,
      storageFolder: register.storageFolder,
      apiUrl: service.baseUrl,
      ports: { portal: 0, provider: 0 },
    },
    resources,
  );
  return { ...service, ...portal, register, key, keyId, stop: () => resources.disposeAsync() };
}
