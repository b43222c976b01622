import { languages } from '../../core/languages.ts';
import type { RequestEvent } from '../../lambdas/http/middleware.ts';
import { publishedPaths } from '../../packages/reference/published.ts';
import { gatewayEvent, lambdaContext } from '../../test/support/gateway-event.ts';
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
  /**
   * What a refusal takes in the function; a large body is parsed as JSON before the handler sees
   * it.
   */
  cpu_ms: { small: 3, large_body: 30 },
  /** The line that the function logs. */
  log_kb: 0.16,
};

type Throttle = { ThrottlingRateLimit?: number };

/** The documents that the page compares: the description of the API, and the largest one. */
type Documents = { openapi_json: number; largest: { path: string; kb: number } };

/**
 * What someone without a key can make a deployment with the default configuration pay in a day:
 * each route at its throttle, with the request that costs most there. Throttles come from the
 * synthesized template, and each route has its own.
 */
export const benchmark: Benchmark = { run: () => attackFigures(synthesizedResources()) };

export type AttackFigures = Awaited<ReturnType<typeof attackFigures>>;

/** The figures for the stacks with these resources, in dollars. */
export async function attackFigures(resources: Resource[]) {
  const { openapi_json, largest } = await publishedDocuments();
  const million = {
    junk_key: costOfAMillion(resources, { bodyKb: 0, answerKb: 0 }),
    openapi_json: costOfAMillion(resources, { bodyKb: 0, answerKb: openapi_json }),
    largest_document: costOfAMillion(resources, { bodyKb: 0, answerKb: largest.kb }),
    large_body: costOfAMillion(resources, { bodyKb: assumptions.largest_body_kb, answerKb: 0 }),
  };
  const write = Number(priceList.regions[region]?.dynamodb_per_million_write_units);
  const routes = throttles(resources).map(([route, requests_a_second]) => {
    const aDay = (cost: number) => (requests_a_second * 86_400 * cost) / 1e6;
    return {
      route,
      requests_a_second,
      junk_key: aDay(million.junk_key),
      large_body: aDay(million.large_body),
      // Every document is behind the default route.
      ...(route === '$default' && { largest_document: aDay(million.largest_document) }),
    };
  });
  const sumOf = (costOf: (route: (typeof routes)[number]) => number) =>
    short(routes.reduce((sum, route) => sum + costOf(route), 0));
  return {
    prices: { region, as_of: priceList.as_of, currency: priceList.currency },
    assumptions,
    documents_kb: {
      openapi_json: Math.round(openapi_json),
      [largest.path]: Math.round(largest.kb),
    },
    a_million_requests: shortAll(million),
    a_million_failed_writes: shortAll({
      more_for_forged_keys: write,
      over_quota: million.junk_key + write,
    }),
    a_day: routes.map(({ route, requests_a_second, ...costs }) => ({
      route,
      requests_a_second,
      ...shortAll(costs),
    })),
    a_day_in_all: {
      junk_key: sumOf(({ junk_key }) => junk_key),
      most: sumOf(({ large_body, largest_document = 0 }) => Math.max(large_body, largest_document)),
    },
  };
}

/** Two digits, so that a sentence more on a page changes no figure. */
const short = (usd: number) => rounded(usd, 2);
const shortAll = <T extends Record<string, number | undefined>>(costs: T) =>
  Object.fromEntries(Object.entries(costs).map(([name, cost]) => [name, short(cost ?? 0)])) as T;

/**
 * What the deployed route publishes without compression, which nobody who wants to cost much asks
 * for.
 */
async function publishedDocuments(): Promise<Documents> {
  const { referenceRoute } = await import('../../lambdas/validate/reference-route.ts');
  const read = referenceRoute(process.env);
  const kbOf = async (path: string) => {
    const { body = '' } = await read(gatewayEvent(path) as unknown as RequestEvent, lambdaContext);
    return Buffer.byteLength(body) / 1024;
  };
  const sizes = await Promise.all(
    publishedPaths
      .flatMap((path) => languages.map((language) => `${path}?lang=${language}`))
      .map(async (path) => ({ path, kb: await kbOf(path) })),
  );
  const largest = sizes.reduce((most, one) => (one.kb > most.kb ? one : most));
  return { openapi_json: await kbOf('/v1/openapi.json'), largest };
}

/** The page with the prices of requests that reach the item of an account, and fail there. */
export function withFailedWrites(page: string, { a_million_failed_writes }: AttackFigures): string {
  const { more_for_forged_keys, over_quota } = a_million_failed_writes;
  return page
    .replace(/(\| keys forged with .* more each, )[\d.]+/, `$1${more_for_forged_keys}`)
    .replace(/(\| a customer over its quota \| one failed write each, )[\d.]+/, `$1${over_quota}`);
}

/** The two tables of docs/security.md, in Markdown. */
export function attackTables({
  documents_kb,
  a_million_requests,
  a_day,
  a_day_in_all,
}: AttackFigures): [string, string] {
  const [, [largest = '', largestKb = 0] = []] = Object.entries(documents_kb);
  const { junk_key, openapi_json, largest_document, large_body } = a_million_requests;
  const why = (kb: number) => `${kb} KB of data transfer each, if not compressed`;
  const kinds = [
    `| junk key, no key, unknown path | ${junk_key} | gateway, function, logs |`,
    `| \`GET /v1/openapi.json\` | ${openapi_json} | ${why(Number(documents_kb.openapi_json))} |`,
    `| \`GET ${largest}\`, the largest page | ${largest_document} | ${why(largestKb)} |`,
    `| a body of 10 MB | ${large_body} | the gateway accepts it and counts each started 512 KB as one more request |`,
  ];
  const byThrottle = a_day.toSorted((a, b) => b.requests_a_second - a.requests_a_second);
  const routes = byThrottle.map(
    ({ route, requests_a_second, junk_key, large_body, largest_document }) => {
      const name =
        route === '$default'
          ? 'everything else, with all pages'
          : `\`${route.replace(/^\w+ /, '')}\``;
      const page =
        largest_document === undefined ? '' : `; ${largest_document} for the largest page`;
      return `| ${name} | ${requests_a_second} | ${junk_key} | ${large_body} (bodies of 10 MB${page}) |`;
    },
  );
  const all = `| **all at once** | | ${a_day_in_all.junk_key} | **${a_day_in_all.most}** |`;
  return [kinds.join('\n'), [...routes, all].join('\n')];
}

type Request = { bodyKb: number; answerKb: number };

/** Gateway, function, logs and transfer; no database, which no request without a key reaches. */
function costOfAMillion(resources: Resource[], { bodyKb, answerKb }: Request): number {
  const prices = priceList.regions[region] as Prices;
  const isLarge = bodyKb > assumptions.metered_kb;
  // The model counts two calls to DynamoDB, which a refusal does not make.
  const cpu =
    (isLarge ? assumptions.cpu_ms.large_body : assumptions.cpu_ms.small) /
    ofLookups.lambda_cpu_per_gb;
  const withoutCalls = (cpu - 2 * ofLookups.dynamodb_call_ms) * ofLookups.lambda_cpu_per_gb;
  const lookup = {
    write_units: 0,
    read_units: 0,
    cpu_ms: withoutCalls,
    log_kb: assumptions.log_kb,
  };
  const { api_gateway, lambda_requests, lambda_time, function_logs, access_log, data_transfer } =
    lookupCosts(prices, 1e6, lookup, deploymentOf(resources));
  const document = ((1e6 * answerKb) / 1024 ** 2) * Number(prices.data_transfer_out_per_gb);
  const metered = Math.max(1, Math.ceil(bodyKb / assumptions.metered_kb));
  return (
    metered * api_gateway +
    lambda_requests +
    lambda_time +
    function_logs +
    access_log +
    data_transfer +
    document
  );
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
      if (rate === undefined) {
        throw new Error(`The route ${route} has no throttle: what it can cost has no bound.`);
      }
      return [route, rate];
    });
}
