import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, it } from '@jest/globals';
import { newAccount, startAddressService } from '../../support/address-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const script = fileURLToPath(new URL('../../support/lookup-log.ts', import.meta.url));
const service = startForTests(startAddressService);
let account: Awaited<ReturnType<typeof newAccount>>;
/** The lines with dashboards, and of the same requests without. */
let lines: string[];
let without: string[];

beforeAll(async () => {
  account = await newAccount(service, { day: 2 });
  [lines, without] = [linesOf({ REQUEST_METRICS: 'all' }), linesOf({ REQUEST_METRICS: '' })];
});

/** Runs beside the engine, which is a process of its own. */
function linesOf(variables: Record<string, string>): string[] {
  const env = {
    ...process.env,
    POWERTOOLS_METRICS_DISABLED: 'false',
    POWERTOOLS_LOG_LEVEL: 'DEBUG',
    ...variables,
  };
  const args = [script, service.endpoint, account.key];
  const { stdout, stderr } = spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  return `${stdout}\n${stderr}`.split('\n').filter(Boolean);
}

it('the log has the account and outcome of each request, with its metrics in the same line', () => {
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ _aws }) => _aws);
  expect(outcomes.map(({ service, outcome, status }) => `${service} ${outcome} ${status}`)).toEqual(
    [
      'address ok 200',
      'address invalid-input 422',
      'address not_found 200',
      'address quota-exceeded 429',
      'address unauthorized 401',
      'address unauthorized 401',
      'validate ok 200',
      'validate not-found 404',
      'address temporarily-unavailable 503',
      'address internal-error 500',
    ],
  );
  const [first] = outcomes;
  expect(first).toMatchObject({ account: account.id, key_id: account.keyId, Requests: 1 });
  expect(outcomes.flatMap(({ charged, outcome }) => (charged ? [outcome] : []))).toEqual([
    'ok',
    'not_found',
  ]);
  expect(first.ms).toBeGreaterThanOrEqual(0);
  // A second metric would double what the custom metrics cost.
  expect(first._aws.CloudWatchMetrics).toHaveLength(1);
  expect(first._aws.CloudWatchMetrics[0]).toMatchObject({
    Metrics: [{ Name: 'Requests', Unit: 'Count' }],
    Namespace: 'BagAdres',
    Dimensions: [['service', 'outcome']],
  });
});

it('a request emits a metric only for outcomes with an alarm, unless dashboards are enabled', () => {
  const all = without.filter((line) => line.includes('"outcome"')).map((line) => JSON.parse(line));
  expect(
    all.map(({ service, outcome, _aws }) => `${service} ${outcome} ${_aws ? 'metric' : ''}`.trim()),
  ).toEqual([
    'address quota-exceeded',
    'address invalid-input',
    'address quota-exceeded',
    'address quota-exceeded',
    'address unauthorized metric',
    'address unauthorized metric',
    'validate ok',
    'validate not-found',
    'address temporarily-unavailable metric',
    'address internal-error',
  ]);
});

it('names the account of every key that this deployment issued, also of a request that it refuses', () => {
  const outcomes = lines.map((line) => JSON.parse(line)).filter(({ outcome }) => outcome);
  expect(outcomes.flatMap(({ outcome, account }) => (account ? [] : [outcome]))).toEqual([
    // A malformed key, and a path that is not the API's.
    'unauthorized',
    'not-found',
  ]);
  for (const line of lines.filter((line) => /"level":"ERROR"/.test(line))) {
    expect(JSON.parse(line)).toMatchObject({ account: account.id });
  }
});

it('a charge of unknown outcome is a metric, by service and by its cause', () => {
  const unknown = without.filter((line) => line.includes('UnknownCharges'));
  expect(unknown.map((line) => JSON.parse(line))).toEqual([
    expect.objectContaining({
      _aws: {
        Timestamp: expect.any(Number),
        CloudWatchMetrics: [
          expect.objectContaining({
            Dimensions: [['service'], ['service', 'cause']],
            Metrics: [{ Name: 'UnknownCharges', Unit: 'Count' }],
          }),
        ],
      },
      service: 'address',
      cause: 'connection',
      UnknownCharges: 1,
      status: 503,
    }),
  ]);
});

it("the log has a separate line, with the cause, for an error that is not the caller's", () => {
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

it('the log never contains the key, its secret, hash or label, a path or a query', () => {
  const secret = account.key.slice(account.key.lastIndexOf('_') + 9, -8);
  const log = lines.join('\n');
  expect(log).not.toContain(secret);
  expect(log).not.toContain('the webshop of the tests');
  expect(log).not.toMatch(/1381AA|postcode|bagadres_[^.]|x-api-key/i);
});
