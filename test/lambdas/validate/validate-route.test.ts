import { describe, expect, it } from '@jest/globals';
import {
  createInstance,
  newAccount,
  startAddressService,
  testTables,
  usedOf,
} from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const service = startForTests(startAddressService);

function validate(key: string) {
  return service.instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } });
}

describe('the validation of a key', () => {
  it('returns label, plan and the effective limit of each configured window, shortest first', async () => {
    const { id, plan, key } = await newAccount(service, { month: null, day: 5000, minute: 60 });
    await service.admin.accounts.set({ id, limits: { day: 100 } });
    const { status, headers, body } = await validate(key);
    expect([status, headers['content-type']]).toEqual([200, 'application/json']);
    expect(body).toBe(
      `{"valid":true,"key_label":"the webshop of the tests","plan_code":"${plan}",` +
        '"limits":{"minute":60,"day":100,"month":null}}',
    );
  });

  it('follows a change of the plan at once, and lets the own limit stand', async () => {
    const { id, plan, key } = await newAccount(service, { minute: 60, day: 5000 });
    await service.admin.accounts.set({ id, limits: { day: 0 } });
    await service.admin.plans.put({ code: plan, limits: { hour: 7, day: 9 } });
    expect((await validate(key)).json).toMatchObject({ limits: { hour: 7, day: 0 } });
  });

  it('consumes nothing, works without any quota left, and ignores a query', async () => {
    const { id, key } = await newAccount(service, { day: 1 });
    await service.instance.lookUp(key);
    const headers = { 'x-api-key': key };
    for (const query of ['', '?a=1&a=2']) {
      expect((await service.instance.send(`/v1/auth/validate${query}`, { headers })).status).toBe(
        200,
      );
    }
    expect(await usedOf(service, id)).toEqual({ day: 1 });
  });

  it('says what is left as the next lookup will, also of windows that have passed, without spending it', async () => {
    const { key } = await newAccount(service, { minute: 60, day: 5000, month: null });
    const noon = Date.UTC(2090, 0, 1, 12) / 1000;
    const at = (seconds: number) => createInstance(service.client, { clock: () => noon + seconds });
    const headersOf = async (seconds: number) => {
      const { headers } = await at(seconds).send('/v1/auth/validate', {
        headers: { 'X-API-Key': key },
      });
      return [headers['ratelimit-policy'], headers.ratelimit];
    };
    const policy = '"minute";q=60;w=60, "day";q=5000;w=86400';
    expect(await headersOf(1)).toEqual([policy, '"day";r=5000;t=43199']);
    for (let i = 0; i < 3; i++) await at(1).lookUp(key);
    const { headers } = await at(1).lookUp(key);
    expect(await headersOf(1)).toEqual([policy, headers.ratelimit]);
    expect(await headersOf(1)).toEqual([policy, '"minute";r=56;t=59']);
    expect(await headersOf(60)).toEqual([policy, '"day";r=4996;t=43140']);
    expect(await headersOf(86_400)).toEqual([policy, '"day";r=5000;t=43200']);
  });

  it('has no RateLimit headers for an account without a finite window', async () => {
    const { key } = await newAccount(service, { month: null });
    const { headers } = await validate(key);
    expect(Object.keys(headers).filter((name) => name.startsWith('ratelimit'))).toEqual([]);
  });

  it('costs one strongly consistent call', async () => {
    const { key } = await newAccount(service, { day: 1 });
    const inputs: unknown[] = [];
    const send = (command: { input: unknown }, ...rest: []) => {
      inputs.push(command.input);
      return service.client.send(command as never, ...rest);
    };
    const instance = createInstance({
      ...service.client,
      send,
    } as unknown as typeof service.client);
    expect(
      (await instance.send('/v1/auth/validate', { headers: { 'X-API-Key': key } })).status,
    ).toBe(200);
    expect(inputs).toEqual([
      {
        RequestItems: { [testTables.accounts]: expect.objectContaining({ ConsistentRead: true }) },
      },
    ]);
  });
});
