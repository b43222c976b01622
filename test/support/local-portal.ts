import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type LocalPortal, startPortal } from '../../local/portal/portal.ts';
import { testChecksumSecret, testTables } from './address-service.ts';
import { startHttpService } from './http-service.ts';

/** The service and the portal over real HTTP, with a real OpenID provider, the account `demo` and a customer of it. */
export async function startLocalPortal() {
  const service = await startHttpService();
  const resources = new AsyncDisposableStack();
  resources.defer(service.stop);
  const storageFolder = await mkdtemp(join(tmpdir(), 'portal-'));
  resources.defer(() => rm(storageFolder, { recursive: true, force: true }));
  await service.admin.plans.put({ code: 'small', limits: { minute: 60, day: 1000 } });
  await service.admin.plans.put({ code: 'large', limits: { day: 50_000, month: null } });
  await service.admin.accounts.create({ id: 'demo', plan: 'small' });
  const portal: LocalPortal = await startPortal(
    {
      endpoint: service.endpoint,
      accountsTable: testTables.accounts,
      addressesTable: testTables.addresses,
      checksumSecret: testChecksumSecret,
      storageFolder,
      apiUrl: service.baseUrl,
      ports: { portal: 0, provider: 0 },
    },
    resources,
  );
  return { ...service, ...portal, stop: () => resources.disposeAsync() };
}
