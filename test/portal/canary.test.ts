import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics } from '@aws-lambda-powertools/metrics';
import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { handler, probeSignIn } from '../../portal/canary.ts';
import { portalCanaryEnvironment, portalMetrics } from '../../portal/stack/portal-names.ts';
import { startHttpServer } from '../support/http-server.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { startStubProvider } from '../support/stub-provider.ts';

const idToken = { sub: '1' };
let status = 303;
const provider = startForTests(startStubProvider);
const portal = startForTests(() =>
  startHttpServer((_request, response) => {
    const location = `${provider.issuer}/authorize?redirect_uri=${portal.url}/callback&state=x`;
    response.writeHead(status, status === 303 ? { location } : {}).end();
  }),
);
const environment = { ...process.env };

afterEach(() => {
  status = 303;
  provider.set({ idToken });
  process.env = { ...environment };
  jest.restoreAllMocks();
});

describe('the canary of the portal', () => {
  it('finds that people can sign in where the portal, the provider and its keys answer', async () => {
    expect(await probeSignIn(portal.url, provider.issuer)).toBe(undefined);
  });

  it.each([
    ['the portal answers 503', { idToken }, 503, 'the sign-in page of the portal answered 503'],
    [
      'the portal shows a page instead',
      { idToken },
      200,
      'the sign-in page of the portal answered 200',
    ],
    [
      'the provider knows no such client',
      { idToken, signInStatus: 400 },
      303,
      'of the provider answered 400',
    ],
    [
      'the discovery document is of another issuer',
      { idToken, metadata: { issuer: 'x' } },
      303,
      'of another issuer',
    ],
    ['there are no keys', { idToken, withoutKeys: true }, 303, 'publishes no keys'],
  ])('says why nobody can sign in, where %s', async (_, answers, answer, reason) => {
    provider.set(answers);
    status = answer;
    expect(await probeSignIn(portal.url, provider.issuer)).toContain(reason);
  });

  it('says so too where nothing answers', async () => {
    expect(await probeSignIn('http://127.0.0.1:1', provider.issuer)).toMatch(/^TypeError: /);
  });

  it('measures failures, and the days until the client secret ends', async () => {
    const counted = jest.spyOn(Metrics.prototype, 'addMetric').mockReturnThis();
    jest.spyOn(Metrics.prototype, 'publishStoredMetrics').mockReturnThis();
    const logged = jest.spyOn(Logger.prototype, 'error').mockReturnValue(undefined);
    jest.spyOn(Date, 'now').mockReturnValue(Date.parse('2026-12-02T15:00:00Z'));
    const { baseUrl: url, issuer, clientSecretExpires } = portalCanaryEnvironment;
    Object.assign(process.env, {
      [url]: portal.url,
      [issuer]: provider.issuer,
      [clientSecretExpires]: '2027-01-31',
    });
    await handler();
    expect(counted.mock.calls.map(([name, , value]) => [name, value])).toEqual([
      [portalMetrics.canaryFailures, 0],
      [portalMetrics.clientSecretDays, 59],
    ]);
    expect(logged).not.toHaveBeenCalled();
    delete process.env[clientSecretExpires];
    status = 500;
    await handler();
    expect(counted.mock.calls.slice(2).map(([name, , value]) => [name, value])).toEqual([
      [portalMetrics.canaryFailures, 1],
    ]);
    expect(logged).toHaveBeenCalledWith('the sign-in page of the portal answered 500');
  });
});
