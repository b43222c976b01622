import '../support/with-objects.ts';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { checks, runSmoke } from '../../operator/checks/run-smoke.ts';
import { newAccount } from '../support/address-service.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';
import { startSpoilingProxy } from './spoiling-proxy.ts';

let service: HttpService;
let proxy: Awaited<ReturnType<typeof startSpoilingProxy>>;

beforeAll(async () => {
  service = await startHttpService();
  proxy = await startSpoilingProxy(service.baseUrl);
});
afterAll(async () => {
  await proxy.stop();
  await service.stop();
});

describe('the smoke test of a deployment with objects', () => {
  it('passes one that adds them, and fails one that only says so', async () => {
    const { key } = await newAccount(service, { day: 1000 });
    const address = { postcode: '1012RJ', huisnummer: 147, toevoeging: '' };
    const chosen = checks.filter(({ title }) => /adds the objects of an address/.test(title));
    const run = async () => (await runSmoke(proxy.url, { key, address, isGuess: false }, chosen)).results;
    expect(await run()).toMatchObject([{ state: 'passed' }]);
    proxy.spoil({ request: ({ url }) => url.searchParams.delete('include') });
    expect(await run()).toMatchObject([{ state: 'failed', reason: expect.stringContaining('there are no objecten') }]);
  });
});
