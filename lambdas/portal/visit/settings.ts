/** What an operator configures of the portal. */
export type PortalSettings = {
  /** Where browsers reach it, without a path: `https://portal.example.nl`. Plain http only on the machine itself. */
  baseUrl: string;
  /** The address API, as customers call it. */
  apiUrl: string;
  company: string;
  /** `#1d4ed8` */
  colour: string;
  logo?: { type: 'image/svg+xml' | 'image/png'; bytes: Uint8Array<ArrayBuffer> };
  signIn: SignInSettings;
  /** Seals cookies: 32 characters or more. */
  sessionSecret: () => Promise<string>;
};

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

/** Refuses settings with which cookies could be read on their way. */
export function checkSettings({ baseUrl, signIn }: PortalSettings): void {
  for (const url of [baseUrl, signIn.issuer]) {
    if (!url.startsWith('https://') && !isLoopback(url))
      throw new Error(`${url} is not an https address. The portal and its OpenID provider need TLS.`);
  }
}
