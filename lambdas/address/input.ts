import { Refusal } from '../../core/accounts/account.ts';
import { readAddressInput } from '../../core/addresses/address-input.ts';
import { HttpRefusal } from '../http/http-refusal.ts';
import type { LookupInput, Middleware, RequestEvent } from '../http/middleware.ts';

/** The parameters of one lookup. What finds faults is most of the code that reads input: it is loaded for the first. */
export function oneLookup({ rawQueryString }: RequestEvent): LookupInput {
  const input = readAddressInput(rawQueryString);
  if (input.request) return { requests: [input.request], include: input.include };
  return refused(async () => {
    const { queryFaults } = await import('../../core/addresses/input-faults.ts');
    return new Refusal({ code: 'invalid-input', faults: queryFaults(rawQueryString) });
  });
}

/** The largest body, in bytes. */
const maxBodyBytes = 64 * 1024;

/** The body with many lookups. The schema that reads it comes with zod, which single lookups do without. */
export async function manyLookups(event: RequestEvent): Promise<LookupInput> {
  const { body = '', isBase64Encoded, headers, rawQueryString } = event;
  const bytes = Buffer.from(body, isBase64Encoded ? 'base64' : 'utf8');
  if (bytes.length > maxBodyBytes) return refused(() => new HttpRefusal({ code: 'content-too-large' }));
  if (!isJson(headers['content-type'])) return refused(() => new HttpRefusal({ code: 'unsupported-media-type' }));
  const { readBatchInput } = await import('../../core/addresses/batch-input.ts');
  // Leaves out a byte order mark, which some clients put before the JSON.
  const input = readBatchInput(new TextDecoder().decode(bytes), rawQueryString);
  if (input.requests) return input;
  return refused(() => new Refusal({ code: 'invalid-input', faults: input.faults() }));
}

function isJson(contentType = ''): boolean {
  return contentType.split(';')[0]?.trim().toLowerCase() === 'application/json';
}

function refused(refusal: () => Error | Promise<Error>): LookupInput {
  return { requests: null, refusal };
}

/** Reads the input, but refuses nothing yet: a caller with a bad key must not learn whether the input is valid. */
export function readInput(read: (event: RequestEvent) => LookupInput | Promise<LookupInput>): Middleware {
  return {
    before: async ({ event }) => {
      event.input = await read(event);
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
