import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readApiKey } from '../../../core/accounts/api-key.ts';
import { localAws } from '../../../local/engine/engine.ts';
import { runProcess, runWith, startLocalRun } from '../command-line.ts';

const secretArn = 'arn:aws:secretsmanager:eu-west-1:000000000000:secret:checksum';
const outputs = {
  AccountsTableName: 'accounts',
  AddressesTableName: 'addresses',
  KeyChecksumSecretArn: secretArn,
};

let bench: Awaited<ReturnType<typeof startLocalRun>>;
let aws: Server;
let env: NodeJS.ProcessEnv;
const asked: string[] = [];

beforeAll(async () => {
  bench = await startLocalRun();
  aws = createServer(async (request, response) => {
    const body = await textOf(request);
    const { status, text } = answer(request, body);
    response.writeHead(status, { 'content-type': text.startsWith('<') ? 'text/xml' : 'application/x-amz-json-1.1' });
    response.end(text);
  }).listen(0, '127.0.0.1');
  await once(aws, 'listening');
  const endpoint = `http://127.0.0.1:${(aws.address() as AddressInfo).port}`;
  env = {
    AWS_REGION: localAws.region,
    AWS_ACCESS_KEY_ID: localAws.credentials.accessKeyId,
    AWS_SECRET_ACCESS_KEY: localAws.credentials.secretAccessKey,
    AWS_ENDPOINT_URL_DYNAMODB: bench.endpoint,
    AWS_ENDPOINT_URL_CLOUDFORMATION: endpoint,
    AWS_ENDPOINT_URL_SECRETS_MANAGER: endpoint,
  };
});
afterAll(async () => {
  aws.close();
  await bench.stop();
});

/** CloudFormation and Secrets Manager, as far as their published protocols matter here. */
function answer(request: IncomingMessage, body: string): { status: number; text: string } {
  const target = request.headers['x-amz-target'];
  asked.push(typeof target === 'string' ? target : (new URLSearchParams(body).get('Action') ?? '?'));
  if (target === 'secretsmanager.GetSecretValue') {
    expect(JSON.parse(body)).toEqual({ SecretId: secretArn });
    return { status: 200, text: JSON.stringify({ ARN: secretArn, SecretString: 'of the stack' }) };
  }
  const stack = new URLSearchParams(body).get('StackName');
  if (stack !== 'mine-data' && stack !== 'other-data') {
    const error = `<Type>Sender</Type><Code>ValidationError</Code><Message>Stack with id ${stack} does not exist</Message>`;
    return { status: 400, text: `<ErrorResponse><Error>${error}</Error></ErrorResponse>` };
  }
  const members = Object.entries(stack === 'other-data' ? {} : outputs).map(
    ([key, value]) => `<member><OutputKey>${key}</OutputKey><OutputValue>${value}</OutputValue></member>`,
  );
  const stacks = `<member><StackName>${stack}</StackName><Outputs>${members.join('')}</Outputs></member>`;
  const result = `<DescribeStacksResult><Stacks>${stacks}</Stacks></DescribeStacksResult>`;
  return { status: 200, text: `<DescribeStacksResponse>${result}</DescribeStacksResponse>` };
}

async function textOf(request: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of request) text += chunk;
  return text;
}

describe('the command line on a deployment', () => {
  it('uses the tables of a deployment, and fetches the secret only to create a key', async () => {
    const stack = ['--stack', 'mine-data', '--json'];
    expect(await runWith(['plan', 'put', 'standard', '--limit', 'day=5', ...stack], env)).toMatchObject({
      exit: 0,
      err: '',
    });
    expect(await runWith(['account', 'create', 'acme', '--plan', 'standard', ...stack], env)).toMatchObject({
      exit: 0,
      err: '',
    });
    expect(asked).toEqual(['DescribeStacks', 'DescribeStacks']);
    const { exit, out, err } = await runProcess(['key', 'create', '--account', 'acme', '--label', 'k', ...stack], env);
    expect([exit, err]).toEqual([0, '']);
    expect(readApiKey(JSON.parse(out).key, 'of the stack')).toMatchObject({ account: 'acme' });
  });

  it.each(['mine', 'mine-data', 'mine-service', 'mine-loader'])(
    'finds a deployment by the name of any of its stacks, or their common prefix: %s',
    async (stack) => {
      const { exit, out, err } = await runWith(['plan', 'list', '--stack', stack], env);
      expect([exit, err]).toEqual([0, '']);
      expect(out).toContain('standard');
    },
  );

  it('works on a named table with the secret in the environment', async () => {
    const named = { ...env, ACCOUNTS_TABLE: 'accounts', KEY_CHECKSUM_SECRET: 'of the environment' };
    await runWith(['plan', 'put', 'named', '--limit', 'day=5', '--accounts-table', 'accounts'], env);
    await runWith(['account', 'create', 'named', '--plan', 'named'], named);
    const { exit, out } = await runWith(['key', 'create', '--account', 'named', '--label', 'k'], named);
    expect(exit).toBe(0);
    expect(readApiKey(out.trim(), 'of the environment')).toMatchObject({ account: 'named' });
  });

  it.each([
    ['no region', ['--stack', 'mine'], { AWS_REGION: undefined }, 'aws_region', /AWS_REGION/],
    [
      'no credentials',
      ['--stack', 'mine'],
      { AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined },
      'aws_credentials',
      /AWS_PROFILE/,
    ],
    [
      'a stack that does not exist',
      ['--stack', 'missing'],
      {},
      'aws_not_found',
      /stack missing-data does not exist.*takes a deployment.*any of its stacks.*AWS_PROFILE and AWS_REGION/,
    ],
    [
      'a stack without our outputs',
      ['--stack', 'other'],
      {},
      'no_output',
      /No output AccountsTableName in other-data. Deploy this version/,
    ],
    ['a table that does not exist', ['--accounts-table', 'nope'], {}, 'aws_not_found', /does not exist/],
  ])('exits with 1 and says what to do about %s', async (_, where, change, code, message) => {
    const { exit, out, err } = await runWith(['account', 'list', ...where, '--json'], { ...env, ...change });
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toEqual({ error: { code, message: expect.stringMatching(message) } });
  });

  it('exits with 1 and says what to do when the engine is unreachable', async () => {
    const nothing = { ...env, AWS_ENDPOINT_URL_DYNAMODB: 'http://127.0.0.1:1' };
    const args = ['account', 'list', '--accounts-table', 'accounts', '--json'];
    const { exit, out, err } = await runWith(args, nothing);
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err)).toEqual({ error: { code: 'unreachable', message: expect.stringMatching(/ECONNREFUSED/) } });
  });

  it('creates no key without the checksum secret', async () => {
    const { exit, err } = await runWith(
      ['key', 'create', '--account', 'acme', '--label', 'k', '--accounts-table', 'accounts'],
      env,
    );
    expect(exit).toBe(1);
    expect(err).toMatch(/checksum secret.*--stack.*KEY_CHECKSUM_SECRET/);
  });

  it('exits with 2 for a command that does not exist', async () => {
    expect(await runWith(['plans'])).toMatchObject({
      exit: 2,
      out: '',
      err: expect.stringMatching(/did you mean plan/i),
    });
  });
});
