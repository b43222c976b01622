import middy from '@middy/core';
import { type Caller, Refusal, requireCaller } from '../../core/accounts/account.ts';
import type { KeyClaim } from '../../core/accounts/api-key.ts';
import { charge } from '../../core/accounts/charge/charge.ts';
import type { AccessStore } from '../../core/accounts/charge/charge-port.ts';
import type { KeyUse } from '../../core/accounts/key-record.ts';
import { closestToExhaustion, type QuotaState, reportWindows } from '../../core/accounts/quota.ts';
import type { RefusalCount } from '../../core/accounts/usage-record.ts';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import type { AddressStore, DatasetDate } from '../../core/addresses/address-store.ts';
import { lookupAnswer } from '../../core/addresses/lookup-answer.ts';
import { withTestAddresses } from '../../core/addresses/test-addresses.ts';
import type { Clock } from '../../core/calendar.ts';
import type { LookupAnswer } from '../../core/contract.ts';
import {
  type Answer,
  acceptOnly,
  authenticate,
  commonHeaders,
  deadline,
  type Middleware,
  type MiddlewareRequest,
  ok,
  type RequestEvent,
} from '../http/middleware.ts';
import { observe } from '../http/observe.ts';
import { renderProblems } from '../http/problem.ts';

/** Reads the input, but refuses nothing yet: a caller with a bad key must not learn whether the input is valid. */
export function readInput(): Middleware {
  return {
    before: ({ event }) => {
      event.input = readAddressInput(event.rawQueryString);
    },
  };
}

/** Refuses invalid input, after authentication. */
export function requireValidInput(): Middleware {
  return {
    before: ({ event }) => {
      if (event.input?.request === null) throw new Refusal({ code: 'invalid-input', faults: event.input.faults() });
    },
  };
}

/** Counts the requests of an account that are refused, which no answer waits for. */
export function countRefusals(refusals: RefusalCount | undefined, clock: Clock): Middleware {
  return {
    onError: ({ event, error }) => {
      const account = event.caller?.account ?? event.refused;
      if (account !== undefined && error instanceof Refusal) refusals?.note(account, error.reason.code, clock());
    },
  };
}

/** Adds the date of the dataset to each lookup. */
export function datasetDateHeader(datasetDate: DatasetDate): Middleware {
  return {
    after: async ({ response }) => {
      const date = await datasetDate();
      if (response && date) response.headers['dataset-date'] = date;
    },
  };
}

/**
 * Adds the quota to each lookup that counted and to each 429 (IETF draft "RateLimit header fields for HTTP"). An account
 * without a finite window gets neither header: a structured-field list can't be empty.
 */
export function rateLimitHeaders(clock: Clock): Middleware {
  function addHeaders(request: MiddlewareRequest, quota: QuotaState): void {
    const windows = reportWindows(quota, clock());
    const closest = closestToExhaustion(windows);
    if (!closest) return;
    Object.assign(request.response?.headers ?? {}, {
      'ratelimit-policy': windows.map(({ name, limit, seconds }) => `"${name}";q=${limit};w=${seconds}`).join(', '),
      ratelimit: `"${closest.name}";r=${closest.remaining};t=${closest.reset}`,
    });
  }
  return {
    after: (request) => {
      if (request.event.caller) addHeaders(request, request.event.caller.access.quota);
    },
    onError: (request) => {
      const { error } = request;
      if (error instanceof Refusal && error.reason.code === 'quota-exceeded') addHeaders(request, error.reason.quota);
    },
  };
}

export type AddressRouteOptions = {
  accessStore: AccessStore;
  addressStore: AddressStore;
  /** Without them their postcode is looked up like any other. */
  testAddresses?: boolean;
  datasetDate: DatasetDate;
  /** Without it the day of a key's last use is not recorded. */
  keyUse?: KeyUse;
  /** Without it refusals are not counted. */
  refusals?: RefusalCount;
  checksumSecret: string;
  previousChecksumSecret?: string | undefined;
  clock: Clock;
};

/** `GET /v1/address`: authentication, then input, then quota, then the dataset. */
export function addressRoute({
  accessStore,
  addressStore,
  testAddresses = true,
  datasetDate,
  keyUse,
  refusals,
  checksumSecret,
  previousChecksumSecret,
  clock,
}: AddressRouteOptions) {
  const addresses = testAddresses ? withTestAddresses(addressStore) : addressStore;

  /** One write authenticates and counts a valid lookup; one read authenticates any other, which consumes nothing. */
  async function admit(claim: KeyClaim, event: RequestEvent): Promise<Caller> {
    const { input, signal } = event;
    refusals?.flush(clock());
    try {
      if (input?.request) return await charge(accessStore, claim, clock, signal);
      return requireCaller(await accessStore.read(claim, signal), claim, clock());
    } catch (error) {
      // Any other refusal means that the key was valid.
      if (error instanceof Refusal && error.reason.code !== 'unauthorized') event.refused = claim.account;
      throw error;
    }
  }

  return middy<RequestEvent, Answer>()
    .use(observe('address'))
    .use(commonHeaders())
    .use(datasetDateHeader(datasetDate))
    .use(rateLimitHeaders(clock))
    .use(renderProblems())
    .use(countRefusals(refusals, clock))
    .use(deadline())
    .use(acceptOnly('GET', '/v1/address'))
    .use(readInput())
    .use(authenticate({ checksumSecret, previousChecksumSecret, admit }))
    .use(requireValidInput())
    .handler(async (event) => {
      if (!event.input?.request) throw new Error('requireValidInput lets no other request through');
      const { request, include } = event.input;
      const [found] = await Promise.all([
        addresses.find(request, include, event.signal),
        event.caller && keyUse?.note(event.caller, clock(), event.signal),
      ]);
      const answer = lookupAnswer(request, include, found);
      event.outcome = answer.status;
      return ok<LookupAnswer>(answer);
    });
}
