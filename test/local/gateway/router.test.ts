import { describe, expect, it } from '@jest/globals';
import { matchRoute } from '../../../local/gateway/router.ts';

const keys = [
  '$default',
  'ANY /v1/{proxy+}',
  'ANY /v1/address',
  'GET /v1/address',
  'GET /v1/{version}',
  'GET /accounts/{account}/keys/{key}',
  'POST /only',
];
const routes = keys.map((key) => ({ key, target: key }));

describe('the route of a request', () => {
  it.each<[string, string, string, Record<string, string> | undefined]>([
    ['GET', '/v1/address', 'GET /v1/address', undefined],
    ['PUT', '/v1/address', 'ANY /v1/address', undefined],
    ['GET', '/v1/address/', 'ANY /v1/{proxy+}', { proxy: 'address/' }],
    ['GET', '/v1/other', 'GET /v1/{version}', { version: 'other' }],
    ['HEAD', '/v1/other', 'ANY /v1/{proxy+}', { proxy: 'other' }],
    ['GET', '/v1/', '$default', undefined],
    ['GET', '/v1', '$default', undefined],
    ['GET', '/V1/address', '$default', undefined],
    ['GET', '/accounts/a b/keys/1', 'GET /accounts/{account}/keys/{key}', { account: 'a b', key: '1' }],
    ['GET', '/accounts//keys/1', '$default', undefined],
    ['GET', '/only', '$default', undefined],
    ['POST', '/only', 'POST /only', undefined],
  ])('%s %s takes %s', (method, path, key, parameters) => {
    const match = matchRoute(routes, method, path);
    expect(match?.route.key).toBe(key);
    expect(match?.pathParameters).toEqual(parameters);
  });

  it('is undefined when nothing matches and there is no $default', () => {
    expect(matchRoute(routes.slice(1), 'GET', '/')).toBeUndefined();
  });
});
