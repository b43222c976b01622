import { keyCode } from '../../core/accounts/account.ts';
import {
  accessItem,
  newAccessItem,
  readAccess,
  windowItem,
} from '../../core/accounts/account-item.ts';
import { issueApiKey } from '../../core/accounts/api-key.ts';
import { systemClock } from '../../core/calendar.ts';
import { addressRoute } from '../../lambdas/address/address-route.ts';
import type { Answer } from '../../lambdas/http/middleware.ts';
import type { RequestLog } from '../../lambdas/http/observe.ts';
import { gatewayEvent, lambdaContext, type TestRequest } from './gateway-event.ts';

const secret = 'the checksum secret of a stub';

/**
 * The route of lookups over stores that answer at once: what remains is the CPU of our code. `key`
 * is valid.
 */
export function stubbedRoute(log?: RequestLog) {
  const { key, claim } = issueApiKey('demo', secret);
  const plan = { code: 'p', state: 'active', limits: {}, version: 1 } as const;
  const item = {
    ...newAccessItem('demo', { plan, ownLimits: {} }, Math.floor(systemClock())),
    keys: { [claim.keyId]: claim.hash },
    [windowItem.day.used]: 1e6,
    [windowItem.month.used]: 1e6,
    [accessItem.byKey]: { [keyCode(claim.keyId)]: 1e6 },
  };
  const places = [{ straat: 'Buitenveer', woonplaats: 'Weesp' }];
  const found = { address: { key: '1381AA#9#A', places, toevoegingen: [] }, bare: undefined };
  const route = addressRoute({
    accessStore: {
      read: async () => readAccess(item),
      charge: async () => ({ charged: true, access: readAccess(item) }),
      recordDays: async () => undefined,
    },
    addressStore: {
      find: async () => found,
      findAll: async (requests) => requests.map(() => found),
    },
    datasetDate: async () => '2021-10-15',
    checksumSecrets: { known: [secret], reread: async () => [secret] },
    clock: systemClock,
    log,
  });

  async function send(url: string, request: TestRequest = {}): Promise<Answer> {
    const event = gatewayEvent(url, request);
    return await route(event as Parameters<typeof route>[0], lambdaContext);
  }
  return { key, send };
}

/** A body with so many valid addresses. */
export const validBody = (length = 100): string =>
  JSON.stringify({
    addresses: Array.from({ length }, (_, at) => ({
      postcode: '1381AA',
      huisnummer: at + 1,
      toevoeging: 'a',
    })),
  });
