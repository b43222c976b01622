import { readFileSync } from 'node:fs';
import type { Benchmark } from './benchmark.ts';
import {
  deploymentOf,
  lookupCosts,
  assumptions as ofLookups,
  type Prices,
  priceList,
  type Resource,
  synthesizedResources,
} from './cost-model.ts';
import { rounded } from './measure.ts';

/** The default region of a deployment. */
const region = 'eu-central-1';

/** What AWS documents or no machine here can measure. */
const assumptions = {
  /** An HTTP API counts each started 512 KB of a request as one more request. */
  metered_kb: 512,
  /** The largest body that an HTTP API accepts. */
  largest_body_kb: 10 * 1024,
  /** What a refusal takes in the function; a large body is parsed as JSON before the handler sees it. */
  cpu_ms: { small: 3, large_body: 30 },
  /** The line that the function logs. */
  log_kb: 0.16,
};

type Throttle = { ThrottlingRateLimit?: number };

/**
 * What someone without a key can make a deployment with the default configuration pay in a day: each route at its
 * throttle, with the request that costs most there. Throttles come from the synthesized template, and each route has
 * its own.
 */
export const benchmark: Benchmark = {
  async run() {
    const resources = synthesizedResources();
    const openapi = readFileSync(new URL('../../docs/openapi.json', import.meta.url), 'utf8');
    const documentKb = JSON.stringify(JSON.parse(openapi)).length / 1024;
    const million = {
      junk_key: costOfAMillion(resources, { bodyKb: 0, answerKb: 0 }),
      large_body: costOfAMillion(resources, { bodyKb: assumptions.largest_body_kb, answerKb: 0 }),
      openapi_json: costOfAMillion(resources, { bodyKb: 0, answerKb: documentKb }),
    };
    const routes = Object.fromEntries(
      throttles(resources).map(([route, perSecond]) => {
        const aDay = (cost: number) => rounded((perSecond * 86_400 * cost) / 1e6, 3);
        const answersDocument = /openapi|\$default|proxy/.test(route);
        return [
          route,
          {
            requests_a_second: perSecond,
            junk_key_a_day: aDay(million.junk_key),
            large_body_a_day: aDay(million.large_body),
            ...(answersDocument && { openapi_json_a_day: aDay(million.openapi_json) }),
          },
        ];
      }),
    );
    const worst = Object.values(routes).reduce(
      (sum, route) => sum + Math.max(route.large_body_a_day, route.openapi_json_a_day ?? 0),
      0,
    );
    return {
      prices: { region, as_of: priceList.as_of, currency: priceList.currency },
      assumptions,
      a_million_requests: Object.fromEntries(Object.entries(million).map(([name, cost]) => [name, rounded(cost, 3)])),
      routes,
      bound_a_day: rounded(worst, 3),
    };
  },
};

type Request = { bodyKb: number; answerKb: number };

/** Gateway, function, logs and transfer; no database, which no request without a key reaches. */
function costOfAMillion(resources: Resource[], { bodyKb, answerKb }: Request): number {
  const prices = priceList.regions[region] as Prices;
  const isLarge = bodyKb > assumptions.metered_kb;
  // The model counts two calls to DynamoDB, which a refusal does not make.
  const cpu = (isLarge ? assumptions.cpu_ms.large_body : assumptions.cpu_ms.small) / ofLookups.lambda_cpu_per_gb;
  const withoutCalls = (cpu - 2 * ofLookups.dynamodb_call_ms) * ofLookups.lambda_cpu_per_gb;
  const lookup = { write_units: 0, read_units: 0, cpu_ms: withoutCalls, log_kb: assumptions.log_kb };
  const { api_gateway, lambda_requests, lambda_time, function_logs, access_log, data_transfer } = lookupCosts(
    prices,
    1e6,
    lookup,
    deploymentOf(resources),
  );
  const document = ((1e6 * answerKb) / 1024 ** 2) * Number(prices.data_transfer_out_per_gb);
  const metered = Math.max(1, Math.ceil(bodyKb / assumptions.metered_kb));
  return metered * api_gateway + lambda_requests + lambda_time + function_logs + access_log + data_transfer + document;
}

/** Each route of the template with the requests a second that its stage admits. */
function throttles(resources: Resource[]): [string, number][] {
  const stage = resources.find(({ Type }) => Type === 'AWS::ApiGatewayV2::Stage')?.Properties ?? {};
  const perRoute = (stage.RouteSettings ?? {}) as Record<string, Throttle>;
  const byDefault = (stage.DefaultRouteSettings as Throttle | undefined)?.ThrottlingRateLimit;
  return resources
    .filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Route')
    .map(({ Properties }) => `${Properties?.RouteKey}`)
    .map((route) => {
      const rate = perRoute[route]?.ThrottlingRateLimit ?? byDefault;
      if (rate === undefined) throw new Error(`The route ${route} has no throttle: what it can cost has no bound.`);
      return [route, rate];
    });
}
