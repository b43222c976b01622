import { afterAll, describe, expect, it } from '@jest/globals';
import { escaped, lookupSamples } from '../../../lambdas/page/samples.ts';
import { startAddressService } from '../../support/address-service.ts';
import { createTestPortal, portalSettings } from '../../support/portal.ts';

const service = await startAddressService();
const portal = createTestPortal(service);
const customer = await portal.signedIn({ subject: 'sub:c' });
await service.admin.plans.put({ code: 'small', limits: { day: 100 } });
await service.admin.accounts.create({ id: 'own', plan: 'small' });
await service.admin.members.add({ account: 'own', person: 'sub:c', role: 'admin' });
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

describe('the pages for developers and their people', () => {
  it('have the samples of the reference with the address of the service, and a call that works when it is pasted', async () => {
    const { body } = await customer.get('/accounts/own/api');
    const url = `${portalSettings.apiUrl}/v1/address?postcode=9999SD&huisnummer=1`;
    const samples = lookupSamples(url);
    expect(samples.length).toBe(5);
    for (const { label, source } of samples) {
      expect(body).toContain(`>${label}</label>`);
      expect(body).toContain(`<code>${escaped(source)}</code>`);
    }
    expect(body).toContain('href="/help"');
    const [, answer = ''] = /<code>({"status".*?)<\/code>/.exec(body.replaceAll('&quot;', '"')) ?? [];
    const { key } = await service.admin.keys.create({ account: 'own', label: 'sample' });
    const given = await service.instance.lookUp(key, 'postcode=9999SD&huisnummer=1');
    expect(given.body).toBe(answer);
  });

  it('explain the portal in the language of the reader', async () => {
    expect((await customer.get('/help')).body).toContain('The last administrator of an account stays one');
    const nl = await portal.signedIn({ subject: 'sub:c' }, 'nl');
    const { body } = await nl.get('/help');
    expect(body).toContain('De laatste beheerder van een account blijft beheerder');
    for (const name of ['Gebruik', 'Maandoverzichten']) expect(body).toContain(`pagina ${name}`);
  });
});
