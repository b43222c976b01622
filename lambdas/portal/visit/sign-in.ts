import * as openid from 'openid-client';
import { isLoopback, type SignInSettings } from './settings.ts';

/** Somebody who signed in, as the provider told us and the session keeps it. */
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

/** What a sign-in must bring back, kept in a sealed cookie meanwhile. */
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

/** Reads the claims of a person. An e-mail address that the provider did not verify is nobody's. */
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

/** Decided on every request, so that somebody who is taken off the list is no operator in an open session either. */
export function isOperator(
  { email, hasOperatorClaim }: Identity,
  { operators, operatorClaim }: Pick<SignInSettings, 'operators' | 'operatorClaim'>,
): boolean {
  const byClaim = hasOperatorClaim && operatorClaim !== undefined;
  return byClaim || (email !== undefined && operators.includes(email));
}
