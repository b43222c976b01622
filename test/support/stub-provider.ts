import { generateKeyPairSync, randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { exportJWK, type JWTPayload, SignJWT } from 'jose';
import { startHttpServer } from './http-server.ts';

/** What a provider answers with; each may be replaced by what a test wants to see refused. */
export type StubAnswers = {
  /** Claims of the ID token besides `iss`, `aud`, `nonce`, `iat` and `exp`, or instead of them. */
  idToken: JWTPayload;
  userInfo?: Record<string, unknown>;
  /** More of the discovery document. */
  metadata?: Record<string, unknown>;
  /** Signs with a key that the provider does not publish. */
  foreignKey?: boolean;
  /** What the token endpoint answers with instead, or `hang up`. */
  token?: { status: number; body: unknown; challenge?: string } | 'hang up';
  /** Refuses any other one. */
  clientSecret?: string;
  /** The status of its sign-in page, where it shows one. */
  signInStatus?: number;
  /** Publishes no key. */
  withoutKeys?: boolean;
  /** Another `alg` in the header, with the signature of the published key. */
  algorithm?: 'none';
};

const makeKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 });

/**
 * An OpenID provider whose answers a test sets, to be signed in at as whoever these say. It checks
 * nothing: what it answers is what the portal has to judge.
 */
export async function startStubProvider() {
  const published = makeKey();
  const foreign = makeKey();
  const jwk = { ...(await exportJWK(published.publicKey)), kid: 'one', alg: 'RS256', use: 'sig' };
  const nonces = new Map<string, string>();
  let answers: StubAnswers = { idToken: { sub: '1' } };
  const { url: issuer, stop } = await startHttpServer(
    (request, response) => void answer(request, response),
  );

  async function idToken(nonce: string | undefined): Promise<string> {
    const now = Math.floor(Date.now() / 1000);
    const claims = {
      iss: issuer,
      aud: 'portal',
      nonce,
      iat: now,
      exp: now + 300,
      ...answers.idToken,
    };
    if (answers.algorithm === 'none') {
      const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
      return `${part({ alg: 'none' })}.${part(claims)}.`;
    }
    const { privateKey } = answers.foreignKey ? foreign : published;
    return new SignJWT(claims).setProtectedHeader({ alg: 'RS256', kid: 'one' }).sign(privateKey);
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '/', issuer);
    const send = (body: unknown) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return void send({
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          ...(answers.userInfo && { userinfo_endpoint: `${issuer}/userinfo` }),
          ...answers.metadata,
        });
      case '/keys':
        return void send({ keys: answers.withoutKeys ? [] : [jwk] });
      case '/authorize': {
        if (answers.signInStatus !== undefined) {
          return void response.writeHead(answers.signInStatus).end();
        }
        const code = randomBytes(8).toString('hex');
        nonces.set(code, url.searchParams.get('nonce') ?? '');
        const back = new URL(url.searchParams.get('redirect_uri') ?? '');
        back.search = new URLSearchParams({
          code,
          state: url.searchParams.get('state') ?? '',
        }).toString();
        return void response.writeHead(302, { location: back.href }).end();
      }
      case '/token': {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        if (answers.token === 'hang up') return void response.destroy();
        if (answers.token) {
          const { status, body, challenge } = answers.token;
          const headers = {
            'content-type': 'application/json',
            ...(challenge && { 'www-authenticate': challenge }),
          };
          return void response.writeHead(status, headers).end(JSON.stringify(body));
        }
        const form = new URLSearchParams(Buffer.concat(chunks).toString());
        if (
          answers.clientSecret !== undefined &&
          form.get('client_secret') !== answers.clientSecret
        ) {
          return void response
            .writeHead(401, { 'content-type': 'application/json' })
            .end('{"error":"invalid_client"}');
        }
        const code = form.get('code') ?? '';
        const token = await idToken(nonces.get(code));
        return void send({ access_token: 'a', token_type: 'Bearer', id_token: token });
      }
      default:
        return void send(answers.userInfo ?? {});
    }
  }

  return {
    issuer,
    /** What it answers from now on. */
    set: (next: StubAnswers) => {
      answers = next;
    },
    stop,
  };
}
