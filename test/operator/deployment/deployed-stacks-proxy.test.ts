import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const seen: string[] = [];
const proxy = createServer((request, response) => {
  seen.push(`${request.method} ${request.url}`);
  response.writeHead(404).end();
});
beforeAll(async () => {
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
});
afterAll(() => void proxy.close());

/** Runs code in a process with the environment of an operator behind the proxy. */
async function behindProxy(code: string): Promise<string[]> {
  seen.length = 0;
  const { port } = proxy.address() as AddressInfo;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: 'ignore',
    env: {
      ...process.env,
      NODE_USE_ENV_PROXY: '1',
      HTTP_PROXY: `http://127.0.0.1:${port}`,
      AWS_ENDPOINT_URL: 'http://aws.example',
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'test',
      AWS_SECRET_ACCESS_KEY: 'test',
    },
  });
  await once(child, 'exit');
  return seen;
}

const file = (path: string) => JSON.stringify(resolve(path));

describe("with Node's switch for proxies", () => {
  it('the commands call AWS through the proxy', async () => {
    const code = `import { readStack } from ${file('operator/deployment/deployed-stacks.ts')};
      await readStack('any').catch(() => undefined);`;
    expect(await behindProxy(code)).toContain('POST http://aws.example/');
  });

  it('an extract in S3 is read through the proxy', async () => {
    const code = `import { openSource } from ${file('loader/storage/open.ts')};
      await openSource('s3://bucket/extract.zip').catch(() => undefined);`;
    expect(await behindProxy(code)).toContain('HEAD http://aws.example/bucket/extract.zip');
  });

  it('an extract at a URL is read through the proxy', async () => {
    const code = `import { openSource } from ${file('loader/storage/open.ts')};
      await openSource('http://pdok.example/extract.zip').catch(() => undefined);`;
    expect((await behindProxy(code)).join()).toContain('http://pdok.example/extract.zip');
  });
});
