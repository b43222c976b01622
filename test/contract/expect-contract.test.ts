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
const found = lookupExamples.found?.answer;
const answer = { status: 200, headers, body: JSON.stringify(found) };
const { 'api-version': _, ...withoutVersion } = headers;
const notModified = { status: 304, headers: { ...headers, etag: 'W/"1"', vary: 'Accept-Encoding' }, body: '' };
const [lookup, page] = ['/v1/address?postcode=1012RJ', '/problems/missing'];

/** The answer with other headers or members; those that are undefined are absent. */
const withHeaders = (changed: object) => ({ ...answer, headers: { ...headers, ...changed } });
const withMembers = (changed: object) => ({ ...answer, body: JSON.stringify({ ...found, ...changed }) });

describe('the check against the contract', () => {
  it('accepts a documented response, and that a client has the page', () => {
    expect(() => expectContract('GET', lookup, answer)).not.toThrow();
    expect(() => expectContract('GET', page, notModified)).not.toThrow();
  });

  it.each([
    ['an undescribed status', 'GET', lookup, { ...answer, status: 418 }],
    ['an undescribed header', 'GET', lookup, withHeaders({ 'x-powered-by': 'us' })],
    ['a header with another value', 'GET', lookup, withHeaders({ 'cache-control': 'max-age=1' })],
    ['a missing header', 'GET', lookup, { ...answer, headers: withoutVersion }],
    ['another content type', 'GET', lookup, withHeaders({ 'content-type': 'text/plain' })],
    ['an undescribed member', 'GET', lookup, withMembers({ key: 'secret' })],
    ['a missing member', 'GET', lookup, withMembers({ candidates: undefined })],
    ['a member that is not of its outcome', 'GET', lookup, withMembers({ status: 'not_found' })],
    ['a body that is not JSON', 'GET', lookup, { ...answer, body: 'ok' }],
    ['another method that is answered', 'POST', lookup, answer],
    ['an unpublished path that is answered', 'GET', '/v1/addresses', answer],
    ['a page with a script', 'GET', page, withHeaders({ 'content-type': 'text/html' })],
    ['a body where the client has the page', 'GET', page, { ...notModified, body: '<p>' }],
  ])('refuses %s', (_name, method, path, wrong) => {
    expect(() => expectContract(method, path, wrong)).toThrow('docs/openapi.json');
  });
});
