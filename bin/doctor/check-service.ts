import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { storedAddress } from '../../lambdas/shared/addresses/address-item.ts';
import { parseAddressKey } from '../../lambdas/shared/addresses/address-key.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

/** More than the five seconds within which every request is answered. */
const timeoutMilliseconds = 8_000;
/** A lookup takes tens of milliseconds; a cold start under a second. */
const slowMilliseconds = 2_000;

const logs = 'See the function logs, the dashboard of the service stack, and docs/runbook.md.';

/** Whether the API answers: without a key it returns 401. Uses no quota. */
export async function checkApi(baseUrl: string): Promise<Finding> {
  const { status, milliseconds } = await ask(`${baseUrl}/v1/auth/validate`);
  const found = `${baseUrl} answered ${status} in ${milliseconds} ms`;
  if (status === 401) return ok('api', found);
  return failed('api', `${found}; a request without a key must return 401.`, logs);
}

/** Whether a key is valid, and its limits. Uses no quota. */
export async function checkKey(baseUrl: string, key: string | undefined): Promise<Finding> {
  if (key === undefined) return skipped('key', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const { status, body } = await ask(`${baseUrl}/v1/auth/validate`, key);
  if (status === 200) return ok('key', `plan ${body?.plan_code}, limits ${JSON.stringify(body?.limits)}`);
  const advice = 'Check the key, and its account with "account show ID", or create a key with "key create".';
  return failed('key', `The API returned ${status}: ${body?.detail ?? 'no reason given'}`, advice);
}

/** An address as a person writes it, `1012RJ 147` or `1381AA 9 a`. */
export type WantedAddress = { postcode: string; huisnummer: string; toevoeging: string };

/** Looks up one address, as a caller does: the given one, else one from the table. Uses one unit of quota. */
export async function checkLookup(
  baseUrl: string,
  key: string | undefined,
  findAddress: () => Promise<WantedAddress | null>,
): Promise<Finding> {
  if (key === undefined)
    return skipped('lookup', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const address = await findAddress();
  if (!address)
    return skipped('lookup', 'There is no address to look up.', 'Load the addresses first, or give --address.');
  const { status, milliseconds, body } = await ask(`${baseUrl}/v1/address?${new URLSearchParams(address)}`, key);
  const asked = `${address.postcode} ${address.huisnummer} ${address.toevoeging}`.trim();
  if (status === 429) return warning('lookup', 'The account has no quota left.', 'Give a key of another account.');
  if (status !== 200) return failed('lookup', `${asked}: ${status}, ${body?.detail ?? 'no reason given'}`, logs);
  const found = body?.address as { straat: string; woonplaats: string } | null | undefined;
  if (!found)
    return failed('lookup', `${asked} is ${body?.status}.`, 'Give an --address that exists, or check the load.');
  const text = `${asked} is ${found.straat}, ${found.woonplaats}, in ${milliseconds} ms`;
  return milliseconds < slowMilliseconds ? ok('lookup', text) : warning('lookup', text, `The lookup is slow. ${logs}`);
}

/** An address of the table whose lookup is not ambiguous. */
export async function someAddress(client: DynamoDBClient, table: string): Promise<WantedAddress | null> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  for (const { key, places } of Items.map(storedAddress)) {
    const address = places.length === 1 && parseAddressKey(key);
    if (address) return { ...address, huisnummer: String(address.huisnummer), toevoeging: address.toevoeging ?? '' };
  }
  return null;
}

type Answer = { status: number; milliseconds: number; body: Record<string, unknown> | null };

async function ask(url: string, key?: string): Promise<Answer> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    headers: key === undefined ? {} : { 'x-api-key': key },
    signal: AbortSignal.timeout(timeoutMilliseconds),
    redirect: 'manual',
  }).catch((error: Error) => {
    const { cause } = error;
    throw new Error(
      `${new URL(url).origin} does not answer: ${cause instanceof Error ? cause.message : error.message}`,
    );
  });
  const body = (await response.json().catch(() => null)) as Answer['body'];
  return { status: response.status, milliseconds: Math.round(performance.now() - startedAt), body };
}
