import type { InputFault } from '../shared/contract.ts';
import type { ProblemCode } from '../shared/http/problem.ts';

/** Everything that has a page of its own under `/problems/`. */
export type ExplainedCode = ProblemCode | InputFault['code'];

/** What happened, and what a consumer does about it; `code` spans are between backticks. */
export type Explanation = { happened: string; remedy: string };

/** The one text of each problem and of each code of a 422: its page, the reference and the description are made of it. */
export const explanations: Record<ExplainedCode, Explanation> = {
  unauthorized: {
    happened:
      'The request had no API key that works. The header `X-API-Key` was missing or malformed, or the key is unknown, wrong or ' +
      'revoked. The answer is the same for all of these, so that nobody learns which.',
    remedy:
      'Send the whole key in the header `X-API-Key`; it begins with `bagadres_`. A key in the query string is never read. If the ' +
      'key used to work it has been revoked: ask your provider for another one. Trying again with the same key does not help.',
  },
  'account-inactive': {
    happened: 'The key is right, but the account that it belongs to is suspended. Nothing was charged.',
    remedy: 'Ask your provider to activate the account. The key keeps its value and works again from that moment.',
  },
  'plan-inactive': {
    happened:
      'The key is right and so is its account, but the plan of the account is no longer active. Nothing was charged.',
    remedy: 'Ask your provider to put the account on another plan. The key keeps its value.',
  },
  'not-found': {
    happened:
      'Nothing is published at this path. An address that the register does not have is no error: that is an answer with ' +
      'status 200 and the outcome `not_found`.',
    remedy:
      'Compare the path with the reference. Paths are case-sensitive, begin with `/v1/` and have no slash at the end.',
  },
  'method-not-allowed': {
    happened: 'The path exists, but it answers to another method; the header `Allow` says which.',
    remedy: 'Use `GET`, with the parameters in the query string.',
  },
  'invalid-input': {
    happened:
      'Not all parameters have the form that they must have, so no address was looked up and nothing was charged. `errors` has ' +
      'an entry for each parameter with a fault: its `parameter`, a stable `code` and a `detail` for people.',
    remedy:
      'Correct every parameter that `errors` names and send the request again. Sending the same one again gives the same answer.',
  },
  missing: {
    happened: 'A required parameter is absent, empty, or only spaces.',
    remedy: 'Send it. `postcode` and `huisnummer` are required; `toevoeging` may be left out.',
  },
  duplicate: {
    happened: 'A parameter is given more than once, whatever its values.',
    remedy: 'Send each parameter once. A common cause is a base address that already has a query string.',
  },
  invalid: {
    happened:
      'The value does not have the form of its parameter: `postcode` is four digits, the first not 0, and two letters; ' +
      '`huisnummer` is one to five digits, from 1 to 99999; `toevoeging` is at most five letters and digits. Spaces are ignored ' +
      'in `postcode` and `toevoeging`; no other sign is.',
    remedy:
      'Correct the value. Put everything after the number in `toevoeging`, without hyphens or points: `12-A bis` is ' +
      '`huisnummer=12&toevoeging=Abis`.',
  },
  'quota-exceeded': {
    happened:
      'The account has used up its quota in at least one window of time; `violated_windows` names them. The quota belongs to ' +
      'the account, so all of its keys share it. This request was not charged.',
    remedy:
      'Wait for as long as `Retry-After` says, in seconds, and try again. The headers `RateLimit-Policy` and `RateLimit` on ' +
      'every answered lookup tell how much is left, so a client can slow down in time. If it happens often, ask your provider ' +
      'for a larger plan.',
  },
  'internal-error': {
    happened: 'The service failed in a way that nobody foresaw. It may or may not have been charged.',
    remedy: 'Try again once. If it stays, send `request_id` to your provider, who can find the cause with it.',
  },
  'temporarily-unavailable': {
    happened:
      'A part of the service did not answer in time. No lookup is ever answered without being counted, so it is refused.',
    remedy:
      'Wait for as long as `Retry-After` says and try again, a few times, each time longer. A lookup that was refused like this ' +
      'may have been charged.',
  },
};

/** The codes of a 422, each explained. */
export const faultCodes = ['missing', 'duplicate', 'invalid'] as const satisfies InputFault['code'][];
