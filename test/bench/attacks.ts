import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Benchmark } from './benchmark.ts';
import { rounded } from './measure.ts';

const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));
const json = (relative: string) => JSON.parse(readFileSync(path(relative), 'utf8'));
const prices = json('./prices.json');
const templateFile = '../../cdk.out/bag-adres-prod-service.template.json';

/** What AWS documents or no machine here can measure. */
const assumptions = {
  /** An HTTP API counts each started 512 KB of a request as one more request. */
  metered_kb: 512,
  /** The largest body that an HTTP API accepts. */
  largest_body_kb: 10 * 1024,
  /** An answer without a body of note, with its headers. */
  answer_kb: 0.9,
  /** The access log line and the line of the function. */
  log_kb: 0.85,
  /** What a refusal takes in the function; a large body is parsed as JSON before the handler sees it. */
  lambda_ms: { small: 5, large_body: 50 },
  lambda_memory_gb: 1,
};

type Resource = { Type: string; Properties: Record<string, unknown> };
type Throttle = { ThrottlingRateLimit?: number };

/**
 * What someone without a key can make a deployment with the default configuration pay in a day: each route at its throttle, with the
 * request that costs most there. Throttles are those of the synthesized template, and each route has its own.
 */
export const benchmark: Benchmark = {
  async run() {
    if (!existsSync(path(templateFile))) throw new Error('There is no synthesis: run `npm run synth` first.');
    const documentKb = JSON.stringify(json('../../docs/openapi.json')).length / 1024 + assumptions.answer_kb;
    const million = {
      junk_key: costOfAMillion({ bodyKb: 0, answerKb: assumptions.answer_kb }),
      large_body: costOfAMillion({ bodyKb: assumptions.largest_body_kb, answerKb: assumptions.answer_kb }),
      openapi_json: costOfAMillion({ bodyKb: 0, answerKb: documentKb }),
    };
    const routes = Object.fromEntries(
      throttles().map(([route, perSecond]) => {
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
      prices: { region: prices.region, as_of: prices.as_of, currency: prices.currency },
      assumptions,
      a_million_requests: Object.fromEntries(Object.entries(million).map(([name, cost]) => [name, rounded(cost, 3)])),
      routes,
      bound_a_day: rounded(worst, 3),
    };
  },
  plot: (figures) => ({
    title: `A million requests without a key, ${prices.currency} (${prices.region}, ${prices.as_of})`,
    unit: prices.currency,
    bars: Object.entries(figures.a_million_requests as Record<string, number>).map(([name, value]) => ({
      label: name.replaceAll('_', ' '),
      value,
      isReference: name === 'junk_key',
    })),
  }),
};

/** Gateway, function, logs and transfer; no database, which no request without a key reaches. */
function costOfAMillion({ bodyKb, answerKb }: { bodyKb: number; answerKb: number }): number {
  const { metered_kb, lambda_ms, lambda_memory_gb, log_kb } = assumptions;
  const gigabytes = (kb: number) => (1e6 * kb) / 1024 ** 2;
  const milliseconds = bodyKb > metered_kb ? lambda_ms.large_body : lambda_ms.small;
  return (
    Math.max(1, Math.ceil(bodyKb / metered_kb)) * prices.api_gateway_http_per_million[0].price +
    prices.lambda_per_million_requests +
    1e6 * (milliseconds / 1000) * lambda_memory_gb * prices.lambda_arm64_per_gb_second +
    gigabytes(log_kb) * prices.cloudwatch_logs_per_gb +
    gigabytes(answerKb) * prices.data_transfer_out_per_gb
  );
}

/** Each route of the template with the requests a second that its stage admits. */
function throttles(): [string, number][] {
  const resources: Resource[] = Object.values(json(templateFile).Resources);
  const stage = resources.find(({ Type }) => Type === 'AWS::ApiGatewayV2::Stage')?.Properties ?? {};
  const perRoute = (stage.RouteSettings ?? {}) as Record<string, Throttle>;
  const byDefault = (stage.DefaultRouteSettings as Throttle | undefined)?.ThrottlingRateLimit;
  return resources
    .filter(({ Type }) => Type === 'AWS::ApiGatewayV2::Route')
    .map(({ Properties }) => `${Properties.RouteKey}`)
    .map((route) => {
      const rate = perRoute[route]?.ThrottlingRateLimit ?? byDefault;
      if (rate === undefined) throw new Error(`The route ${route} has no throttle: what it can cost has no bound.`);
      return [route, rate];
    });
}
