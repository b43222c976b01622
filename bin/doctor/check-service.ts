import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { storedAddress } from '../../lambdas/shared/addresses/address-item.ts';
import { parseAddressKey } from '../../lambdas/shared/addresses/address-key.ts';
import { type Finding, failed, ok, skipped, warning } from './finding.ts';

/** Over the five seconds in which every request is answered. */
const patienceMilliseconds = 8_000;
/** A lookup takes tens of milliseconds; a cold start under a second. */
const slowMilliseconds = 2_000;

const logs = 'The logs of the functions and the dashboard of the service stack say why; docs/runbook.md.';

/** Whether the interface is there: it refuses who has no key. Costs no lookup. */
export async function checkInterface(baseUrl: string): Promise<Finding> {
  const { status, milliseconds } = await ask(`${baseUrl}/v1/auth/validate`);
  const found = `${baseUrl} answered ${status} in ${milliseconds} ms`;
  if (status === 401) return ok('interface', found);
  return failed('interface', `${found} where a request without a key gets 401.`, logs);
}

/** Whether a key opens it, and what it may do. Costs no lookup. */
export async function checkKey(baseUrl: string, key: string | undefined): Promise<Finding> {
  if (key === undefined) return skipped('key', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const { status, body } = await ask(`${baseUrl}/v1/auth/validate`, key);
  if (status === 200) return ok('key', `of plan ${body?.plan_code}, limits ${JSON.stringify(body?.limits)}`);
  const advice = 'Make one of this deployment: "key create"; "account show" tells of account and plan.';
  return failed('key', `The interface answered ${status}: ${body?.detail ?? 'no reason'}`, advice);
}

/** An address as a person writes it, `1012RJ 147` or `1381AA 9 a`. */
export type WantedAddress = { postcode: string; huisnummer: string; toevoeging: string };

/** Looks one address up, as a caller does: a known one, else one out of the table. Costs one lookup. */
export async function checkLookup(
  baseUrl: string,
  key: string | undefined,
  findAddress: () => Promise<WantedAddress | null>,
): Promise<Finding> {
  if (key === undefined)
    return skipped('lookup', 'No key was given.', 'Give --key, or BAG_ADRES_KEY in the environment.');
  const address = await findAddress();
  if (!address)
    return skipped('lookup', 'There is no address to look up.', 'Load the register first, or give --address.');
  const { status, milliseconds, body } = await ask(`${baseUrl}/v1/address?${new URLSearchParams(address)}`, key);
  const asked = `${address.postcode} ${address.huisnummer} ${address.toevoeging}`.trim();
  if (status === 429) return warning('lookup', 'The account has no quota left.', 'Give a key of an account with some.');
  if (status !== 200) return failed('lookup', `${asked}: ${status}, ${body?.detail ?? 'no reason'}`, logs);
  const found = body?.address as { straat: string; woonplaats: string } | null | undefined;
  if (!found)
    return failed(
      'lookup',
      `${asked} is ${body?.status}.`,
      'Give --address of one that exists, or look into the load.',
    );
  const text = `${asked} is ${found.straat}, ${found.woonplaats}, in ${milliseconds} ms`;
  return milliseconds < slowMilliseconds ? ok('lookup', text) : warning('lookup', text, `That is slow. ${logs}`);
}

/** Some address of the table that has one place. */
export async function someAddress(client: DynamoDBClient, table: string): Promise<WantedAddress | null> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  for (const { key, places } of Items.map(storedAddress)) {
    const address = places.length === 1 && parseAddressKey(key);
    if (address) return { ...address, huisnummer: String(address.huisnummer), toevoeging: address.toevoeging ?? '' };
  }
  return null;
}

type Asked = { status: number; milliseconds: number; body: Record<string, unknown> | null };

async function ask(url: string, key?: string): Promise<Asked> {
  const startedAt = performance.now();
  const response = await fetch(url, {
    headers: key === undefined ? {} : { 'x-api-key': key },
    signal: AbortSignal.timeout(patienceMilliseconds),
    redirect: 'manual',
  }).catch((error: Error) => {
    const { cause } = error;
    throw new Error(
      `${new URL(url).origin} does not answer: ${cause instanceof Error ? cause.message : error.message}`,
    );
  });
  const body = (await response.json().catch(() => null)) as Asked['body'];
  return { status: response.status, milliseconds: Math.round(performance.now() - startedAt), body };
}
