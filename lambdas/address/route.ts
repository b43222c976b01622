import middy from '@middy/core';
import { type Caller, requireCaller } from '../shared/accounts/account.ts';
import type { KeyClaim } from '../shared/accounts/api-key.ts';
import { type AccessStore, charge } from '../shared/accounts/charge.ts';
import { closestToExhaustion, type QuotaState, reportWindows } from '../shared/accounts/quota.ts';
import { Refusal } from '../shared/accounts/refusal.ts';
import { readAddressInput } from '../shared/addresses/address-input.ts';
import type { AddressStore } from '../shared/addresses/address-store.ts';
import type { DatasetDate } from '../shared/addresses/dataset-date.ts';
import type { AddressRequest, LookupAnswer, Place } from '../shared/contract.ts';
import type { Clock } from '../shared/environment.ts';
import { authenticate } from '../shared/http/authenticate.ts';
import {
  type Answer,
  acceptOnly,
  commonHeaders,
  deadline,
  type Middleware,
  type MiddlewareRequest,
  ok,
  type RequestEvent,
} from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { renderProblems } from '../shared/http/problem.ts';

/** Notes the input, valid or not: a bad key must not learn which, so nothing is refused yet. */
export function readInput(): Middleware {
  return {
    before: ({ event }) => {
      event.input = readAddressInput(event.rawQueryString);
    },
  };
}

/** Refuses invalid input, once the caller is known. */
export function requireValidInput(): Middleware {
  return {
    before: ({ event }) => {
      if (event.input && !event.input.request) throw new Refusal({ code: 'invalid-input', faults: event.input.faults });
    },
  };
}

/** `places` are the distinct ones of the request's key, sorted; none means that the register has no such address. */
export function lookupAnswer(request: AddressRequest, places: Place[]): LookupAnswer {
  const [first, ...others] = places;
  if (!first) return { status: 'not_found', request, address: null, candidates: [] };
  if (others.length > 0) return { status: 'ambiguous', request, address: null, candidates: places };
  return { status: 'ok', request, address: first, candidates: [] };
}

/** Tells on each answered lookup of which date the register is that answered it. */
export function datasetDateHeader(datasetDate: DatasetDate): Middleware {
  return {
    after: async ({ response }) => {
      const date = await datasetDate();
      if (response && date) response.headers['dataset-date'] = date;
    },
  };
}

/**
 * Tells the caller its quota on each answer to a charged or exhausted lookup (IETF draft "RateLimit header fields for
 * HTTP"). An account without a finite window gets neither header: a structured-field list can't be empty.
 */
export function rateLimitHeaders(clock: Clock): Middleware {
  function tell(request: MiddlewareRequest, quota: QuotaState): void {
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
      if (request.event.caller) tell(request, request.event.caller.access.quota);
    },
    onError: (request) => {
      const { error } = request;
      if (error instanceof Refusal && error.reason.code === 'quota-exceeded') tell(request, error.reason.quota);
    },
  };
}

export type AddressRouteOptions = {
  accessStore: AccessStore;
  addressStore: AddressStore;
  datasetDate: DatasetDate;
  checksumSecret: string;
  previousChecksumSecret?: string | undefined;
  clock: Clock;
};

/** `GET /v1/address`: authentication, then input, then quota, then the dataset. */
export function addressRoute({
  accessStore,
  addressStore,
  datasetDate,
  checksumSecret,
  previousChecksumSecret,
  clock,
}: AddressRouteOptions) {
  /** A valid lookup is authenticated and counted by one write; any other, which consumes nothing, by one read. */
  async function admit(claim: KeyClaim, { input, signal }: RequestEvent): Promise<Caller> {
    if (input?.request) return await charge(accessStore, claim, clock, signal);
    return requireCaller(await accessStore.read(claim, signal), claim);
  }

  return middy<RequestEvent, Answer>()
    .use(observe('address'))
    .use(commonHeaders())
    .use(datasetDateHeader(datasetDate))
    .use(rateLimitHeaders(clock))
    .use(renderProblems())
    .use(deadline())
    .use(acceptOnly('GET', '/v1/address'))
    .use(readInput())
    .use(authenticate({ checksumSecret, previousChecksumSecret, admit }))
    .use(requireValidInput())
    .handler(async (event) => {
      if (!event.input?.request) throw new Error('requireValidInput lets no other request through');
      const answer = lookupAnswer(event.input.request, await addressStore.find(event.input.request, event.signal));
      event.outcome = answer.status;
      return ok<LookupAnswer>(answer);
    });
}
