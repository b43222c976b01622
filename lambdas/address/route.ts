import middy from '@middy/core';
import type { LookupAnswer } from '../shared/contract/lookup-answer.ts';
import { lookupAnswer } from '../shared/domain/lookup.ts';
import type { AccessStore, AddressStore, Clock, DatasetDate } from '../shared/domain/ports.ts';
import { acceptOnly } from '../shared/http/accept-only.ts';
import { readInput, requireValidInput } from '../shared/http/address-input.ts';
import { authenticate } from '../shared/http/authenticate.ts';
import { commonHeaders } from '../shared/http/common-headers.ts';
import { datasetDateHeader } from '../shared/http/dataset-date-header.ts';
import { deadline } from '../shared/http/deadline.ts';
import { type Answer, ok, type RequestEvent } from '../shared/http/event.ts';
import { observe } from '../shared/http/observe.ts';
import { rateLimitHeaders } from '../shared/http/rate-limit-headers.ts';
import { renderProblems } from '../shared/http/render-problems.ts';

export type AddressRouteOptions = {
  accessStore: AccessStore;
  addressStore: AddressStore;
  datasetDate: DatasetDate;
  checksumSecret: string;
  clock: Clock;
};

/** `GET /v1/address`: authentication, then input, then quota, then the dataset. */
export function addressRoute({ accessStore, addressStore, datasetDate, checksumSecret, clock }: AddressRouteOptions) {
  return middy<RequestEvent, Answer>()
    .use(observe('address'))
    .use(commonHeaders())
    .use(datasetDateHeader(datasetDate))
    .use(rateLimitHeaders(clock))
    .use(renderProblems())
    .use(deadline())
    .use(acceptOnly('GET', '/v1/address'))
    .use(readInput())
    .use(authenticate({ store: accessStore, checksumSecret, clock, charges: ({ input }) => Boolean(input?.request) }))
    .use(requireValidInput())
    .handler(async (event) => {
      if (!event.input?.request) throw new Error('requireValidInput lets no other request through');
      const answer = lookupAnswer(event.input.request, await addressStore.find(event.input.request, event.signal));
      event.outcome = answer.status;
      return ok<LookupAnswer>(answer);
    });
}
