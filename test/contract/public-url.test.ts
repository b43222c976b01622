import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { faultCodes } from '../../core/contract.ts';
import { createStoreClient } from '../../core/dynamodb.ts';
import { environment } from '../../core/environment.ts';
import { languages } from '../../core/languages.ts';
import { metricNamespaceVariable } from '../../core/metrics.ts';
import { problems } from '../../core/problems.ts';
import type { HandlerModule } from '../../lambdas/http/function-setting.ts';
import type { Answer, RequestEvent } from '../../lambdas/http/middleware.ts';
import { requestLog } from '../../lambdas/http/observe.ts';
import { type ApiFunctionId, apiFunctions, apiRoutes } from '../../lib/shared/routes.ts';
import { localAws } from '../../local/engine/engine.ts';
import { publishedPaths } from '../../packages/reference/published.ts';
import { lambdaEnvironment } from '../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';

const publicUrl = 'https://adres.example.nl';
const foreign = 'origin-adres.foreign.example';

type Handler = (event: RequestEvent, context: typeof lambdaContext) => Promise<unknown>;
const handlers = new Map<ApiFunctionId, Handler>();
const client = createStoreClient({ ...localAws, endpoint: 'http://127.0.0.1:1' });

beforeAll(async () => {
  const variables = {
    ...lambdaEnvironment('http://127.0.0.1:1'),
    [environment.branding]: '{}',
    [environment.publicUrl]: publicUrl,
    [metricNamespaceVariable]: 'test',
  };
  const log = requestLog(variables, () => undefined);
  for (const [id, { handler }] of Object.entries(apiFunctions)) {
    const module = new URL(`../../${handler}`, import.meta.url).href;
    const { createHandler }: HandlerModule = await import(module);
    handlers.set(id as ApiFunctionId, createHandler({ variables, client, log }));
  }
});
afterAll(() => client.destroy());

/** The response of the route that API Gateway chooses, as text with its headers. */
async function responseTo(url: string, host: string, accept = '*/*'): Promise<string> {
  const [path] = url.split('?');
  const route = apiRoutes.find((one) => one.path === path) ?? apiRoutes.find((one) => !one.path);
  const event = gatewayEvent(url, { headers: { host, accept, 'x-forwarded-proto': 'https' } });
  const handler = handlers.get(route?.function as ApiFunctionId);
  const answer = (await handler?.(event as RequestEvent, lambdaContext)) as Answer;
  const { 'x-request-id': _, ...headers } = answer.headers ?? {};
  return JSON.stringify({ ...answer, headers }).replaceAll(/"request_id\\":\\"[^"]+"/g, '');
}

/** Every path of the table of routes, and every document and page behind the route without one. */
const pages = [
  ...apiRoutes.flatMap(({ path }) => path ?? []),
  ...publishedPaths,
  ...[...Object.keys(problems), ...faultCodes, 'nope'].map((code) => `/problems/${code}`),
  '/',
  '/nope',
];

describe('behind a proxy, with a public URL', () => {
  it.each(pages)('%s is the same whatever Host arrives, and never names that', async (path) => {
    for (const url of languages.map((language) => `${path}?lang=${language}`)) {
      for (const accept of ['*/*', 'text/html']) {
        const seen = await responseTo(url, foreign, accept);
        expect(seen).not.toContain('foreign.example');
        expect(seen).toBe(await responseTo(url, new URL(publicUrl).host, accept));
      }
    }
  });

  it.each(publishedPaths.filter((path) => path !== '/favicon.ico'))('%s names it', async (path) => {
    expect(await responseTo(path, foreign)).toContain(publicUrl);
  });
});
