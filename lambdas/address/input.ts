import { Refusal } from '../../core/accounts/account.ts';
import { type AddressInput, readAddressInput } from '../../core/addresses/address-input.ts';
import { type BatchInput, readBatchInput } from '../../core/addresses/batch-input.ts';
import type { BodyFault, InputFault } from '../../core/contract.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import type { LookupInput, Middleware, RequestEvent } from '../http/middleware.ts';

/** The parameters of one lookup. */
export function oneLookup(event: RequestEvent): LookupInput {
  const input: AddressInput = readAddressInput(event.rawQueryString);
  return input.request ? { requests: [input.request], include: input.include } : invalid(input.faults);
}

/** The largest body, in bytes. */
const maxBodyBytes = 64 * 1024;

/** The body with many lookups. */
export function manyLookups({ body = '', isBase64Encoded, headers, rawQueryString }: RequestEvent): LookupInput {
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > maxBodyBytes) {
    return { requests: null, refusal: () => new HttpRefusal({ code: 'content-too-large' }) };
  }
  if (!isJson(headers['content-type'])) {
    return { requests: null, refusal: () => new HttpRefusal({ code: 'unsupported-media-type' }) };
  }
  const input: BatchInput = readBatchInput(bytes.toString('utf8'), rawQueryString);
  return input.requests ? input : invalid(input.faults);
}

function isJson(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

function invalid(faults: () => (InputFault | BodyFault)[]): LookupInput {
  return { requests: null, refusal: () => new Refusal({ code: 'invalid-input', faults: faults() }) };
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
    before: ({ event }) => {
      if (event.input?.requests === null) throw event.input.refusal();
    },
  };
}
