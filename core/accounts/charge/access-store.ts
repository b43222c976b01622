import { setTimeout as sleep } from 'node:timers/promises';
import { unmarshall } from '@aws-sdk/util-dynamodb';
import { dateOf } from '../../calendar.ts';
import { wasNeverOpened } from '../../connections.ts';
import {
  type ChargingClient,
  conditionFailed,
  documents,
  type Item,
  isConflict,
  isOurFault,
  isRefused,
  isRefusedForNow,
  orUnavailable,
  StoreUnavailable,
  sendingOnce,
  type Update,
} from '../../dynamodb.ts';
import { accountsTable } from '../../tables.ts';
import type { Access } from '../account.ts';
import { accessKey, readAccess } from '../account-item.ts';
import { limitsOf } from '../quota.ts';
import { recordDays } from '../usage-record.ts';
import { type AccessStore, ChargeUnknown, type UnknownCause } from './charge.ts';
import { chargeCommand, type KnownLimits } from './charge-command.ts';

const longestPauseMilliseconds = 400;

/**
 * Access items in DynamoDB. The pauses before a refused write is sent again begin with
 * `pauseMilliseconds`.
 */
export function createAccessStore(
  client: ChargingClient,
  table: string,
  pauseMilliseconds = 25,
): AccessStore {
  const { get, updateAll } = documents(client);
  const { update } = documents(sendingOnce(client));
  const limits = createKnownLimits();

  /** @throws ConditionalCheckFailedException, ChargeUnknown, StoreUnavailable */
  async function sendUntilApplied(command: Update, signal: AbortSignal): Promise<Item | undefined> {
    for (let pause = pauseMilliseconds; ; pause = Math.min(2 * pause, longestPauseMilliseconds)) {
      try {
        // Without retries nothing but the connection is waited for, and the signal ends that.
        return await update(command, signal);
      } catch (error) {
        if (conditionFailed(error) || isOurFault(error)) throw error;
        if (!wasNotApplied(error)) {
          throw new ChargeUnknown(causeOf(error, signal), { cause: error });
        }
        if (canSucceedLater(error)) {
          await sleep(pause * (1 - Math.random() / 2), undefined, { signal }).catch(
            () => undefined,
          );
          if (!signal.aborted) continue;
        }
        throw new StoreUnavailable('the store did not accept a charge', { cause: error });
      }
    }
  }

  return {
    async read({ account }, signal) {
      const key = { TableName: table, Key: accessKey(account), ConsistentRead: true };
      return accessIn(await orUnavailable(get(key, signal), signal), account);
    },

    async charge(attempt, signal) {
      const { claim, units, returned } = attempt;
      const known = returned ? limitsIn(returned) : limits.of(claim.account);
      try {
        const item = await sendUntilApplied(chargeCommand(table, attempt, known), signal);
        const access = accessIn(item, claim.account);
        if (access) limits.learn(access, units);
        return { charged: true, access };
      } catch (error) {
        if (!conditionFailed(error)) throw error;
        return { charged: false, access: error.Item && readAccess(unmarshall(error.Item)) };
      }
    },

    async recordDays(returned, now, signal) {
      const updates = recordDays(table, returned, {
        today: dateOf(Math.floor(now)),
        movesIdle: true,
      });
      await orUnavailable(updateAll(updates), signal, isConflict).catch(async (error: unknown) => {
        if (!isConflict(error)) throw error;
        await sleep(Math.random() * 20); // another caller is doing it, or has done it
      });
    },
  };
}

/** The access item that the store has returned; anything else is as good as none. */
function accessIn(item: Item | undefined, account: string): Access | undefined {
  return item?.[accountsTable.partitionKey] === account ? readAccess(item) : undefined;
}

/**
 * Whether the store has refused a write, or never received it: everything else may have been
 * applied.
 */
function wasNotApplied(error: unknown): boolean {
  return isRefused(error) || wasNeverOpened(error);
}

/**
 * Causes of a write that was not applied: throttling, a transaction on the item (milliseconds), no
 * connection.
 */
function canSucceedLater(error: unknown): boolean {
  return isRefusedForNow(error) || isConflict(error) || wasNeverOpened(error);
}

function causeOf(error: unknown, signal: AbortSignal): UnknownCause {
  if (signal.aborted) return 'time-up';
  const { $metadata, $response } = (error ?? {}) as { $metadata?: Status; $response?: Status };
  const status = $metadata?.httpStatusCode ?? $response?.statusCode;
  return status !== undefined && status >= 500 ? 'server-error' : 'connection';
}

type Status = { httpStatusCode?: number; statusCode?: number };

/** Accounts whose limits an instance remembers. */
const mostAccounts = 10_000;

/** Those of an account and of its keys. */
function limitsIn({ quota, keyLimits }: Access): KnownLimits {
  return { windows: limitsOf(quota), keys: keyLimits };
}

const noLimits: KnownLimits = { windows: {}, keys: {} };

/**
 * The limits of accounts that send batches, as an instance last saw them. A charge for more than
 * one unit needs them; outdated limits cost only one more write.
 */
function createKnownLimits() {
  const known = new Map<string, KnownLimits>();
  return {
    of: (account: string): KnownLimits => known.get(account) ?? noLimits,
    learn(access: Access, units: number): void {
      const { account } = access;
      if (units === 1 && !known.has(account)) return;
      if (known.size >= mostAccounts && !known.has(account)) {
        known.delete(known.keys().next().value as string);
      }
      known.set(account, limitsIn(access));
    },
  };
}
