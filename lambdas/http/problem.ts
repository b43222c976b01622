import { Refusal, type RefusalReason } from '../../core/accounts/account.ts';
import { keyDay, windowOf } from '../../core/calendar.ts';
import type { ProblemBody } from '../../core/contract.ts';
import { StoreUnavailable } from '../../core/dynamodb.ts';
import { problems, problemType } from '../../core/problems.ts';
import { HttpRefusal, type HttpRefusalReason } from './http-refusal.ts';
import type { Answer, Middleware } from './middleware.ts';

type Reason = RefusalReason | HttpRefusalReason | { code: 'internal-error' };

function problemAnswer(reason: Reason, requestId: string): Answer {
  const { status, title } = problems[reason.code];
  const detail = detailOf(reason);
  const type = problemType(reason.code);
  const body: ProblemBody = {
    type,
    title,
    status,
    detail,
    request_id: requestId,
    ...members(reason),
  };
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
  if (reason.code === 'invalid-input' && reason.hasMore) {
    return `${detail} These are the first ${reason.faults.length}: there are more.`;
  }
  if (reason.code !== 'quota-exceeded' || reason.units === 1) return detail;
  const { units, quota, violated } = reason;
  const never = violated
    .map((name) => ({ name, limit: Number(quota[name]?.limit) }))
    .filter(({ limit }) => limit < units)
    .map(
      ({ name, limit }) => `${limit} a ${windowOf[name]}${name === keyDay ? ' for this key' : ''}`,
    );
  const tooMany = `The request has ${units} addresses`;
  if (never.length > 0) {
    return `${tooMany}, and the limit is ${never.join(' and ')}: it can never succeed. Send fewer addresses.`;
  }
  return (
    `${tooMany}, and less quota is left in the time windows named; none of it was used. Send no more addresses ` +
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

/**
 * DynamoDB's throttling and outages are short, and a second is the least that `Retry-After` can
 * say.
 */
const unavailable: RefusalReason = { code: 'temporarily-unavailable', retryAfterSeconds: 1 };

/**
 * Turns whatever was thrown into problem details. Unexpected errors become a 500 that reveals
 * nothing.
 */
export function renderProblems(): Middleware {
  return {
    onError: (request) => {
      request.response = problemAnswer(
        reasonOf(request.error),
        request.event.requestContext.requestId,
      );
    },
  };
}

/** The refusal that an error stands for. */
export function reasonOf(error: unknown): Reason {
  if (error instanceof Refusal || error instanceof HttpRefusal) return error.reason;
  return error instanceof StoreUnavailable ? unavailable : { code: 'internal-error' };
}
