import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient, GetItemCommand } from '@aws-sdk/client-dynamodb';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createStoreClient, Sha256 } from '../../core/dynamodb.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const hasLogger = (client: DynamoDBClient) =>
  client.middlewareStack.identify().some((name) => name.startsWith('loggerMiddleware'));

describe('the client of the Lambdas', () => {
  const before = { ...process.env };
  const folder = folderForNow('config-');

  beforeEach(() => {
    Object.assign(process.env, {
      AWS_REGION: 'eu-central-1',
      AWS_ACCESS_KEY_ID: 'x',
      AWS_SECRET_ACCESS_KEY: 'x',
      AWS_CONFIG_FILE: join(folder, 'config'),
    });
    delete process.env.AWS_ENDPOINT_URL;
    delete process.env.AWS_ENDPOINT_URL_DYNAMODB;
    writeFileSync(join(folder, 'config'), '[default]\nendpoint_url = http://of-the-file:1\n');
  });

  afterEach(() => {
    process.env = { ...before };
  });

  /** Where a call of `client` would go. */
  async function hostOf(client: DynamoDBClient): Promise<string> {
    client.middlewareStack.add(
      () => async (args) => {
        throw new Error((args.request as { hostname: string }).hostname);
      },
      { step: 'deserialize', priority: 'low' },
    );
    const call = client.send(
      new GetItemCommand({ TableName: 'addresses', Key: { address: { S: '1381AA#9' } } }),
    );
    return call.then(String, ({ message }: Error) => message);
  }

  it('has no logger middleware, whose name in the SDK has not changed', () => {
    expect(hasLogger(new DynamoDBClient())).toBe(true);
    expect(hasLogger(createStoreClient())).toBe(false);
  });

  it('makes one signer for all calls, where the SDK makes one for each', async () => {
    const plain = new DynamoDBClient().config;
    const ours = createStoreClient().config;
    expect(await plain.signer()).not.toBe(await plain.signer());
    expect(await ours.signer()).toBe(await ours.signer());
  });

  it('reads no configuration file, which no Lambda has', async () => {
    expect(await hostOf(new DynamoDBClient())).toBe('of-the-file');
    expect(await hostOf(createStoreClient())).toBe('dynamodb.eu-central-1.amazonaws.com');
  });

  it('uses the endpoint of its environment, its own before the one of all services', async () => {
    process.env.AWS_ENDPOINT_URL = 'http://of-all:1';
    expect(await hostOf(createStoreClient())).toBe('of-all');
    process.env.AWS_ENDPOINT_URL_DYNAMODB = 'http://of-dynamodb:1';
    expect(await hostOf(createStoreClient())).toBe('of-dynamodb');
  });
});

describe('the hash under a signature', () => {
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 100 });
  /** A secret in each form in which the SDK may give it. */
  const formsOf = (secret: string | Uint8Array) =>
    typeof secret === 'string'
      ? [secret]
      : [secret, Buffer.from([0, ...secret]).subarray(1), new Uint8Array(secret).buffer];

  it('is SHA-256, or the HMAC of any secret, also on the second use', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.uint8Array()),
        fc.option(fc.oneof(fc.string(), bytes)),
        async (chunks, secret) => {
          const expected = secret === null ? createHash('sha256') : createHmac('sha256', secret);
          const digest = expected.update(Buffer.concat(chunks)).digest('hex');
          for (const form of secret === null ? [undefined] : formsOf(secret)) {
            const sha256 = new Sha256(form);
            for (let use = 0; use < 2; use++) {
              for (const chunk of chunks) sha256.update(chunk);
              expect(Buffer.from(await sha256.digest()).toString('hex')).toBe(digest);
              sha256.reset();
            }
          }
        },
      ),
    );
  });
});
