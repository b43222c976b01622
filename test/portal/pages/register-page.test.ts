import { beforeEach, describe, expect, it } from '@jest/globals';
import { changesCsvLine } from '../../../loader/guard/load-counts.ts';
import type { LoadProposal } from '../../../loader/guard/load-report.ts';
import { getJson, paths, putJson } from '../../../loader/storage/storage.ts';
import { differences } from '../../../loader/storage/stored-loads.ts';
import { localLoadRunner } from '../../../local/load/load-runner.ts';
import { createAdminStore } from '../../../packages/admin/accounts/admin-store.ts';
import { loadsOf } from '../../../packages/admin/load-approvals.ts';
import { startAddressService, testTables } from '../../support/address-service.ts';
import { createTestPortal } from '../../support/portal.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { createWaitingLoad, type WaitingLoad, withObjects } from '../../support/waiting-load.ts';

const service = startForTests(startAddressService);
const source = startForTests(() => createWaitingLoad(service.client));
let register: WaitingLoad;
let runner: ReturnType<typeof localLoadRunner>;
let portal: ReturnType<typeof createTestPortal>;
let operator: Awaited<ReturnType<typeof portal.signedIn>>;

beforeEach(async () => {
  register = await source.copy();
  runner = localLoadRunner({ storage: register.storageFolder, addresses: register.addresses });
  const store = (actor: string) =>
    createAdminStore(service.client, testTables.accounts, actor, Date.now);
  await store('test').delete({ account: 'loads#', item: `approval#${register.waiting}` });
  portal = createTestPortal(service, {
    loadsAs: async (actor) => loadsOf(store(actor), register.storage, runner),
  });
  operator = await portal.signedIn({ subject: 'sub:o', email: 'olaf@operator.nl', operator: true });
  return register.stop;
});

const field = (html: string, name: string) =>
  new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

describe('the register', () => {
  it('shows its date, the last loads, and those that await approval, with reasons, examples and most changed places', async () => {
    const { body } = await operator.get('/operator/register');
    for (const shown of [
      '8 Jan 2026',
      '>11<',
      `/operator/register/${register.waiting}`,
      'remove many addresses',
    ]) {
      expect(body).toContain(shown);
    }
    const load = await operator.get(`/operator/register/${register.waiting}`);
    for (const shown of [
      '8 Mar 2026',
      '41.7%',
      '1381 AA 9 A',
      'Buitenveer, Weesp',
      'Hofstraat, Apeldoorn',
      '>Weesp<',
    ]) {
      expect(load.body).toContain(shown);
    }
    for (const most of ['Streets', 'Places']) {
      expect(load.body).toContain(`${most} with the most changes`);
    }
  });

  it.each([
    ['en', '>Only their objects changed<', 'removed; the objects of 3,000 addresses change.'],
    [
      'nl',
      '>Alleen hun objecten gewijzigd<',
      'verwijderd; van 3.000 adressen veranderen de objecten.',
    ],
  ] as const)(
    'counts the addresses whose objects a load changes: %s',
    async (language, kind, asked) => {
      await withObjects(register.storage, register.waiting);
      const person = await portal.signedIn(
        { subject: 'sub:o', email: 'olaf@operator.nl', operator: true },
        language,
      );
      const { body } = await person.get(`/operator/register/${register.waiting}`);
      expect(body).toContain(kind);
      const [, question = ''] = /href="([^"]+approve\?proposal=[^"]+)"/.exec(body) ?? [];
      expect((await person.get(question)).body).toContain(asked);
    },
  );

  it('has no table of streets or places for a first load, which counts none', async () => {
    const key = paths.proposal(register.waiting);
    const stored = await getJson<LoadProposal>(register.storage, key);
    const byPlace = { streets: {}, woonplaatsen: {} };
    await putJson(register.storage, key, { ...stored, byPlace });
    const { body } = await operator.get(`/operator/register/${register.waiting}`);
    expect(body).toContain('Buitenveer, Weesp');
    expect(body).not.toContain('with the most changes');
  });

  it('has every change of a load that awaits approval as CSV', async () => {
    const at = `/operator/register/${register.waiting}`;
    const [, link = ''] =
      /href="([^"]+\/changes\/1)">Download every change as CSV</.exec(
        (await operator.get(at)).body,
      ) ?? [];
    const file = await operator.get(link);
    expect([file.status, file.headers.get('content-type')]).toEqual([
      200,
      'text/csv; charset=utf-8',
    ]);
    expect(file.headers.get('content-disposition')).toContain(`changes-${register.waiting}-1.csv`);
    const changes = [];
    for await (const change of differences(register.storage, register.waiting)) {
      changes.push(changesCsvLine(change));
    }
    expect(changes.length).toBeGreaterThan(4);
    expect(file.body).toBe(`key,before,after,nummeraanduidingen\r\n${changes.join('')}`);
    for (const path of [
      `${at}/changes/2`,
      `${at}/changes/0`,
      `${at}/changes/x`,
      link.replace(register.waiting, 'x'),
    ]) {
      expect([404, 422]).toContain((await operator.get(path)).status);
    }
  });

  it('approves a load from its page after a confirmation, and it goes live', async () => {
    const at = `/operator/register/${register.waiting}`;
    const [, question = ''] =
      /href="([^"]+approve\?proposal=[^"]+)"/.exec((await operator.get(at)).body) ?? [];
    const asked = await operator.get(question);
    expect(asked.body).toContain('4 addresses removed');
    const form = { proposal: field(asked.body, 'proposal') };
    const answers = await Promise.all([
      operator.post(`${at}/approve`, form),
      operator.post(`${at}/approve`, form),
    ]);
    expect(answers.map(({ location }) => location).sort()).toEqual([
      '/operator/register?done=approved',
      '/operator/register?done=approvedBefore',
    ]);
    await runner.settle();
    const { body } = await operator.get('/operator/register?done=approved');
    for (const shown of [
      'The load is approved',
      '8 Mar 2026',
      'olaf@operator.nl',
      'No load awaits',
    ]) {
      expect(body).toContain(shown);
    }
    expect((await operator.post(`${at}/approve`, form)).location).toBe(
      '/operator/register?done=approvedBefore',
    );
    expect((await operator.get(at)).status).toBe(404);
  });

  it('rejects a load from its page after a confirmation: it does not go live and no longer waits', async () => {
    const at = `/operator/register/${register.waiting}`;
    const [, question = ''] =
      /href="([^"]+reject\?proposal=[^"]+)"/.exec((await operator.get(at)).body) ?? [];
    const asked = await operator.get(question);
    expect(asked.body).toContain('The live data stays');
    const form = { proposal: field(asked.body, 'proposal') };
    expect((await operator.post(`${at}/reject`, form)).location).toBe(
      '/operator/register?done=rejected',
    );
    await runner.settle();
    const { body } = await operator.get('/operator/register?done=rejected');
    for (const shown of [
      'The load is rejected',
      '8 Jan 2026',
      'load rejected',
      'olaf@operator.nl',
      'No load awaits',
    ]) {
      expect(body).toContain(shown);
    }
    expect((await operator.get(at)).status).toBe(404);
    expect((await operator.post(`${at}/reject`, form)).location).toBe(
      '/operator/register?done=rejectedBefore',
    );
    expect((await operator.post(`${at}/approve`, form)).status).toBe(404);
  });

  it('refuses an approval form of another proposal, or without a proposal', async () => {
    const at = `/operator/register/${register.waiting}/approve`;
    expect((await operator.get(`${at}?proposal=0123456789abcdef`)).status).toBe(409);
    expect((await operator.post(at, { proposal: '0123456789abcdef' })).status).toBe(409);
    expect((await operator.post(at)).status).toBe(409);
    expect((await operator.get('/operator/register/..%2Fmanifest')).status).toBe(422);
    expect(await runner.running()).toEqual([]);
  });

  it('says in Dutch which load awaits approval and why', async () => {
    const person = await portal.signedIn(
      { subject: 'sub:o', email: 'olaf@operator.nl', operator: true },
      'nl',
    );
    const { body } = await person.get(`/operator/register/${register.waiting}`);
    for (const shown of [
      'Gegevensupdate van 8 mrt 2026',
      'veel adressen verdwijnen',
      '5 van 12 (41,7\u00a0%)',
      'Voorbeelden',
    ]) {
      expect(body).toContain(shown);
    }
  });

  it('has no page when the loader is not connected', async () => {
    const person = await createTestPortal(service).signedIn({ subject: 'sub:x', operator: true });
    expect((await person.get('/operator/register')).body).toContain('not connected');
  });
});
