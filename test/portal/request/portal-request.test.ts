import { afterAll, describe, expect, it } from '@jest/globals';
import { pageRoutes } from '../../../portal/portal-app.ts';
import { permissions } from '../../../portal/request/page-routes.ts';
import type { PortalRole } from '../../../portal/request/portal-request.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { createTestPortal } from '../../support/portal.ts';
import { restoreItems, storedItems } from '../../support/stored-items.ts';
import { sweep } from '../../support/sweep.ts';

/** Who may do what, once more and by itself: a slip in the table of the portal shows here. */
const allowed: Record<keyof typeof permissions, PortalRole[]> = {
  'account.view': ['viewer', 'admin', 'operator'],
  'audit.view': ['viewer', 'admin', 'operator'],
  'usage.view': ['finance', 'viewer', 'admin', 'operator'],
  'account.leave': ['finance', 'viewer', 'admin'],
  'key.change': ['admin', 'operator'],
  'member.view': ['admin', 'operator'],
  'member.change': ['admin', 'operator'],
  'account.manage': ['operator'],
  'operator.view': ['operator'],
  'plan.change': ['operator'],
  'load.approve': ['operator'],
  'session.end': ['operator'],
};

/** The id of a key, by account. */
const keys: Record<string, string> = {};

const service = await startAddressService();
const portal = createTestPortal(service);
const { admin } = service;
await admin.plans.put({ code: 'small', limits: { day: 100 } });
for (const id of ['own', 'foreign']) {
  await admin.accounts.create({ id, plan: 'small' });
  await admin.members.add({ account: id, person: `somebody@${id}.nl`, role: 'admin' });
  keys[id] = (await admin.keys.create({ account: id, label: 'x' })).keyId;
}
await admin.members.add({ account: 'own', person: 'viewer@own.nl', role: 'viewer' });
await admin.members.add({ account: 'own', person: 'finance@own.nl', role: 'finance' });
await admin.members.add({ account: 'own', person: 'admin@own.nl', role: 'admin' });
const people = {
  finance: await portal.signedIn({ subject: 'sub:f', email: 'finance@own.nl' }),
  viewer: await portal.signedIn({ subject: 'sub:v', email: 'viewer@own.nl' }),
  admin: await portal.signedIn({ subject: 'sub:a', email: 'admin@own.nl' }),
  operator: await portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true }),
};
afterAll(() => service.stop());

const roles: PortalRole[] = ['finance', 'viewer', 'admin', 'operator'];
const everything = pageRoutes.flatMap((route) =>
  roles.flatMap((role) =>
    (route.of === 'account' ? ['own', 'foreign'] : ['-']).map(
      (account) => [role, route.method, route.path, account, route] as const,
    ),
  ),
);

/**
 * What each action must answer to a role: `404` where it must not learn that there is something.
 */
function expected(
  role: PortalRole,
  route: (typeof pageRoutes)[number],
  account: string,
): 'allowed' | 403 | 404 {
  if (route.action === 'home') return 'allowed';
  if (route.of === 'service') return allowed[route.action].includes(role) ? 'allowed' : 404;
  if (role !== 'operator' && account === 'foreign') return 404;
  return allowed[route.action].includes(role) ? 'allowed' : 403;
}

describe('the table of permissions', () => {
  it('is what this test says', () => {
    expect(permissions).toEqual(allowed);
  });

  it('covers every page that changes something', () => {
    const free = pageRoutes.filter(({ method, action }) => method === 'POST' && action === 'home');
    // A search in one's own accounts, and one's own sessions.
    expect(free.map(({ path }) => path)).toEqual(['/keys', '/sessions']);
    expect(pageRoutes.length).toBeGreaterThan(20);
  });
});

describe('a page', () => {
  // Every fifth: over the pages, each role has both accounts.
  it.each(sweep(everything, everything.length / 5))(
    'gives a %s only the permitted access: %s %s of account %s',
    async (role, method, path, account, route) => {
      const url = path
        .replace(':account', account)
        .replace(':key', keys[account] ?? '')
        .replace(':plan', 'small');
      const wanted = expected(role, route, account);
      const before = await storedItems(service.client, testTables.accounts);
      const answer = method === 'GET' ? await people[role].get(url) : await people[role].post(url);
      if (wanted === 'allowed') {
        expect([200, 303, 404, 409, 422]).toContain(answer.status);
        // Behind the permission a page may not find what it is asked for; it then belongs to the
        // account all the same.
        const found =
          route.of === 'service'
            ? 'This portal is not connected to the statements'
            : `>${account}</code>`;
        if (answer.status === 404) expect(answer.body).toContain(found);
        // Undo what the request may have done.
        await restoreItems(service.client, testTables.accounts, before);
      } else {
        expect(answer.status).toBe(wanted);
        expect(await storedItems(service.client, testTables.accounts)).toEqual(before);
        expect(answer.body).not.toContain('somebody@foreign.nl');
      }
      expect(portal.logged).toEqual([]);
    },
  );

  it('responds the same for an account that does not exist and one of someone else', async () => {
    const foreign = await people.admin.get('/accounts/foreign');
    const none = await people.admin.get('/accounts/nothing');
    const without = ({ body }: typeof foreign) => body.replaceAll(/foreign|nothing/g, '?');
    expect([foreign.status, none.status]).toEqual([404, 404]);
    expect(without(foreign)).toBe(without(none));
    const impossible = await people.admin.get(`/accounts/${'x'.repeat(99)}`);
    expect(impossible.status).toBe(404);
    expect(impossible.body.replaceAll('x'.repeat(99), '?')).toBe(without(none));
    expect(portal.logged).toEqual([]);
    expect((await people.operator.get('/accounts/nothing')).status).toBe(404);
  });

  it('shows nothing to a visitor who is not signed in or whose session has ended', async () => {
    const person = await portal.signedIn({ subject: 'sub:gone', email: 'admin@own.nl' });
    expect((await person.get('/accounts/own/keys')).body).toContain('Create a key');
    await portal.adminAs('test').sessions.end('sub:gone', person.id);
    for (const { method, path } of pageRoutes) {
      const url = path.replace(':account', 'own').replace(':key', 'AAAAAAAA');
      const ended = method === 'GET' ? await person.get(url) : await person.post(url);
      const stranger = await portal.app.request(url, { method });
      expect([url, ended.status, stranger.status]).toEqual([
        url,
        ...(method === 'GET' ? [200, 200] : [403, 400]),
      ]);
      expect(ended.body).not.toContain('small');
    }
  });

  it('is refused as soon as the member is removed', async () => {
    const person = await portal.signedIn({ subject: 'sub:r', email: 'removed@own.nl' });
    await service.admin.members.add({ account: 'own', person: 'removed@own.nl', role: 'admin' });
    expect((await person.get('/accounts/own')).status).toBe(200);
    await service.admin.members.remove({ account: 'own', person: 'removed@own.nl' });
    expect((await person.get('/accounts/own')).status).toBe(404);
  });
});
