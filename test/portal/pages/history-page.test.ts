import { afterAll, describe, expect, it } from '@jest/globals';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { audited } from '../../../packages/admin/accounts/audit-log.ts';
import { loadsOf } from '../../../packages/admin/load-approvals.ts';
import type { Loads } from '../../../packages/admin/loads.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { createTestPortal } from '../../support/portal.ts';

const changes = Array.from({ length: 45 }, (_, i) => `change-${i}-`);

const service = await startAddressService();
const store = createAdminStore(service.client, testTables.accounts, 'olaf@operator.nl', Date.now);
const { audit } = loadsOf(store, {} as never, {} as never);
const nothing = {
  register: { peildatum: null, setAside: { count: 0, addresses: 0, examples: [] }, loads: [] },
  waiting: [],
  running: [],
};
const loads = {
  audit,
  register: async () => nothing.register,
  waiting: async () => [],
  running: async () => [],
};
const portal = createTestPortal(service, { loadsAs: async () => loads as unknown as Loads });
const operator = await portal.signedIn({
  subject: 'sub:o',
  email: 'olaf@operator.nl',
  operator: true,
});
await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
for (const change of changes) {
  for (const partition of ['plan#small', 'loads#', 'sign-in#']) {
    await audited(
      store,
      { partition, action: 'load approve', detail: { change } },
      async () => undefined,
    );
  }
}
await service.admin.plans.put({ code: 'large', limits: { day: 100 } });
await service.admin.plans.put({
  code: 'large',
  limits: { day: 2000, month: null },
  state: 'inactive',
});
afterAll(() => service.stop());

describe('the history of an operator', () => {
  it('is written in the words of the portal', async () => {
    const { body } = await (await portal.signedIn({ subject: 'sub:o', operator: true }, 'nl')).get(
      '/operator/plans/large',
    );
    expect(body).toContain(
      'inactief, 2.000 per dag, onbeperkt per maand (eerder: actief, 100 per dag)',
    );
    expect(body).not.toMatch(/state (in)?active|before:/);
  });

  it.each(['/operator/plans/small', '/operator/register', '/operator/sessions'])(
    'on %s has pages, with each change once',
    async (path) => {
      const seen: string[][] = [];
      let next: string | undefined = path;
      while (next) {
        const { status, body } = await operator.get(next.replaceAll('&amp;', '&'));
        expect(status).toBe(200);
        seen.push(changes.filter((change) => body.includes(change)));
        expect(body.includes(`href="${path}#changes"`)).toBe(seen.length > 1);
        next = new RegExp(`href="(${path}\\?changes=[^"#]+)#changes"`).exec(body)?.[1];
      }
      expect(seen.flat().sort()).toEqual([...changes].sort());
      expect(seen.length).toBe(3);
      const { status, body } = await operator.get(`${path}?changes=nonsense`);
      expect([status, body.includes('change-44-')]).toEqual([200, true]);
    },
  );
});
