import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createStoreClient } from '../../../core/dynamodb.ts';
import { environment } from '../../../core/environment.ts';
import { metricNamespaceVariable } from '../../../core/metrics.ts';
import type { HandlerModule } from '../../../lambdas/http/function-setting.ts';
import type { RequestEvent } from '../../../lambdas/http/middleware.ts';
import { requestLog } from '../../../lambdas/http/observe.ts';
import { bundles } from '../../../lib/shared/bundles.ts';
import {
  type ApiFunction,
  type ApiFunctionId,
  apiFunctions,
  apiRoutes,
  optionalVariables,
  requiredVariables,
  routeKey,
} from '../../../lib/shared/routes.ts';
import { tableKeys } from '../../../local/engine/client.ts';
import { localAws } from '../../../local/engine/engine.ts';
import { lambdaEnvironment } from '../../support/address-service.ts';
import { gatewayEvent, lambdaContext } from '../../support/gateway-event.ts';
import {
  environmentsOf,
  everything,
  otherwise,
  propertiesOf,
  type Template,
  templates,
} from '../synthesized.ts';

type Properties = Record<string, unknown>;
/** What the templates say of a function behind the API. */
type Deployed = {
  handler: string;
  timeoutSeconds: number;
  memoryMegabytes: number;
  variables: Properties;
};

const resource = ({ Resources }: Template, id: string): Properties =>
  Resources[id]?.Properties ?? {};
const refIn = (value: unknown): string => /"Ref":"(\w+)"/.exec(JSON.stringify(value))?.[1] ?? '';

/** The routes of a service stack, each with the logical id of its function and how it is called. */
function deployedRoutes(service: Template) {
  return propertiesOf(service, 'AWS::ApiGatewayV2::Route').map(({ RouteKey, Target }) => {
    const integration = resource(service, refIn(Target));
    const alias = resource(service, refIn(integration.IntegrationUri));
    const { IntegrationType, PayloadFormatVersion, TimeoutInMillis = 30_000 } = integration;
    const call = { IntegrationType, PayloadFormatVersion, TimeoutInMillis };
    return { key: String(RouteKey), functionId: refIn(alias.FunctionName), call };
  });
}

function deployedFunction(service: Template, id: string): Deployed {
  const { Handler, Timeout, MemorySize } = resource(service, id);
  const variables = Object.fromEntries(environmentsOf(service))[id] ?? {};
  return {
    handler: String(Handler),
    timeoutSeconds: Number(Timeout),
    memoryMegabytes: Number(MemorySize),
    variables,
  };
}

describe.each([
  ['the default configuration', {}],
  ['a configuration with everything', everything],
  ['one that turns on what others turn off', otherwise],
])('the table of routes and the synthesized template of %s', (_, settings) => {
  let service: Template;
  let data: Template;
  const functionIds = {} as Record<ApiFunctionId, string>;
  beforeAll(async () => {
    ({ service, data } = await templates(settings));
    for (const { key, functionId } of deployedRoutes(service)) {
      const listed = apiRoutes.find((route) => routeKey(route) === key);
      if (listed) functionIds[listed.function] ??= functionId;
    }
  });

  it('have the same routes, each with the same function, which the gateway calls alike', () => {
    const call = {
      IntegrationType: 'AWS_PROXY',
      PayloadFormatVersion: '2.0',
      TimeoutInMillis: 30_000,
    };
    const listed = apiRoutes.map((route) => ({
      key: routeKey(route),
      functionId: functionIds[route.function],
      call,
    }));
    expect(deployedRoutes(service).sort((a, b) => a.key.localeCompare(b.key))).toEqual(
      listed.sort((a, b) => a.key.localeCompare(b.key)),
    );
    expect(new Set(Object.values(functionIds)).size).toBe(Object.keys(apiFunctions).length);
  });

  it.each(Object.entries(apiFunctions) as [ApiFunctionId, ApiFunction][])(
    'give %s the same variables, handler, time and memory',
    (id, listed) => {
      const { variables, ...deployed } = deployedFunction(service, functionIds[id]);
      const { timeoutSeconds, memoryMegabytes } = listed;
      expect(deployed).toEqual({ handler: 'index.handler', timeoutSeconds, memoryMegabytes });
      // A handler answers within 5 seconds, and the gateway gives up after 30.
      expect(timeoutSeconds).toBeGreaterThan(5);
      expect(timeoutSeconds).toBeLessThan(30);
      expect(functionIds[id]).toMatch(new RegExp(`^${id}Function`));
      expect(bundles[id].entries).toEqual({ index: listed.lambda });
      const optional = Object.keys(optionalVariables);
      const names = Object.keys(variables).filter((name) => !optional.includes(name));
      expect(names.sort()).toEqual(requiredVariables(listed).sort());
    },
  );

  it('give every function one value of a variable, as one process has', () => {
    const values = new Map<string, unknown>();
    for (const id of Object.keys(apiFunctions) as ApiFunctionId[]) {
      for (const [name, value] of Object.entries(
        deployedFunction(service, functionIds[id]).variables,
      )) {
        expect([name, value]).toEqual([name, values.get(name) ?? value]);
        values.set(name, value);
      }
    }
  });

  it('throttle the same routes as lookups and as others', () => {
    const [stage] = propertiesOf(service, 'AWS::ApiGatewayV2::Stage');
    const deployed = (stage?.RouteSettings ?? {}) as Record<string, object>;
    expect(Object.keys(deployed).sort()).toEqual(apiRoutes.map(routeKey).sort());
    for (const one of apiRoutes) {
      for (const other of apiRoutes.filter(({ throttle }) => throttle === one.throttle)) {
        expect([routeKey(other), deployed[routeKey(other)]]).toEqual([
          routeKey(other),
          deployed[routeKey(one)],
        ]);
      }
    }
  });

  it('have tables with the same keys', () => {
    const deployed = propertiesOf(data, 'AWS::DynamoDB::Table').map(({ KeySchema }) =>
      String((KeySchema as { AttributeName: string }[]).map(({ AttributeName }) => AttributeName)),
    );
    expect(deployed.sort()).toEqual(Object.values(tableKeys).map(String).sort());
  });
});

// The stack sets what the table lists, so the two agree without a variable too: the handlers say
// what they read.
it.each(Object.entries(apiFunctions) as [ApiFunctionId, ApiFunction][])(
  'the handler of %s reads the variables that the table lists, and no other',
  async (_, listed) => {
    const read = new Set<string>();
    const values: Record<string, string> = {
      ...lambdaEnvironment('http://127.0.0.1:1'),
      [environment.branding]: '{}',
      [metricNamespaceVariable]: 'test',
    };
    const variables = new Proxy(values, {
      get: (all, name: string) => {
        read.add(name);
        return all[name];
      },
    });
    const log = requestLog(variables, () => undefined);
    const { createHandler }: HandlerModule = await import(
      new URL(`../../../${listed.handler}`, import.meta.url).href
    );
    const client = createStoreClient({ ...localAws, endpoint: 'http://127.0.0.1:1' });
    const handler = createHandler({ variables, client, log });
    // The description is loaded with the first request for it; an address needs a key first.
    await handler(gatewayEvent('/v1/openapi.json') as RequestEvent, lambdaContext);
    client.destroy();
    const required = requiredVariables(listed);
    expect([...read].filter((name) => required.includes(name)).sort()).toEqual(required.sort());
    expect([...required, ...Object.keys(optionalVariables)]).toEqual(
      expect.arrayContaining([...read]),
    );
  },
);

it('the table has every operation of the API, at its path', () => {
  const { paths } = JSON.parse(readFileSync('docs/openapi.json', 'utf8'));
  const documented = Object.entries<Record<string, { operationId: string; security?: [] }>>(
    paths,
  ).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId, security }) => ({ path, operationId, security })),
  );
  const listed = apiRoutes.flatMap(({ path, operation }) => (path ? [`${path} ${operation}`] : []));
  // What is published without a key is behind every other path.
  const withKey = documented.filter(({ security }) => security === undefined);
  expect(listed.sort()).toEqual(
    withKey.map(({ path, operationId }) => `/v1${path} ${operationId}`).sort(),
  );
});
