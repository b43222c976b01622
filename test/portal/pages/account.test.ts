import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type AddressService, startAddressService } from '../../support/address-service.ts';
import { createTestPortal } from '../../support/portal.ts';

let service: AddressService;
let portal: ReturnType<typeof createTestPortal>;
let customer: Awaited<ReturnType<typeof portal.signedIn>>;

beforeAll(async () => {
  service = await startAddressService();
  portal = createTestPortal(service);
  customer = await portal.signedIn({ subject: 'sub:c' });
  await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
  await service.admin.accounts.create({ id: 'own', plan: 'small' });
  await service.admin.members.add({ account: 'own', person: 'sub:c', role: 'admin' });
});
afterAll(() => service.stop());

describe('a key that is used today for the first time', () => {
  it.each(['rotate', 'revoke'])('shows its lookups before %s', async (verb) => {
    const { key, keyId } = await service.admin.keys.create({ account: 'own', label: verb });
    const path = `/accounts/own/keys/${keyId}/${verb}`;
    expect((await customer.get(path)).body).toContain('<dt>Lookups in the last 7 days</dt><dd>0</dd>');
    for (let i = 0; i < 3; i++) await service.instance.lookUp(key);
    expect((await customer.get(path)).body).toContain('<dt>Lookups in the last 7 days</dt><dd>3</dd>');
  });

  it('is revoked only with its id', async () => {
    const { key, keyId } = await service.admin.keys.create({ account: 'own', label: 'fresh' });
    await service.instance.lookUp(key);
    const path = `/accounts/own/keys/${keyId}/revoke`;
    expect((await customer.get(path)).body).toContain('<dt>Last used</dt><dd>today</dd>');
    expect((await customer.post(path)).status).toBe(422);
    expect((await service.instance.lookUp(key)).status).toBe(200);
    expect((await customer.post(path, { confirm: keyId })).location).toBe('/accounts/own/keys?done=revoked');
    expect((await service.instance.lookUp(key)).status).toBe(401);
  });
});

describe('the history of an account', () => {
  it('has pages, each with the changes after those of the page before', async () => {
    for (let i = 0; i < 60; i++) await service.admin.accounts.set({ id: 'own', name: `Name ${i}` });
    const first = (await customer.get('/accounts/own/changes')).body;
    expect(first).toContain('Name 59');
    const [, next = ''] = /href="([^"]+\?after=[^"]+)"/.exec(first) ?? [];
    const second = await customer.get(next.replaceAll('&amp;', '&'));
    expect(second.body).toContain('member added');
    expect([first, second.body].map((html) => html.includes('→ Name 5<'))).toEqual([false, true]);
    expect(second.body).toContain('href="/accounts/own/changes"');
    expect((await customer.get('/accounts/own/changes?after=nonsense')).status).toBe(422);
  });
});

describe('a session of one person', () => {
  it('is ended from another one of that person, and no other is', async () => {
    const [here, there] = [
      await portal.signedIn({ subject: 'sub:two' }),
      await portal.signedIn({ subject: 'sub:two' }),
    ];
    const stranger = await portal.signedIn({ subject: 'sub:stranger' });
    const { body } = await here.get('/sessions');
    expect(body).not.toContain(there.id);
    const [, one = ''] = /name="one" value="([0-9a-f]+)"/.exec(body) ?? [];
    expect((await stranger.post('/sessions', { one })).location).toBe('/sessions?done=sessionEnded');
    expect(await service.admin.sessions.find(there.id)).not.toBeNull();
    expect((await here.post('/sessions', { one })).location).toBe('/sessions?done=sessionEnded');
    const left = await Promise.all([here, there, stranger].map(({ id }) => service.admin.sessions.find(id)));
    expect(left.map((session) => session !== null)).toEqual([true, false, true]);
  });
});
