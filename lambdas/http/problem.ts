import { Refusal, type RefusalCode, type RefusalReason } from '../../core/accounts/account.ts';
import { limitsOf } from '../../core/accounts/quota.ts';
import type { ProblemBody } from '../../core/contract.ts';
import { StoreUnavailable } from '../../core/dynamodb.ts';
import { HttpRefusal, type HttpRefusalReason } from './http-refusal.ts';
import type { Answer, Middleware } from './middleware.ts';

/** The last part of a problem type. */
export type ProblemCode = RefusalCode | HttpRefusalReason['code'] | 'internal-error';

type Reason = RefusalReason | HttpRefusalReason | { code: 'internal-error' };

type ProblemText = { status: number; title: string; detail: string };

/** The response to each refusal: the only table from refusals to statuses. */
export const problems: Record<ProblemCode, ProblemText> = {
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    detail: 'Send a valid API key in the header X-API-Key.',
  },
  'account-inactive': {
    status: 403,
    title: 'Account inactive',
    detail: 'The key is valid, but its account is suspended. Ask your provider to activate the account.',
  },
  'plan-inactive': {
    status: 403,
    title: 'Plan inactive',
    detail: "The key is valid, but its account's plan is no longer active. Ask your provider for another plan.",
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
    detail: 'The account has no quota left in the time windows named. Wait for the number of seconds in Retry-After.',
  },
  'internal-error': { status: 500, title: 'Internal error', detail: 'An unexpected error occurred.' },
  'temporarily-unavailable': {
    status: 503,
    title: 'Temporarily unavailable',
    detail: 'The service can not handle the request now. Try again after the number of seconds in Retry-After.',
  },
};

/** Problem types are relative references: they resolve to the deployer's pages of problems (decision 0105). */
export function problemType(code: ProblemCode): string {
  return `/problems/${code}`;
}

function problemAnswer(reason: Reason, requestId: string): Answer {
  const { status, title } = problems[reason.code];
  const detail = detailOf(reason);
  const type = problemType(reason.code);
  const body: ProblemBody = { type, title, status, detail, request_id: requestId, ...members(reason) };
  return {
    statusCode: status,
    headers: { 'content-type': 'application/problem+json', ...headers(reason) },
    body: JSON.stringify(body),
  };
}

/** The text of the table, or one about this request. */
function detailOf(reason: Reason): string {
  const { detail } = problems[reason.code];
  if (reason.code === 'method-not-allowed') return `This path supports ${reason.allow} only.`;
  if (reason.code !== 'quota-exceeded' || reason.units === 1) return detail;
  const { units, quota, violated } = reason;
  const limits = limitsOf(quota);
  const never = violated.filter((name) => Number(limits[name]) < units).map((name) => `${limits[name]} a ${name}`);
  const tooMany = `The request has ${units} addresses`;
  if (never.length > 0) {
    return `${tooMany}, and the limit is ${never.join(' and ')}: it can never succeed. Send fewer addresses.`;
  }
  return (
    `${tooMany}, and the account has less quota left in the time windows named; none of it was used. Send no more addresses ` +
    'than RateLimit says are left, or wait for the number of seconds in Retry-After.'
  );
}

function members(reason: Reason): Partial<ProblemBody> {
  if (reason.code === 'invalid-input') return { errors: reason.faults };
  return reason.code === 'quota-exceeded' ? { violated_windows: reason.violated } : {};
}

function headers(reason: Reason): Record<string, string> {
  switch (reason.code) {
    case 'unauthorized':
      return { 'www-authenticate': 'ApiKey realm="bag-adres", header="X-API-Key"' };
    case 'method-not-allowed':
      return { allow: reason.allow };
    case 'quota-exceeded':
    case 'temporarily-unavailable':
      return { 'retry-after': String(reason.retryAfterSeconds) };
    default:
      return {};
  }
}

/** DynamoDB's throttling and outages are short, and a second is the least that `Retry-After` can say. */
const unavailable: RefusalReason = { code: 'temporarily-unavailable', retryAfterSeconds: 1 };

/** Turns whatever was thrown into problem details. Unexpected errors become a 500 that reveals nothing. */
export function renderProblems(): Middleware {
  return {
    onError: (request) => {
      request.response = problemAnswer(reasonOf(request.error), request.event.requestContext.requestId);
    },
  };
}

/** The refusal that an error stands for. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Refusal || error instanceof HttpRefusal) return error.reason;
  return error instanceof StoreUnavailable ? unavailable : { code: 'internal-error' };
}
