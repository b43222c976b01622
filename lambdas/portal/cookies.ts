import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { deleteCookie, getCookie, setCookie } from 'hono/cookie';
import { EncryptJWT, type JWTPayload, jwtDecrypt } from 'jose';
import type { PortalSettings } from './visit/settings.ts';

/** How long a session lasts, in seconds. */
export const sessionSeconds = 8 * 3600;

type CookieName = 'session' | 'sign-in' | 'language';

/** Cookies that only this host gets: over https they carry the prefix `__Host-`, which browsers enforce. */
export function portalCookies({ baseUrl, sessionSecret }: Pick<PortalSettings, 'baseUrl' | 'sessionSecret'>) {
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

    /** Sets a cookie that nobody else can read or make. */
    async seal(c: Context, name: CookieName, content: JWTPayload, seconds: number): Promise<void> {
      const sealed = new EncryptJWT(content).setProtectedHeader({ alg: 'dir', enc: 'A256GCM' });
      const value = await sealed.setExpirationTime(`${seconds}s`).encrypt(await keyFor(name));
      setCookie(c, nameOf(name), value, { ...options, maxAge: seconds });
    },

    /** The content of a sealed cookie; `undefined` where there is none, it is forged or it has expired. */
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
