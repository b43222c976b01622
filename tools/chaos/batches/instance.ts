import { createStoreClient } from '../../../core/dynamodb.ts';
import { createInstance } from '../../../test/support/address-service.ts';

/** A request for an instance: a body for `POST /v1/addresses`, by a clock that shows `seconds`. */
export type Asked = { id: number; key: string; body: unknown; seconds: number };

/** What the instance answered; `fault` if that is not in the contract. */
export type Answered = { id: number; status: number; json: unknown; headers: Record<string, string>; fault?: string };

/**
 * One process of several that serve the same accounts, with the client of the Lambdas: the environment names the
 * engine.
 */
let now = 0;
const instance = createInstance(createStoreClient(), () => now);
process.on('message', async ({ id, key, body, seconds }: Asked) => {
  now = seconds;
  const answered = await instance.lookUpAll(key, body).then(
    ({ status, json, headers }): Answered => ({ id, status, json, headers }),
    (error: unknown): Answered => ({ id, status: 0, json: null, headers: {}, fault: String(error) }),
  );
  process.send?.(answered);
});
process.on('disconnect', () => process.exit());
process.send?.('ready');
