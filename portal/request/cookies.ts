import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';
import { cached } from './cached.ts';

export type CookieSettings = {
  /**
   * Where browsers reach the portal, without a path: `https://portal.example.nl`. Plain http only
   * on the machine itself.
   */
  baseUrl: string;
  /** Seals cookies: 32 characters or more. Another value signs everybody out. */
  sessionSecret: () => Promise<string>;
};

type CookieName = 'session' | 'sign-in' | 'form' | 'language';
type SealedName = 'sign-in' | 'form';

/** How long a session lasts, in seconds. */
export const sessionSeconds = 8 * 3600;

/** A page of the portal to go back to, with its query; the first page for anything else. */
export function localPath(back = '/'): string {
  const [path = '', ...rest] = back.split('?');
  const query = new URLSearchParams(rest.join('?')).toString();
  if (!/^\/(?!\/)[A-Za-z0-9/._-]*$/.test(path)) return '/';
  return query === '' || query.length > 1_000 ? path : `${path}?${query}`;
}

/**
 * Cookies that only this host gets: over https they carry the prefix `__Host-`, which browsers
 * enforce.
 */
export function portalCookies({ baseUrl, sessionSecret }: CookieSettings) {
  const secure = baseUrl.startsWith('https://');
  const nameOf = (name: CookieName) => `${secure ? '__Host-' : ''}portal-${name}`;
  // Lax: the provider sends people back here, and they must then be signed in. Changes are guarded
  // by Origin and token.
  const options = { path: '/', httpOnly: true, secure, sameSite: 'Lax' } as const;

  const keyFor = async (name: CookieName) =>
    createHash('sha256')
      .update(`portal ${name}\n`)
      .update(await longSecret(sessionSecret))
      .digest();

  const proofOf = async (id: string, use: 'session' | 'form' | 'owner') =>
    createHmac('sha256', await longSecret(sessionSecret))
      .update(`portal ${use}\n${id}`)
      .digest('base64url');

  return {
    read: (c: Context, name: CookieName) => getCookie(c, nameOf(name)),
    write: (c: Context, name: CookieName, value: string, maxAge: number) =>
      setCookie(c, nameOf(name), value, { ...options, maxAge }),
    remove: (c: Context, name: CookieName) =>
      void deleteCookie(c, nameOf(name), { path: '/', secure }),

    /**
     * Gives the browser the id of its session, with a proof that only the present session secret
     * makes.
     */
    async writeSession(c: Context, id: string): Promise<void> {
      setCookie(c, nameOf('session'), `${id}.${await proofOf(id, 'session')}`, {
        ...options,
        maxAge: sessionSeconds,
      });
    },

    /**
     * The id of the browser's session; `undefined` without a session, or if another secret made its
     * proof.
     */
    async readSession(c: Context): Promise<string | undefined> {
      const [id = '', proof = ''] = (getCookie(c, nameOf('session')) ?? '').split('.');
      return id !== '' && isSame(proof, await proofOf(id, 'session')) ? id : undefined;
    },

    /** Sets an encrypted cookie that only this service can read or create. */
    async seal(c: Context, name: SealedName, content: JWTPayload, seconds: number): Promise<void> {
      const sealed = new EncryptJWT(content).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
      const value = await sealed.setExpirationTime(`${seconds}s`).encrypt(await keyFor(name));
      setCookie(c, nameOf(name), value, { ...options, maxAge: seconds });
    },

    /** The content of an encrypted cookie; `undefined` if it is missing, forged or expired. */
    async unseal(c: Context, name: SealedName): Promise<JWTPayload | undefined> {
      const value = getCookie(c, nameOf(name));
      if (!value) return undefined;
      const opened = jwtDecrypt(value, await keyFor(name), {
        keyManagementAlgorithms: ['dir'],
        contentEncryptionAlgorithms: ['A256GCM'],
      });
      return (await opened.catch(() => undefined))?.payload;
    },

    /**
     * A token for the forms of one session, which another site can't know; its second part says
     * whose they are.
     */
    formToken: async (sessionId: string, subject: string) =>
      `${await proofOf(sessionId, 'form')}.${await proofOf(subject, 'owner')}`,

    /** That second part. */
    ownerToken: (subject: string) => proofOf(subject, 'owner'),
  };
}

/** Compares two texts in a time that does not depend on where they differ. */
export function isSame(given: string, wanted: string): boolean {
  const bytes = Buffer.from(given);
  const other = Buffer.from(wanted);
  return bytes.length === other.length && timingSafeEqual(bytes, other);
}

async function longSecret(sessionSecret: () => Promise<string>): Promise<string> {
  const secret = await sessionSecret();
  if (secret.length < 32) {
    throw new Error('The session secret of the portal has fewer than 32 characters.');
  }
  return secret;
}

/**
 * Reads a secret when it is needed and at least every 30 seconds, so that a rotation reaches every
 * instance within a minute.
 */
export const freshSecret = (read: () => Promise<string>, now?: () => number) =>
  cached(read, { milliseconds: 30_000, usableMilliseconds: 60_000, ...(now && { now }) });
