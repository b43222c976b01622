import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { canaryEnvironment, environment } from '../../core/environment.ts';
import { portalCanaryEnvironment } from '../../portal/stack/portal-names.ts';
import { gatewayEvent } from './gateway-event.ts';

/** Lets a function fail once, for the line that it logs: `node failing-function.ts NAME`. */
const nowhere = 'http://127.0.0.1:1';

const functions: Record<string, () => Promise<unknown>> = {
  async canary() {
    Object.assign(process.env, {
      [canaryEnvironment.url]: `${nowhere}/v1/address?postcode=1012RJ&huisnummer=147`,
      [canaryEnvironment.keySecret]: 'bag-adres-canary',
    });
    return (await import('../../lambdas/canary/canary-handler.ts')).handler();
  },

  async portal() {
    const signIn = { issuer: nowhere, clientId: 'portal', subjectClaim: 'sub', operators: [] };
    const settings = { deployment: 'd', baseUrl: nowhere, apiUrl: nowhere, colour: '#000', signIn };
    const names = ['accountsTable', 'snapshotBucket', 'statementsBucket', 'loadMachine'] as const;
    Object.assign(process.env, {
      ...Object.fromEntries(names.map((name) => [environment[name], 'any'])),
      [environment.portal]: JSON.stringify(settings),
      [environment.portalSessionSecret]: 'any',
    });
    const { handler } = await import('../../portal/portal-handler.ts');
    return handler(gatewayEvent('/sign-in') as Parameters<typeof handler>[0]);
  },

  async 'portal-canary'() {
    Object.assign(process.env, {
      [portalCanaryEnvironment.baseUrl]: nowhere,
      [portalCanaryEnvironment.issuer]: nowhere,
    });
    return (await import('../../portal/canary.ts')).handler();
  },

  /** Without its settings it fails before any call. */
  async step() {
    process.env[environment.addressesTable] = 'addresses';
    const { handler } = await import('../../loader/steps/mutate.ts');
    await handler({ load: 'some load', owner: 'any' }).catch(() => undefined);
  },
};

// The secret of the canary is no key.
const secrets = createServer((_request, response) => {
  response.end(JSON.stringify({ SecretString: 'no key' }));
}).listen(0, '127.0.0.1');
await once(secrets, 'listening');
const { port } = secrets.address() as AddressInfo;
Object.assign(process.env, {
  AWS_REGION: 'eu-central-1',
  AWS_ACCESS_KEY_ID: 'any',
  AWS_SECRET_ACCESS_KEY: 'any',
  AWS_ENDPOINT_URL_SECRETS_MANAGER: `http://127.0.0.1:${port}`,
});
const [, , name = ''] = process.argv;
await functions[name]?.();
secrets.closeAllConnections();
secrets.close();
