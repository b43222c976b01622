import * as openid from 'openid-client';
import { providerFault } from '../stack/portal-names.ts';
import { cached } from './cached.ts';
import { type Identity, type IdentitySettings, readIdentity } from './identity.ts';

export type SignInSettings = IdentitySettings & {
  issuer: string;
  clientId: string;
  /** Absent for a public client, which proves itself by PKCE alone. */
  clientSecret?: () => Promise<string>;
};

/** Tells whether a URL points at this machine: only then does the portal work without TLS. */
export function isLoopback(url: string): boolean {
  return ['127.0.0.1', 'localhost', '[::1]'].includes(new URL(url).hostname);
}

/**
 * The values that the callback of a sign-in must match, kept in an encrypted cookie until then, and
 * where to go after it.
 */
export type Attempt = { verifier: string; state: string; nonce: string; back: string };

/**
 * How long the provider's discovery document is reused: its keys and addresses may change while an
 * instance lives.
 */
const discoveredFor = { milliseconds: 10 * 60_000 };

/** How long ago an ID token may have been issued, and how far the clocks may differ, in seconds. */
const issuedSeconds = 10 * 60;
const clockSeconds = 60;

/**
 * The authorization code flow with PKCE at an OpenID provider (OpenID Connect Core 1.0, RFC 7636).
 */
export function openIdSignIn(settings: SignInSettings, baseUrl: string) {
  const redirectUri = `${baseUrl}/callback`;

  async function readConfiguration(): Promise<openid.Configuration> {
    const { issuer, clientId, clientSecret } = settings;
    const options = isLoopback(issuer) ? { execute: [openid.allowInsecureRequests] } : {};
    const secret = await clientSecret?.();
    const authentication = secret === undefined ? openid.None() : undefined;
    const config = await openid.discovery(new URL(issuer), clientId, secret, authentication, {
      ...options,
      timeout: 4,
    });
    // Not only TLS: the signature of each ID token is checked with the provider's keys.
    openid.enableNonRepudiationChecks(config);
    return config;
  }

  /** After a failure the next sign-in tries again. */
  let discover = cached(readConfiguration, discoveredFor);

  return {
    /** The address of the provider to send the browser to, and the attempt to remember. */
    async begin(language: string, back: string): Promise<{ url: string; attempt: Attempt }> {
      const config = await discover();
      const attempt = {
        verifier: openid.randomPKCECodeVerifier(),
        state: openid.randomState(),
        nonce: openid.randomNonce(),
        back,
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

    /**
     * Identifies the person who came back with these query parameters.
     * @throws UnusableIdentity; another error for an answer that does not belong to the attempt
     */
    async complete(query: string, { verifier, state, nonce }: Attempt): Promise<Identity> {
      const config = await discover();
      const checks = {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
      };
      const tokens = await openid
        .authorizationCodeGrant(config, new URL(`${redirectUri}?${query}`), checks)
        .catch((error: unknown) => {
          // The client secret may have been replaced: the next sign-in reads it again.
          if (faultOfProvider(error) !== undefined) {
            discover = cached(readConfiguration, discoveredFor);
          }
          throw error;
        });
      const claims = tokens.claims();
      if (!claims) throw new Error('The OpenID provider sent no ID token.');
      checkIssue(claims, settings.clientId);
      const hasMore =
        claims.email === undefined && config.serverMetadata().userinfo_endpoint !== undefined;
      const more = hasMore
        ? await openid.fetchUserInfo(config, tokens.access_token, claims.sub)
        : {};
      return readIdentity(claims, more, settings);
    },

    /** The provider's own page to sign out, if it has one. */
    async signOutUrl(): Promise<string | undefined> {
      const config = await discover().catch(() => undefined);
      const endpoint = config?.serverMetadata().end_session_endpoint;
      if (!config || !endpoint) return undefined;
      const back = `${baseUrl}/`;
      const { href } = openid.buildEndSessionUrl(config, {
        post_logout_redirect_uri: back,
        // The name that Cognito has for it; other providers ignore a parameter that they don't
        // know.
        logout_uri: back,
      });
      return href;
    },
  };
}

/** The codes of errors of the connection, or of an answer that no provider gives. */
const unanswered: readonly unknown[] = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_PARSE_ERROR',
  'OAUTH_RESPONSE_IS_NOT_JSON',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
];

/**
 * Why the provider let nobody through, if that lies between it and the portal: the provider's own
 * code, `invalid_client` when the client secret has ended, or `unreachable`. Undefined if the
 * browser caused it, for instance with a used code.
 */
export function faultOfProvider(error: unknown): string | undefined {
  if (error instanceof openid.ResponseBodyError) {
    return error.error === 'invalid_grant' ? undefined : plain(error.error);
  }
  // RFC 6749: 401 with a challenge if the client could not be authenticated.
  if (error instanceof openid.WWWAuthenticateChallengeError) return 'invalid_client';
  const isUnanswered =
    error instanceof TypeError || unanswered.includes((error as { code?: unknown } | null)?.code);
  return isUnanswered ? providerFault.unreachable : undefined;
}

/** A code as the standard has them, so that nothing else of a provider gets into the log. */
const plain = (code: string) => (/^[a-z_]{1,40}$/.test(code) ? code : 'other');

/**
 * Refuses an ID token that was issued to another client, or not just now: `openid-client` permits
 * both in some cases.
 */
function checkIssue({ azp, iat }: openid.IDToken, clientId: string): void {
  if (azp !== undefined && azp !== clientId) {
    throw new Error('The ID token was issued to another client.');
  }
  const age = Date.now() / 1000 - iat;
  if (!(age >= -clockSeconds && age <= issuedSeconds)) {
    throw new Error('The ID token was not issued just now.');
  }
}
