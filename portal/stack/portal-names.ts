/** Names that the portal's stack, function and canary share. */
export const portalMetrics = {
  /** 1 when nobody could have signed in, else 0; its only dimension is `service`. */
  canaryFailures: 'PortalCanaryFailures',
  /**
   * Whole days until the client secret ends, by the configuration; its only dimension is `service`.
   */
  clientSecretDays: 'ClientSecretDays',
  /**
   * Sign-ins that failed because the OpenID provider refused the portal itself; without a
   * dimension.
   */
  providerRefusals: 'PortalProviderRefusals',
} as const;

/** The `service` dimension of the portal's metrics. */
export const portalService = 'portal-canary';

/** The member of a log line about a sign-in that the provider did not let through. */
export const providerFault = {
  member: 'provider',
  /**
   * Its value when the provider did not answer; otherwise it is the provider's own code, like
   * `invalid_client`.
   */
  unreachable: 'unreachable',
} as const;

export const portalCanaryEnvironment = {
  baseUrl: 'PORTAL_URL',
  issuer: 'PORTAL_ISSUER',
  /** The last day of the client secret, `2027-01-31`; unset if the configuration has none. */
  clientSecretExpires: 'PORTAL_CLIENT_SECRET_EXPIRES',
} as const;
