import { readApiKey } from '../../core/accounts/api-key.ts';
import { createAccessStore } from '../../core/accounts/charge/access-store.ts';
import { charge } from '../../core/accounts/charge/charge.ts';
import type { ChargingClient } from '../../core/dynamodb.ts';
import { type startAddressService, testTables } from './address-service.ts';
import { testChecksumSecret } from './dynamodb.ts';

/** Charges so many lookups with a key, in one request, at a time in seconds. */
export async function chargeKey(
  client: ChargingClient,
  key: string,
  at: number,
  lookups: number,
): Promise<void> {
  const claim = readApiKey(key, [testChecksumSecret]);
  if (!claim) throw new Error('not a key of this deployment');
  await charge(
    createAccessStore(client, testTables.accounts),
    claim,
    () => at,
    AbortSignal.timeout(20_000),
    lookups,
  );
}

/** Charges an account so many lookups at a time in seconds, with a new key, whose id it returns. */
export async function chargeAt(
  { client, admin }: Pick<Awaited<ReturnType<typeof startAddressService>>, 'client' | 'admin'>,
  account: string,
  at: number,
  lookups: number,
  label = 'test',
): Promise<string> {
  const { key, keyId } = await admin.keys.create({ account, label });
  await chargeKey(client, key, at, lookups);
  return keyId;
}
