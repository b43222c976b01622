import { Refusal } from '../../core/accounts/account.ts';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import { readBatchInput } from '../../core/addresses/batch-input.ts';
import type { BodyFault, InputFault } from '../../core/contract.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import type { LookupInput, Middleware, RequestEvent } from '../http/middleware.ts';

/** The parameters of one lookup. */
export function oneLookup(event: RequestEvent): LookupInput {
  const { rawQueryString } = event;
  const input = readAddressInput(rawQueryString);
  if (input.request) return { requests: [input.request], include: input.include };
  return invalid(async () => (await import('../../core/addresses/input-faults.ts')).queryFaults(rawQueryString));
}

/** The largest body, in bytes. */
const maxBodyBytes = 64 * 1024;

/** The body with many lookups. */
export function manyLookups({ body = '', isBase64Encoded, headers, rawQueryString }: RequestEvent): LookupInput {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > maxBodyBytes) {
    return { requests: null, refusal: async () => new HttpRefusal({ code: 'content-too-large' }) };
  }
  if (!isJson(headers['content-type'])) {
    return { requests: null, refusal: async () => new HttpRefusal({ code: 'unsupported-media-type' }) };
  }
  const text = bytes.toString('utf8');
  const input = readBatchInput(text, rawQueryString);
  if (input.requests) return input;
  return invalid(async () => (await import('../../core/addresses/batch-faults.ts')).batchFaults(text, rawQueryString));
}

function isJson(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

/** What finds faults is most of the code that reads input: it is loaded when there is one. */
function invalid(findFaults: () => Promise<(InputFault | BodyFault)[]>): LookupInput {
  return {
    requests: null,
    refusal: async () => new Refusal({ code: 'invalid-input', faults: await findFaults() }),
  };
}

/** Reads the input, but refuses nothing yet: a caller with a bad key must not learn whether the input is valid. */
export function readInput(read: (event: RequestEvent) => LookupInput): Middleware {
  return {
    before: ({ event }) => {
      event.input = read(event);
    },
  };
}

/** Refuses invalid input, after authentication. */
export function requireValidInput(): Middleware {
  return {
    before: async ({ event }) => {
      if (event.input?.requests === null) throw await event.input.refusal();
    },
  };
}
