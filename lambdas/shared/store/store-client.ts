import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { Sha256 } from './sha256.ts';

/**
 * The client of the Lambdas. A request is answered within 5 seconds (see `deadline`), so one try may hang for a second
 * at most and there are three. A try whose answer was lost may have been applied, so a retried charge can count one
 * lookup up to three times, and never none (decision 0002).
 */
export function createStoreClient(): DynamoDBClient {
  const client = new DynamoDBClient({
    maxAttempts: 3,
    retryMode: 'standard',
    // What the client would otherwise look for at every cold start, in files that no Lambda has.
    defaultsMode: 'standard',
    accountIdEndpointMode: 'disabled',
    authSchemePreference: [],
    userAgentAppId: async () => undefined,
    useDualstackEndpoint: false,
    useFipsEndpoint: false,
    sha256: Sha256,
    requestHandler: { connectionTimeout: 800, requestTimeout: 1000, throwOnRequestTimeout: true },
  });
  // Without a logger it tells nobody, but puts together what it would tell of every call.
  client.middlewareStack.remove('loggerMiddleware');
  return client;
}
