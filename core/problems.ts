type ProblemText = { status: number; title: string; detail: string };

/** The response to each refusal: the only table from refusals to statuses. */
export const problems = {
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    detail: 'Send a valid API key in the header X-API-Key.',
  },
  'account-inactive': {
    status: 403,
    title: 'Account inactive',
    detail:
      'The key is valid, but its account is suspended. Ask your provider to activate the account.',
  },
  'plan-inactive': {
    status: 403,
    title: 'Plan inactive',
    detail:
      "The key is valid, but its account's plan is no longer active. Ask your provider for another plan.",
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    detail: 'There is nothing at this path. The API is described at /v1/openapi.json.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    detail: 'This path supports GET only.',
  },
  'content-too-large': {
    status: 413,
    title: 'Content too large',
    detail: 'The body has more than 64 KB. Send fewer addresses.',
  },
  'unsupported-media-type': {
    status: 415,
    title: 'Unsupported media type',
    detail: 'Send the body as JSON, with the header Content-Type: application/json.',
  },
  'invalid-input': {
    status: 422,
    title: 'Invalid input',
    detail: 'One or more parameters are invalid. The entries in errors say what to send instead.',
  },
  'quota-exceeded': {
    status: 429,
    title: 'Quota exceeded',
    detail:
      'No quota is left in the time windows named. Wait for the number of seconds in Retry-After.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    detail: 'An unexpected error occurred.',
  },
  'temporarily-unavailable': {
    status: 503,
    title: 'Temporarily unavailable',
    detail:
      'The service can not handle the request now. Try again after the number of seconds in Retry-After.',
  },
} satisfies Record<string, ProblemText>;

/** The last part of a problem type. */
export type ProblemCode = keyof typeof problems;

/**
 * Problem types are relative references: they resolve to the deployer's pages of problems (decision
 * 0105).
 */
export function problemType(code: ProblemCode): string {
  return `/problems/${code}`;
}
