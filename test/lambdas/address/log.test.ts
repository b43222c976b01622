import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type AddressService, newAccount, startAddressService } from '../../support/address-service.ts';

const script = fileURLToPath(new URL('../../support/lookup-log.ts', import.meta.url));
let service: AddressService;
let account: Awaited<ReturnType<typeof newAccount>>;
let lines: string[];

beforeAll(async () => {
  service = await startAddressService();
  account = await newAccount(service, { day: 2 });
  const { stdout, stderr } = await run(script, service.endpoint, account.key);
  lines = `${stdout}\n${stderr}`.split('\n').filter(Boolean);
});
afterAll(() => service.stop());

/** Runs beside the engine, which is a process of its own. */
async function run(...args: string[]) {
  const env = { ...process.env, POWERTOOLS_METRICS_DISABLED: 'false', POWERTOOLS_LOG_LEVEL: 'DEBUG' };
  return spawnSync(process.execPath, args, { env, encoding: 'utf8' });
}

it('says of each request who asked and what came of it, with its metrics in the same line', () => {
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ _aws }) => _aws);
  expect(outcomes.map(({ service, outcome, status }) => `${service} ${outcome} ${status}`)).toEqual([
    'address ok 200',
    'address invalid-input 422',
    'address not_found 200',
    'address quota-exceeded 429',
    'address unauthorized 401',
    'validate ok 200',
    'validate not-found 404',
    'address temporarily-unavailable 503',
    'address internal-error 500',
  ]);
  const [first] = outcomes;
  expect(first).toMatchObject({ account: account.id, key_id: account.keyId, Requests: 1, Charges: 1, WindowRolls: 0 });
  expect(first._aws.CloudWatchMetrics[0]).toMatchObject({
    Namespace: 'BagAdres',
    Dimensions: [['service', 'outcome']],
  });
});

it("writes a line of its own for a fault that is not the caller's, with its cause", () => {
  const errors = lines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'ERROR');
  expect(errors).toEqual([
    expect.objectContaining({
      message: 'temporarily-unavailable',
      request_id: expect.any(String),
      error: expect.objectContaining({ cause: expect.anything() }),
    }),
    expect.objectContaining({
      message: 'internal-error',
      error: expect.objectContaining({
        message: '"bagadres_..." can not be sent',
        cause: expect.objectContaining({ message: 'bagadres_...' }),
      }),
    }),
  ]);
});

it('never holds the key, its secret, its hash, its label, a path or a query', () => {
  const secret = account.key.slice(account.key.lastIndexOf('_') + 9, -8);
  const log = lines.join('\n');
  expect(log).not.toContain(secret);
  expect(log).not.toContain('the webshop of the tests');
  expect(log).not.toMatch(/1381AA|postcode|bagadres_[^.]|x-api-key/i);
});
