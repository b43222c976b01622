import { readAddressInput } from '../domain/address-input.ts';
import { Refusal } from '../domain/refusal.ts';
import type { Middleware } from './event.ts';

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
