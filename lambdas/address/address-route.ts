import middy from '@middy/core';
import { type Caller, Refusal, requireCaller } from '../../core/accounts/account.ts';
import type { KeyClaim } from '../../core/accounts/api-key.ts';
import { type AccessStore, charge } from '../../core/accounts/charge/charge.ts';
import type { ChecksumSecrets } from '../../core/accounts/checksum-secret.ts';
import type { RefusalCount } from '../../core/accounts/usage-record.ts';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import type { AddressStore, DatasetDate, FoundItems } from '../../core/addresses/address-store.ts';
import { lookupAnswer } from '../../core/addresses/lookup-answer.ts';
import { withTestAddresses } from '../../core/addresses/test-addresses.ts';
import type { Clock } from '../../core/calendar.ts';
import type { AddressRequest, BatchAnswer, LookupAnswer } from '../../core/contract.ts';
import { type AvailableIncludes, availableIncludes } from '../../core/place-fields.ts';
import { HttpRefusal, type Method } from '../http/http-refusal.ts';
import {
  type Answer,
  acceptOnly,
  authenticate,
  type Context,
  commonHeaders,
  deadline,
  type LookupInput,
  type Middleware,
  ok,
  type RequestEvent,
  rateLimitHeaders,
} from '../http/middleware.ts';
import { observe, type RequestLog } from '../http/observe.ts';
import { renderProblems } from '../http/problem.ts';

/**
 * The parameters of one lookup. The code that finds faults is large, so it is loaded at the first
 * fault.
 */
function oneLookup({ rawQueryString }: RequestEvent, available: AvailableIncludes): LookupInput {
  const input = readAddressInput(rawQueryString, available);
  if (input.request) return { requests: [input.request], include: input.include };
  return refused(async () => {
    const { queryFaults } = await import('../../core/addresses/input-faults.ts');
    return new Refusal({ code: 'invalid-input', ...queryFaults(rawQueryString, available) });
  });
}

const maxBodyBytes = 64 * 1024;

/**
 * The body with many lookups. The schema that reads it comes with zod, which single lookups do
 * without.
 */
async function manyLookups(
  event: RequestEvent,
  available: AvailableIncludes,
): Promise<LookupInput> {
  const { body = '', isBase64Encoded, headers, rawQueryString } = event;
  const tooLarge = refused(() => new HttpRefusal({ code: 'content-too-large' }));
  // A body of 10 MB is not decoded to be measured.
  if (body.length > 2 * maxBodyBytes) return tooLarge;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > maxBodyBytes) return tooLarge;
  if (!isJson(headers['content-type'])) {
    return refused(() => new HttpRefusal({ code: 'unsupported-media-type' }));
  }
  const { readBatchInput } = await import('../../core/addresses/batch-input.ts');
  // Leaves out a byte order mark, which some clients put before the JSON.
  const input = readBatchInput(new TextDecoder().decode(bytes), rawQueryString, available);
  if (input.requests) return input;
  return refused(() => new Refusal({ code: 'invalid-input', ...input.faults() }));
}

const isJson = (contentType = '') =>
  contentType.split(';')[0]?.trim().toLowerCase() === 'application/json';

function refused(refusal: () => Error | Promise<Error>): LookupInput {
  return { requests: null, refusal };
}

/**
 * Reads the input, but refuses nothing yet: a caller with a bad key must not learn whether the
 * input is valid.
 */
function readInput(read: Reading, available: AvailableIncludes): Middleware {
  return {
    before: async ({ event }) => {
      event.input = await read(event, available);
    },
  };
}

function requireValidInput(): Middleware {
  return {
    before: async ({ event }) => {
      if (event.input?.requests === null) throw await event.input.refusal();
    },
  };
}

/**
 * Counts the requests of an account that are refused, which no answer waits for. A request without
 * an active key has no kind of refusal, and is not counted.
 */
function countRefusals(refusals: RefusalCount | undefined, clock: Clock): Middleware {
  return {
    onError: ({ event: { account }, error }) => {
      if (account === undefined || !(error instanceof Refusal)) return;
      const { reason } = error;
      const violated = reason.code === 'quota-exceeded' ? reason.violated : [];
      refusals?.note(account, reason.code, clock(), violated);
    },
  };
}

function datasetDateHeader(datasetDate: DatasetDate): Middleware {
  return {
    after: async ({ response }) => {
      const date = await datasetDate();
      if (response && date) response.headers['dataset-date'] = date;
    },
  };
}

export type AddressRouteOptions = {
  accessStore: AccessStore;
  addressStore: AddressStore;
  /** Without them their postcode is looked up like any other. */
  testAddresses?: boolean;
  /** What `include` can name; without objects if absent. */
  available?: AvailableIncludes;
  datasetDate: DatasetDate;
  /** Without it refusals are not counted. */
  refusals?: RefusalCount;
  checksumSecrets: ChecksumSecrets;
  clock: Clock;
  /** As in `deadline`. */
  deadlineMilliseconds?: number;
  /** Without it no line is written. */
  log?: RequestLog | undefined;
};

/** The operations of the Lambda, by path. */
export const addressPaths = { one: '/v1/address', many: '/v1/addresses' } as const;

/**
 * Authentication, then input, then quota, then the dataset. One chain, with another input and
 * another answer.
 */
export function addressRoute({
  accessStore,
  addressStore,
  testAddresses = true,
  available = availableIncludes(false),
  datasetDate,
  refusals,
  checksumSecrets,
  clock,
  deadlineMilliseconds,
  log,
}: AddressRouteOptions) {
  const addresses = testAddresses ? withTestAddresses(addressStore) : addressStore;

  /**
   * One write authenticates and counts valid lookups; one read authenticates other requests, which
   * consume nothing.
   */
  async function admit(claim: KeyClaim, event: RequestEvent): Promise<Caller> {
    const { input, signal } = event;
    refusals?.flush(clock());
    if (input?.requests) {
      return await charge(accessStore, claim, clock, signal, input.requests.length);
    }
    return requireCaller(await accessStore.read(claim, signal), claim, clock());
  }

  function chain(method: Method, path: string, read: Reading, answer: Answering) {
    return middy<RequestEvent, Answer>()
      .use(observe('address', log))
      .use(commonHeaders())
      .use(datasetDateHeader(datasetDate))
      .use(rateLimitHeaders(clock))
      .use(renderProblems())
      .use(countRefusals(refusals, clock))
      .use(deadline(deadlineMilliseconds))
      .use(acceptOnly(method, path))
      .use(readInput(read, available))
      .use(authenticate({ checksumSecrets, admit }))
      .use(requireValidInput())
      .handler(async (event) => {
        if (!event.input?.requests) {
          throw new Error('requireValidInput lets no other request through');
        }
        return answer(event.input, event);
      });
  }

  const single = chain('GET', addressPaths.one, oneLookup, async ({ requests, include }, event) => {
    const [request] = requests as [AddressRequest];
    const answer = lookupAnswer(
      request,
      include,
      await addresses.find(request, include, event.signal),
    );
    event.outcome = answer.status;
    return ok<LookupAnswer>(answer);
  });

  const many = chain(
    'POST',
    addressPaths.many,
    manyLookups,
    async ({ requests, include }, { signal }) => {
      const found = await addresses.findAll(requests, include, signal);
      const results = requests.map((request, i) =>
        lookupAnswer(request, include, found[i] as FoundItems),
      );
      return ok<BatchAnswer>({ results });
    },
  );

  return (event: RequestEvent, context: Context): Promise<Answer> =>
    (event.rawPath === addressPaths.many ? many : single)(event, context);
}

type Reading = (
  event: RequestEvent,
  available: AvailableIncludes,
) => LookupInput | Promise<LookupInput>;
type Answering = (
  lookups: Extract<LookupInput, { include: unknown }>,
  event: RequestEvent,
) => Promise<Answer>;
