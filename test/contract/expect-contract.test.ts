import { describe, expect, it } from '@jest/globals';
import { lookupExamples } from '../../tools/openapi/answers.ts';
import { expectContract } from '../support/contract.ts';

const headers = {
  'content-type': 'application/json',
  'api-version': '1.0.0',
  'cache-control': 'no-store',
  'strict-transport-security': 'max-age=31536000',
  'x-content-type-options': 'nosniff',
  'x-request-id': 'JKJaXmPLvHcESHA=',
};
const answer = { status: 200, headers, body: JSON.stringify(lookupExamples.found?.answer) };
const { 'api-version': _, ...withoutVersion } = headers;
const notModified = { status: 304, headers: { ...headers, etag: 'W/"1"', vary: 'Accept-Encoding' }, body: '' };
const without = (member: string) => JSON.stringify({ ...lookupExamples.found?.answer, [member]: undefined });
const withMember = (member: object) => JSON.stringify({ ...lookupExamples.found?.answer, ...member });

describe('the check against the contract', () => {
  it('accepts a documented response', () => {
    expect(() => expectContract('GET', '/v1/address?postcode=1012RJ', answer)).not.toThrow();
  });

  it('accepts that a client has the page', () => {
    expect(() => expectContract('GET', '/problems/missing', notModified)).not.toThrow();
  });

  it.each([
    ['an undescribed status', 'GET', '/v1/address', { ...answer, status: 418 }],
    ['an undescribed header', 'GET', '/v1/address', { ...answer, headers: { ...headers, 'x-powered-by': 'us' } }],
    [
      'a header with another value',
      'GET',
      '/v1/address',
      { ...answer, headers: { ...headers, 'cache-control': 'max-age=1' } },
    ],
    ['a missing header', 'GET', '/v1/address', { ...answer, headers: withoutVersion }],
    [
      'another content type',
      'GET',
      '/v1/address',
      { ...answer, headers: { ...headers, 'content-type': 'text/plain' } },
    ],
    ['an undescribed member', 'GET', '/v1/address', { ...answer, body: withMember({ key: 'secret' }) }],
    ['a missing member', 'GET', '/v1/address', { ...answer, body: without('candidates') }],
    [
      'a member that is not of its outcome',
      'GET',
      '/v1/address',
      { ...answer, body: withMember({ status: 'not_found' }) },
    ],
    ['a body that is not JSON', 'GET', '/v1/address', { ...answer, body: 'ok' }],
    ['another method that is answered', 'POST', '/v1/address', answer],
    ['an unpublished path that is answered', 'GET', '/v1/addresses', answer],
    [
      'a page with a script',
      'GET',
      '/problems/missing',
      { ...answer, headers: { ...headers, 'content-type': 'text/html' } },
    ],
    ['a body where the client has the page', 'GET', '/problems/missing', { ...notModified, body: '<p>' }],
  ])('refuses %s', (_name, method, path, wrong) => {
    expect(() => expectContract(method, path, wrong)).toThrow('docs/openapi.json');
  });
});
