import type { ZodOpenApiHeaderObject, ZodOpenApiHeadersObject } from 'zod-openapi';
import { apiVersion } from '../../lambdas/shared/http/middleware.ts';

type Header = { description: string; required?: boolean; schema: Record<string, unknown>; example?: unknown };

/** Every header that a response may have, by name. */
const all: Record<string, Header> = {
  'API-Version': {
    description: 'The semantic version of the API that responded.',
    required: true,
    schema: { type: 'string', pattern: '^[0-9]+\\.[0-9]+\\.[0-9]+$' },
    example: apiVersion,
  },
  'Cache-Control': {
    description: 'No HTTP cache may store a response.',
    required: true,
    schema: constant('no-store'),
  },
  'Strict-Transport-Security': {
    description: 'HTTPS only, for a year.',
    required: true,
    schema: constant('max-age=31536000'),
  },
  'X-Content-Type-Options': {
    description: 'The content type must not be guessed.',
    required: true,
    schema: constant('nosniff'),
  },
  'X-Request-Id': {
    description: 'Identifies the request. Quote it to your provider.',
    required: true,
    schema: { type: 'string', minLength: 1 },
    example: 'JKJaXmPLvHcESHA=',
  },
  ETag: {
    description: 'The version of the document, for `If-None-Match`.',
    required: true,
    schema: { type: 'string', pattern: '^W/"[0-9A-Za-z_-]+"$' },
    example: 'W/"47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"',
  },
  'Content-Encoding': {
    description: 'Present when the client accepts gzip.',
    schema: constant('gzip'),
  },
  Vary: {
    description: 'Compression depends on `Accept-Encoding`.',
    required: true,
    schema: constant('Accept-Encoding'),
  },
  'Dataset-Date': {
    description: 'The date of the copy of the register; absent while it is unknown.',
    schema: { type: 'string', format: 'date' },
    example: '2026-01-08',
  },
  'RateLimit-Policy': {
    description:
      'Each finite time window of the account, with its quota `q` and its length in seconds `w`, as a structured field (IETF ' +
      'draft "RateLimit header fields for HTTP"). Absent for an account without any.',
    schema: { type: 'string', pattern: '^"[a-z]+";q=[0-9]+;w=[0-9]+(, "[a-z]+";q=[0-9]+;w=[0-9]+)*$' },
    example: '"minute";q=60;w=60, "day";q=5000;w=86400',
  },
  RateLimit: {
    description:
      'The time window that is closest to exhaustion: the remaining quota `r` and the seconds until it resets `t`.',
    schema: { type: 'string', pattern: '^"[a-z]+";r=[0-9]+;t=[0-9]+$' },
    example: '"day";r=100;t=36000',
  },
  'Retry-After': {
    description: 'Seconds until the request could succeed, at least 1.',
    required: true,
    schema: { type: 'string', pattern: '^[1-9][0-9]*$' },
    example: '12',
  },
  'WWW-Authenticate': {
    description: 'How to authenticate: with an API key in the header `X-API-Key`.',
    required: true,
    schema: constant('ApiKey realm="bag-adres", header="X-API-Key"'),
  },
  Allow: {
    description: 'The method that the path supports.',
    required: true,
    schema: constant('GET'),
  },
};

function constant(value: string): Record<string, unknown> {
  return { type: 'string', const: value, enum: [value] };
}

const common = ['API-Version', 'Cache-Control', 'Strict-Transport-Security', 'X-Content-Type-Options', 'X-Request-Id'];

/** For `components.headers`. */
export const headerComponents = Object.fromEntries(
  Object.entries(all).map(([name, header]) => [componentName(name), header]),
) as Record<string, ZodOpenApiHeaderObject>;

/** The headers of a response: those of every response, and `names`. */
export function headersOf(...names: string[]): ZodOpenApiHeadersObject {
  return Object.fromEntries(
    [...common, ...names].map((name) => [name, { $ref: `#/components/headers/${componentName(name)}` }]),
  );
}

function componentName(name: string): string {
  return name.replaceAll('-', '');
}
