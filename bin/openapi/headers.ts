import type { ZodOpenApiHeaderObject, ZodOpenApiHeadersObject } from 'zod-openapi';
import { apiVersion } from '../../lambdas/shared/http/event.ts';

type Header = { description: string; required?: boolean; schema: Record<string, unknown>; example?: unknown };

/** Every header that an answer may have, by the name that goes over the wire. */
const all: Record<string, Header> = {
  'API-Version': {
    description: 'The semantic version of the API that answered.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    example: apiVersion,
  },
  'Cache-Control': {
    description: 'No answer may be stored by a cache.',
    required: true,
    schema: { type: 'string', const: 'no-store' },
  },
  'Strict-Transport-Security': {
    description: 'Only HTTPS, for a year.',
    required: true,
    schema: { type: 'string', const: 'max-age=31536000' },
  },
  'X-Content-Type-Options': {
    description: 'The content type is what it says.',
    required: true,
    schema: { type: 'string', const: 'nosniff' },
  },
  'X-Request-Id': {
    description: 'Names this request. Quote it to your provider.',
    required: true,
    schema: { type: 'string', minLength: 1 },
    example: 'JKJaXmPLvHcESHA=',
  },
  'Dataset-Date': {
    description: 'The date of the state of the register that answered; absent while it is not known.',
    schema: { type: 'string', format: 'date' },
    example: '2026-01-08',
  },
  'RateLimit-Policy': {
    description:
      'Every finite window of the account: its quota `q` and its length in seconds `w`, as a structured field (IETF draft ' +
      '"RateLimit header fields for HTTP"). Absent for an account without any.',
    schema: { type: 'string', pattern: '^"[a-z]+";q=[0-9]+;w=[0-9]+(, "[a-z]+";q=[0-9]+;w=[0-9]+)*$' },
    example: '"minute";q=60;w=60, "day";q=5000;w=86400',
  },
  RateLimit: {
    description:
      'The window that is closest to exhaustion: what remains `r`, and the seconds until it starts again `t`.',
    schema: { type: 'string', pattern: '^"[a-z]+";r=[0-9]+;t=[0-9]+$' },
    example: '"day";r=100;t=36000',
  },
  'Retry-After': {
    description: 'Whole seconds until the request could succeed, at least 1.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    example: '12',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: an API key in the header `X-API-Key`.',
    required: true,
    schema: { type: 'string', const: 'ApiKey realm="bag-adres", header="X-API-Key"' },
  },
  Allow: {
    description: 'The method that the path answers to.',
    required: true,
    schema: { type: 'string', const: 'GET' },
  },
};

const common = ['API-Version', 'Cache-Control', 'Strict-Transport-Security', 'X-Content-Type-Options', 'X-Request-Id'];

/** For `components.headers`. */
export const headerComponents = Object.fromEntries(
  Object.entries(all).map(([name, header]) => [componentName(name), header]),
) as Record<string, ZodOpenApiHeaderObject>;

/** The headers of an answer: those of every answer, and `names`. */
export function headersOf(...names: string[]): ZodOpenApiHeadersObject {
  return Object.fromEntries(
    [...common, ...names].map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]),
  );
}

function componentName(name: string): string {
  return name.replaceAll('-', '');
}
