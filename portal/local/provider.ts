import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isLoopback } from '../request/sign-in.ts';

/** Somebody who can be chosen on the page of the local OpenID provider. */
export type LocalPerson = { id: string; name: string; email: string; about: string };

export type LocalProvider = { issuer: string; stop: () => Promise<void> };

export type LocalProviderOptions = {
  host: string;
  /** 0 picks a free one. */
  port: number;
  people: readonly LocalPerson[];
  clientId: string;
  clientSecret: string;
  /** The portal, which must be the only place that people are sent back to. */
  portalUrl: string;
};

/**
 * Starts a complete OpenID provider for this machine. It stores nothing, and a visitor can sign in
 * as anyone: the one thing that a provider in earnest would do otherwise. Its library takes 19 MB,
 * so it is loaded when somebody signs in.
 */
export async function startProvider(options: LocalProviderOptions): Promise<LocalProvider> {
  const { host, port, people } = options;
  let loaded: ReturnType<typeof createProvider> | undefined;
  const server = createServer((request, response) => {
    answer(request, response).catch((error) => {
      console.error('The OpenID provider of the portal failed:', error);
      response.destroy();
    });
  });
  server.listen(port, host);
  await once(server, 'listening');
  const issuer = `http://${host}:${(server.address() as AddressInfo).port}`;

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // A page whose own name leads to this machine could read these responses (DNS rebinding).
    const address = `http://${request.headers.host}`;
    if (!URL.canParse(address) || !isLoopback(address)) {
      response.writeHead(421, { 'content-type': 'text/plain' });
      response.end(
        `This sign-in provider answers at ${issuer} only. Begin at the portal: ${options.portalUrl}\n`,
      );
      return;
    }
    loaded ??= createProvider(issuer, options);
    const { provider, respond } = await loaded;
    if (!request.url?.startsWith('/choose/')) return respond(request, response);
    const chosen = new URL(request.url, issuer).searchParams.get('person');
    try {
      await provider.interactionDetails(request, response);
      if (chosen === null) return showChoice(response, request.url, people);
      await provider.interactionFinished(request, response, { login: { accountId: chosen } });
    } catch {
      response
        .writeHead(400, { 'content-type': 'text/plain' })
        .end('This sign-in is over. Begin again at the portal.');
    }
  }

  return {
    issuer,
    stop: async () => {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => undefined);
    },
  };
}

async function createProvider(issuer: string, { people, ...options }: LocalProviderOptions) {
  const { default: Provider } = await import('oidc-provider');
  const { createMemoryAdapter } = await import('oidc-provider/lib/adapters/memory_adapter.js');
  const provider = new Provider(issuer, {
    adapter: createMemoryAdapter(),
    clients: [
      {
        client_id: options.clientId,
        client_secret: options.clientSecret,
        id_token_signed_response_alg: 'ES256',
        redirect_uris: [`${options.portalUrl}/callback`],
        post_logout_redirect_uris: [`${options.portalUrl}/`],
      },
    ],
    findAccount: (_context, id) => {
      const person = people.find((candidate) => candidate.id === id);
      if (!person) return undefined;
      const { name, email } = person;
      return {
        accountId: id,
        claims: async () => ({ sub: id, name, email, email_verified: true }),
      };
    },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    conformIdTokenClaims: false,
    cookies: { keys: [randomBytes(16).toString('hex')] },
    jwks: { keys: [signingKey()] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, { uid }) => `/choose/${uid}` },
    pkce: { required: () => true },
    renderError(context, { error, error_description: why = 'no reason given' }) {
      context.type = 'text/plain';
      context.body = `${error}: ${why}. Begin again at the portal: ${options.portalUrl}\n`;
    },
    ttl: {
      Interaction: 600,
      Session: 3600,
      Grant: 3600,
      AccessToken: 600,
      IdToken: 600,
      AuthorizationCode: 60,
    },
    // The portal is our own client, so users need not consent to it.
    loadExistingGrant: async ({ oidc }) => {
      const grant = new oidc.provider.Grant({
        clientId: oidc.client?.clientId ?? '',
        accountId: oidc.session?.accountId ?? '',
      });
      grant.addOIDCScope('openid email profile');
      await grant.save();
      return grant;
    },
  });
  return { provider, respond: provider.callback() };
}

function showChoice(response: ServerResponse, path: string, people: readonly LocalPerson[]): void {
  const choices = people.map(
    ({ id, name, about }) => `<li><a href="${path}?person=${id}">${name}</a>, ${about}</li>`,
  );
  response.writeHead(200, {
    'content-type': 'text/html; charset=utf-8',
    'cache-control': 'no-store',
    'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  });
  response.end(`<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in on this machine</title></head><body><main><h1>Who are you?</h1>
<p>This OpenID provider runs on this machine, for trying out the portal. Choose a person:</p>
<ul>${choices.join('')}</ul></main></body></html>`);
}

function signingKey() {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  return { ...privateKey.export({ format: 'jwk' }), alg: 'ES256', use: 'sig', kid: 'local' };
}
