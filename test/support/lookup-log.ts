import { findApiKey, issueApiKey } from '../../core/accounts/api-key.ts';
import type { ChargingClient } from '../../core/dynamodb.ts';
import { requestLog } from '../../lambdas/http/observe.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { createInstance } from './address-service.ts';
import { testChecksumSecret } from './dynamodb.ts';

/**
 * Makes each kind of answer once, for the lines that it logs: `node lookup-log.ts ENDPOINT KEY`.
 */
const log = requestLog(process.env);
const instanceOn = (client: ChargingClient) => createInstance(client, { log, hasDeadline: true });
const [endpoint = '', key = ''] = process.argv.slice(2);
const { lookUp, send } = instanceOn(localDynamoDb(endpoint));
await lookUp(key);
await lookUp(key, `postcode=${key}&huisnummer=1`);
await lookUp(key, 'postcode=9999ZZ&huisnummer=1');
await lookUp(key);
await lookUp(`${key.slice(0, -1)}!`);
// A key that this deployment could have issued, as after a revocation.
await lookUp(issueApiKey(findApiKey(key)?.claim.account ?? '', testChecksumSecret).key);
await send('/v1/auth/validate', { headers: { 'x-api-key': key } });
await send(`/v1/${key}?x=${key}`, { headers: { authorization: key } });
await instanceOn(localDynamoDb('http://127.0.0.1:1')).lookUp(key);
const quoting = Object.assign(new Error(`"${key}" can not be sent`, { cause: new Error(key) }), {
  name: 'ValidationException',
});
const failing = localDynamoDb(endpoint);
failing.send = () => Promise.reject(quoting);
await instanceOn(failing).lookUp(key);
