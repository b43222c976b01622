import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';
import * as openid from 'openid-client';

/** How people sign in, and who of them is an operator. */
export type SignInSettings = {
  /** The OpenID provider. */
  issuer: string;
  clientId: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  clientSecret?: () => Promise<string>;
  /** Verified e-mail addresses of operators, in lower case. */
  operators: readonly string[];
  /** A claim whose value, or one of whose values, makes an operator: `groups`, `bag-adres-operators`. */
  operatorClaim?: { name: string; value: string };
};

/** Whether a URL is of this machine: the only case in which the portal does without TLS. */
export function isLoopback(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}

/** A signed-in person, as reported by the provider and stored in the session. */
export type Identity = {
  /** `sub:` and the subject: how the admin module names a person. */
  subject: string;
  /** In lower case; only if the provider says that it is verified. */
  email?: string;
  name: string;
  hasOperatorClaim: boolean;
};

/** Somebody who signed in, and whether they are an operator by today's configuration. */
export type Person = Identity & { operator: boolean };

/** The values that the callback of a sign-in must match, kept in an encrypted cookie until then. */
export type Attempt = { verifier: string; state: string; nonce: string };

/** The authorization code flow with PKCE at an OpenID provider (OpenID Connect Core 1.0, RFC 7636). */
export function openIdSignIn(settings: SignInSettings, baseUrl: string) {
  let discovered: Promise<openid.Configuration> | undefined;
  const redirectUri = `${baseUrl}/callback`;

  /** Once an instance; after a failure the next sign-in tries again. */
  function discover(): Promise<openid.Configuration> {
    discovered ??= (async () => {
      const { issuer, clientId, clientSecret } = settings;
      const options = isLoopback(issuer) ? { execute: [openid.allowInsecureRequests] } : {};
      const secret = await clientSecret?.();
      const authentication = secret === undefined ? openid.None() : undefined;
      return openid.discovery(new URL(issuer), clientId, secret, authentication, { ...options, timeout: 4 });
    })();
    discovered.catch(() => {
      discovered = undefined;
    });
    return discovered;
  }

  return {
    /** Where to send the browser, and what to remember. */
    async begin(language: string): Promise<{ url: string; attempt: Attempt }> {
      const config = await discover();
      const attempt = {
        verifier: openid.randomPKCECodeVerifier(),
        state: openid.randomState(),
        nonce: openid.randomNonce(),
      };
      const url = openid.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: 'openid email profile',
        code_challenge: await openid.calculatePKCECodeChallenge(attempt.verifier),
        code_challenge_method: 'S256',
        state: attempt.state,
        nonce: attempt.nonce,
        ui_locales: language,
      });
      return { url: url.href, attempt };
    },

    /** Who came back with these query parameters. Throws for an answer that does not belong to the attempt. */
    async complete(query: string, { verifier, state, nonce }: Attempt): Promise<Identity> {
      const config = await discover();
      const tokens = await openid.authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (!claims) throw new Error('The OpenID provider sent no ID token.');
      const hasMore = claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
      const more = hasMore ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub) : {};
      return identityOf({ ...more, ...claims }, settings);
    },

    /** The provider's own page to sign out, if it has one. */
    async signOutUrl(): Promise<string | undefined> {
      const config = await discover().catch(() => undefined);
      const endpoint = config?.serverMetadata().end_session_endpoint;
      if (!config || !endpoint) return undefined;
      return openid.buildEndSessionUrl(config, { post_logout_redirect_uri: `${baseUrl}/` }).href;
    },
  };
}

/** Reads the claims of a person. An e-mail address that the provider has not verified identifies no one. */
export function identityOf(
  claims: Record<string, unknown> & { sub: string },
  { operatorClaim }: Pick<SignInSettings, 'operatorClaim'>,
): Identity {
  // Cognito sends the text "true" in some responses.
  const verified = claims.email_verified === true || claims.email_verified === 'true';
  const email = verified && typeof claims.email === 'string' ? claims.email.toLowerCase() : undefined;
  const values = operatorClaim ? [claims[operatorClaim.name]].flat() : [];
  const hasClaim = operatorClaim !== undefined && values.includes(operatorClaim.value);
  const name = typeof claims.name === 'string' && claims.name.trim() !== '' ? claims.name : (email ?? claims.sub);
  return {
    subject: `sub:${claims.sub}`,
    ...(email !== undefined && { email }),
    name: name.slice(0, 100),
    hasOperatorClaim: hasClaim,
  };
}

/** Decided on every request, so that removal from the list also takes effect in open sessions. */
export function isOperator(
  { email, hasOperatorClaim }: Identity,
  { operators, operatorClaim }: Pick<SignInSettings, 'operators' | 'operatorClaim'>,
): boolean {
  const byClaim = hasOperatorClaim && operatorClaim !== undefined;
  return byClaim || (email !== undefined && operators.includes(email));
}

/** How long a session lasts, in seconds. */
export const sessionSeconds = 8 * 3600;

/** What the cookies depend on. */
export type CookieSettings = {
  /** Where browsers reach the portal, without a path: `https://portal.example.nl`. Plain http only on the machine itself. */
  baseUrl: string;
  /** Seals cookies: 32 characters or more. */
  sessionSecret: () => Promise<string>;
};

type CookieName = 'session' | 'sign-in' | 'language';

/** Cookies that only this host gets: over https they carry the prefix `__Host-`, which browsers enforce. */
export function portalCookies({ baseUrl, sessionSecret }: CookieSettings) {
  const secure = baseUrl.startsWith('https://');
  const nameOf = (name: CookieName) => `${secure ? '__Host-' : ''}portal-${name}`;
  // Lax: the provider sends people back here, and they must then be signed in. Changes are guarded by Origin and token.
  const options = { path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const;
  const keyFor = async (name: CookieName) =>
    createHash('sha256')
      .update(`portal ${name}\n`)
      .update(await longSecret(sessionSecret))
      .digest();

  return {
    read: (c: Context, name: CookieName) => getCookie(c, nameOf(name)),
    write: (c: Context, name: CookieName, value: string, maxAge: number) =>
      setCookie(c, nameOf(name), value, { ...options, maxAge }),
    remove: (c: Context, name: CookieName) => void deleteCookie(c, nameOf(name), { path: '/', secure }),

    /** Sets an encrypted cookie that only this service can read or create. */
    async seal(c: Context, name: CookieName, content: JWTPayload, seconds: number): Promise<void> {
      const sealed = new EncryptJWT(content).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
      const value = await sealed.setExpirationTime(`${seconds}s`).encrypt(await keyFor(name));
      setCookie(c, nameOf(name), value, { ...options, maxAge: seconds });
    },

    /** The content of an encrypted cookie; `undefined` if it is missing, forged or expired. */
    async unseal(c: Context, name: CookieName): Promise<JWTPayload | undefined> {
      const value = getCookie(c, nameOf(name));
      if (!value) return undefined;
      const opened = jwtDecrypt(value, await keyFor(name), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return (await opened.catch(() => undefined))?.payload;
    },

    /** A token for the forms of one session: another site can't know it. */
    async formToken(sessionId: string): Promise<string> {
      const secret = await longSecret(sessionSecret);
      return createHash('sha256').update(`portal form\n${secret}\n${sessionId}`).digest('base64url');
    },
  };
}

async function longSecret(sessionSecret: () => Promise<string>): Promise<string> {
  const secret = await sessionSecret();
  if (secret.length < 32) throw new Error('The session secret of the portal has fewer than 32 characters.');
  return secret;
}
