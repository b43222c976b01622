import { environment } from '../../core/environment.ts';
import { metricNamespaceVariable, requestMetricsVariable } from '../../core/metrics.ts';
import type { Config } from '../config/config-schema.ts';

/** A function behind routes of the API. Paths are relative to the root of the project. */
export type ApiFunction = {
  /** The module whose `createHandler` makes the handler. */
  readonly handler: string;
  /** The module that Lambda starts with: it gives the handler the variables of its process. */
  readonly lambda: string;
  readonly description: string;
  readonly timeoutSeconds: number;
  /**
   * Memory determines the share of a CPU: with less, cold starts and TLS handshakes take noticeably
   * longer.
   */
  readonly memoryMegabytes: number;
  /** The operations on each table, by the variable with its name. */
  readonly tables: Readonly<Record<string, readonly string[]>>;
  /** The other variables without which it does not start. */
  readonly requires: readonly string[];
};

/** The operations that charge a request; a transaction of updates is UpdateItem. */
export const chargeOperations = ['GetItem', 'UpdateItem'] as const;

/**
 * Every request gets a response within 5 seconds; a handler gives up well before that, with its own
 * response.
 */
const timeoutSeconds = 6;
const memoryMegabytes = 1024;

/** The functions of the API, by the id of their construct. */
export const apiFunctions = {
  Address: {
    handler: 'lambdas/address/address-handler.ts',
    lambda: 'lambdas/address/address-lambda.ts',
    description: 'Looks up one address',
    timeoutSeconds,
    memoryMegabytes,
    tables: {
      [environment.accountsTable]: chargeOperations,
      [environment.addressesTable]: ['GetItem', 'BatchGetItem'],
    },
    requires: [metricNamespaceVariable],
  },
  Validate: {
    handler: 'lambdas/validate/validate-handler.ts',
    lambda: 'lambdas/validate/validate-lambda.ts',
    description:
      'Validates a key and returns its limits; publishes the reference; answers unknown paths',
    timeoutSeconds,
    memoryMegabytes,
    tables: { [environment.accountsTable]: ['GetItem', 'BatchGetItem'] },
    requires: [metricNamespaceVariable, environment.branding],
  },
} as const satisfies Record<string, ApiFunction>;

export type ApiFunctionId = keyof typeof apiFunctions;

/**
 * Variables that settings add to every function of the API, each with its value; `false` for none.
 */
export const optionalVariables: Readonly<Record<string, (config: Config) => string | false>> = {
  [environment.testAddresses]: ({ testAddresses }) => !testAddresses && 'off',
  [environment.objecten]: ({ dataset }) => dataset.objecten && 'on',
  [environment.publicUrl]: ({ api }) => api.publicUrl ?? false,
  [environment.referencePage]: ({ referencePage }) => !referencePage && 'off',
  // Only the dashboard reads the other outcomes.
  [requestMetricsVariable]: ({ dashboards }) => dashboards && 'all',
};

/** The variables of a function that are always set. */
export function requiredVariables({ tables, requires }: ApiFunction): string[] {
  return [...Object.keys(tables), ...requires];
}

/** A route of the API. Each takes every method, so that callers get our own 405. */
export type ApiRoute = {
  /** Absent for every other path, so that callers get our own 404. */
  readonly path?: string;
  /** The operation in the OpenAPI document. */
  readonly operation?: string;
  readonly function: ApiFunctionId;
  /**
   * Each route has its own token bucket, so that requests to other paths can't use up the tokens of
   * lookups.
   */
  readonly throttle: 'lookups' | 'others';
};

/**
 * The routes of the API. The service stack and `npm start` both read them, and a test compares them
 * with the synthesized template.
 */
export const apiRoutes: readonly ApiRoute[] = [
  { path: '/v1/address', operation: 'lookUpAddress', function: 'Address', throttle: 'lookups' },
  { path: '/v1/addresses', operation: 'lookUpAddresses', function: 'Address', throttle: 'lookups' },
  { path: '/v1/auth/validate', operation: 'validateKey', function: 'Validate', throttle: 'others' },
  { function: 'Validate', throttle: 'others' },
];

/** The name of a route in API Gateway. */
export function routeKey({ path }: ApiRoute): string {
  return path === undefined ? '$default' : `ANY ${path}`;
}
