import { beforeAll, describe, expect, it } from '@jest/globals';
import { localAws } from '../../../local/engine/engine.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { runProcess, runWith, startLocalRun } from '../command-line.ts';
import { startFakeAws } from '../fake-aws.ts';

const outputs = { AccountsTableName: 'accounts', AddressesTableName: 'addresses' };

const bench = startForTests(startLocalRun);
const aws = startForTests(() =>
  startFakeAws({ 'bag-adres-mine-data': { outputs }, 'bag-adres-other-data': { outputs: {} } }, {}),
);
let env: NodeJS.ProcessEnv;

beforeAll(() => {
  env = {
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: bench.endpoint,
    AWS_ENDPOINT_URL_CLOUDFORMATION: aws.endpoint,
  };
});

const withoutKeys = { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined };

describe('the command line on a deployment', () => {
  it('uses the tables of a deployment, and asks AWS for nothing but their names', async () => {
    const stack = ['--stage', 'mine', '--json'];
    expect(
      await runWith(['plan', 'put', 'standard', '--limit', 'day=5', ...stack], env),
    ).toMatchObject({
      exit: 0,
      err: '',
    });
    expect(
      await runWith(['account', 'create', 'acme', '--plan', 'standard', ...stack], env),
    ).toMatchObject({
      exit: 0,
      err: '',
    });
    expect(aws.asked.map(({ operation }) => operation)).toEqual([
      'DescribeStacks',
      'DescribeStacks',
    ]);
    const { exit, out, err } = await runProcess(
      ['key', 'create', '--account', 'acme', '--label', 'k', ...stack],
      env,
    );
    expect([exit, err]).toEqual([0, '']);
    expect(JSON.parse(out).key).toMatch(/^bagadres_acme_/);
    expect(new Set(aws.asked.map(({ operation }) => operation))).toEqual(
      new Set(['DescribeStacks']),
    );
  });

  it.each(['bag-adres-mine', 'bag-adres-mine-data', 'Mine', 'mine stage'])(
    'takes the name of a stage alone, and says so for %s',
    async (stage) => {
      const { exit, err } = await runWith(['plan', 'list', '--stage', stage], env);
      expect([exit, err]).toEqual([
        2,
        expect.stringMatching(/--stage takes the name of a stage.*(--stage mine\.|like prod)/),
      ]);
    },
  );

  it('works on a named table', async () => {
    const named = { ...env, ACCOUNTS_TABLE: 'accounts' };
    await runWith(
      ['plan', 'put', 'named', '--limit', 'day=5', '--accounts-table', 'accounts'],
      env,
    );
    await runWith(['account', 'create', 'named', '--plan', 'named'], named);
    const { exit, out } = await runWith(
      ['key', 'create', '--account', 'named', '--label', 'k'],
      named,
    );
    expect(exit).toBe(0);
    expect(out).toMatch(/^bagadres_named_/);
  });

  it.each([
    ['no region', '--stage mine', { AWS_REGION: undefined }, 'aws_region', /AWS_REGION/],
    ['no credentials', '--stage mine', withoutKeys, 'aws_credentials', /AWS_PROFILE/],
    [
      'a stack that does not exist',
      '--stage missing',
      {},
      'aws_not_found',
      /stack bag-adres-missing-data .*AWS_PROFILE and AWS_REG/,
    ],
    [
      'a stack without our outputs',
      '--stage other',
      {},
      'no_output',
      /AccountsTableName in bag-adres-other-data. Deploy this ver/,
    ],
    ['a table that does not exist', '--accounts-table nope', {}, 'aws_not_found', /does not exist/],
  ])('exits with 1 and says what to do about %s', async (_, where, change, code, message) => {
    const { exit, out, err } = await runWith(`account list ${where} --json`.split(' '), {
      ...env,
      ...change,
    });
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toEqual({ error: { code, message: expect.stringMatching(message) } });
  });

  it('exits with 1 and says what to do when the engine is unreachable', async () => {
    const nothing = { ...env, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' };
    const args = ['account', 'list', '--accounts-table', 'accounts', '--json'];
    const { exit, out, err } = await runWith(args, nothing);
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toEqual({
      error: { code: 'unreachable', message: expect.stringMatching(/ECONNREFUSED/) },
    });
  });

  it('exits with 2 for a command that does not exist', async () => {
    expect(await runWith(['plans'])).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringMatching(/did you mean plan/i),
    });
  });
});
