import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  CloudFormationClient,
  DescribeStacksCommand,
  paginateDescribeStacks,
} from '@aws-sdk/client-cloudformation';
import { freePort } from '../../../test/support/free-port.ts';
import { sample, type TrueAddress, weespTruth } from '../../../test/support/weesp-truth.ts';
import {
  account,
  bagAdres,
  bootstrapWith,
  cdk,
  environmentAt,
  type Reached,
  region,
} from '../aws/aws.ts';
import { differsFromPage, type Judge, pythonPackages, root } from '../judge.ts';

const stage = 'test';
const deployment = ['--stage', stage];
const guard = { minimumAddresses: 30 };
const settings = { dataset: { objecten: true }, guard, removalPolicy: 'destroy', schedule: 'off' };
const perCall = 100;

/**
 * The one judge that serves HTTP: requests reach the deployed functions through its API Gateway.
 */
export const http: Judge = {
  description:
    'ministack: deployed by the CDK, Weesp loaded with objects, smoke, lookups and batches over HTTP',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const findings: string[] = [];
    const aws = await startMinistack();
    try {
      await bootstrapWith(aws);
      await cdk(aws, 'deploy', stage, settings);
      const loaded = await bagAdres(aws, 'load', 'run', ...deployment, '--extract', sample);
      if (!loaded.includes('11,920 added')) findings.push(`the load: ${loaded.slice(-500)}`);
      await bagAdres(aws, 'plan', 'put', 'judge', '--limit', 'day=100000', ...deployment);
      await bagAdres(aws, 'account', 'create', 'judge', '--plan', 'judge', ...deployment);
      const wanted = ['--account', 'judge', '--label', 'judge', '--json'];
      const { key } = JSON.parse(await bagAdres(aws, 'key', 'create', ...wanted, ...deployment));
      const origin = aws.origin(await baseUrl(aws));
      const asked = ['--url', origin, '--key', key, '--address', '1381AA 9 a'];
      const smoke = await bagAdres(aws, 'smoke', ...asked).catch(String);
      findings.push(...(smoke.match(/^failed: .*\n.*$/gm) ?? []));
      const addresses = [...(await weespTruth()).current.values()];
      const wrong = await wrongAnswers(origin, key, addresses);
      findings.push(...wrong.slice(0, 5));
      await cdk(aws, 'destroy', stage, settings);
      const left = await stacksOf(aws);
      if (left.length > 0) findings.push(`destroyed, but there are still ${left}`);
      const passed = /\d+ passed/.exec(smoke)?.[0] ?? 'none passed';
      return {
        findings: [...findings, ...differsFromPage('ministack', pretendedTable(aws.pretended))],
        detail: `smoke: ${passed}; ${addresses.length} addresses in batches`,
      };
    } finally {
      await aws.stop();
    }
  },
};

export type Ministack = Reached & {
  /** The address of an API, given the one that it would have in AWS. */
  origin(baseUrl: string): string;
  /** The types of resource that exist in name only. */
  pretended: Set<string>;
  stop(): Promise<void>;
};

export async function startMinistack(): Promise<Ministack> {
  const packages = await pythonPackages('http/requirements.txt');
  const port = await freePort();
  const server = spawn(
    join(packages, 'bin/python'),
    ['-B', join(import.meta.dirname, 'server.py')],
    {
      stdio: ['ignore', 'pipe', 'ignore'],
      // Functions run on the Node that runs this, with an SDK for those that Lambda's own is enough
      // for.
      env: {
        ...process.env,
        NODE_PATH: join(root, 'node_modules'),
        PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
        GATEWAY_PORT: String(port),
        MINISTACK_ACCOUNT_ID: account,
        MINISTACK_REGION: region,
      },
    },
  );
  const pretended = new Set<string>();
  createInterface(server.stdout).on('line', (line) => {
    const [, kind] = /^pretends: (.+)/.exec(line) ?? [];
    if (kind) pretended.add(kind);
  });
  const endpoint = `http://127.0.0.1:${port}`;
  const health = () => fetch(`${endpoint}/_ministack/health`).catch(() => undefined);
  while (!(await health())?.ok) {
    if (server.exitCode !== null) throw new Error(`ministack ended with ${server.exitCode}`);
    await sleep(200);
  }
  return {
    environment: environmentAt(endpoint, account),
    origin: (baseUrl) =>
      `${endpoint}/_aws/execute-api/${new URL(baseUrl).host.split('.')[0]}/$default`,
    pretended,
    async stop() {
      // It would wait for what it still runs.
      server.kill('SIGKILL');
      await once(server, 'exit');
    },
  };
}

function cloudFormation({ environment }: Reached): CloudFormationClient {
  const credentials = { accessKeyId: account, secretAccessKey: 'judge' };
  return new CloudFormationClient({ region, credentials, endpoint: environment.AWS_ENDPOINT_URL });
}

async function baseUrl(aws: Reached): Promise<string> {
  const StackName = `bag-adres-${stage}-service`;
  const { Stacks } = await cloudFormation(aws).send(new DescribeStacksCommand({ StackName }));
  return Stacks?.[0]?.Outputs?.find(({ OutputKey }) => OutputKey === 'BaseUrl')?.OutputValue ?? '';
}

/** The stacks of the deployment that exist. */
async function stacksOf(aws: Reached): Promise<string[]> {
  const names: string[] = [];
  for await (const { Stacks = [] } of paginateDescribeStacks({ client: cloudFormation(aws) }, {})) {
    names.push(
      ...Stacks.flatMap(({ StackName = '' }) =>
        StackName.startsWith('bag-adres-') ? StackName : [],
      ),
    );
  }
  return names;
}

/** Looks up every address of the truth, and one by one the first ten, and returns what differs. */
async function wrongAnswers(
  origin: string,
  key: string,
  addresses: readonly TrueAddress[],
): Promise<string[]> {
  const headers = { 'X-API-Key': key, 'Content-Type': 'application/json' };
  const wrong: string[] = [];
  const compare = (answer: unknown, { straat, ids, ...address }: TrueAddress) => {
    const found = answer as {
      address: { straat: string; nummeraanduidingen: string[]; objecten: unknown[] } | null;
    };
    const { address: is } = found;
    if (
      is?.straat !== straat ||
      is.nummeraanduidingen.join() !== ids.join() ||
      !Array.isArray(is.objecten)
    ) {
      wrong.push(
        `${JSON.stringify(address)} is ${JSON.stringify(found).slice(0, 300)}, not ${straat}`,
      );
    }
  };
  for (let at = 0; at < addresses.length; at += perCall) {
    const some = addresses.slice(at, at + perCall);
    const asked = some.map(({ postcode, huisnummer, toevoeging }) => ({
      postcode,
      huisnummer,
      toevoeging,
    }));
    const body = JSON.stringify({ addresses: asked, include: ['nummeraanduidingen', 'objecten'] });
    const response = await fetch(`${origin}/v1/addresses`, { method: 'POST', headers, body });
    if (response.status !== 200) {
      return [`a batch is answered with ${response.status} ${await response.text()}`];
    }
    const { results } = (await response.json()) as { results: unknown[] };
    for (const [i, address] of some.entries()) compare(results[i], address);
  }
  for (const address of addresses.slice(0, 10)) {
    const { postcode, huisnummer, toevoeging } = address;
    const query = new URLSearchParams({ postcode, huisnummer: String(huisnummer), toevoeging });
    const include = 'include=nummeraanduidingen,objecten';
    const response = await fetch(`${origin}/v1/address?${query}&${include}`, { headers });
    compare(await response.json(), address);
  }
  return wrong;
}

function pretendedTable(pretended: ReadonlySet<string>): string {
  return [
    '| exists in name only |',
    '|---|',
    ...[...pretended].sort().map((kind) => `| ${kind} |`),
  ].join('\n');
}
