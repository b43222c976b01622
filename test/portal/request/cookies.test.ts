import { describe, expect, it } from '@jest/globals';
import { Hono } from 'hono';
import { portalCookies } from '../../../portal/request/cookies.ts';

const secret = 'a secret of the tests, long enough';
const cookies = portalCookies({
  baseUrl: 'https://portal.example.nl',
  sessionSecret: async () => secret,
});
const others = portalCookies({
  baseUrl: 'https://portal.example.nl',
  sessionSecret: async () => secret.replaceAll('e', 'o'),
});
const id = 'AAAAAAAAAAAAAAAA';

/** What one set of cookies makes of what another one has set. */
async function readBack(
  set = cookies,
): Promise<{ session: string | undefined; form: string; value: string }> {
  const app = new Hono();
  app.get('/set', async (c) => {
    await set.writeSession(c, id);
    return c.text(await set.formToken(id, id));
  });
  let session: string | undefined;
  app.get('/read', async (c) => {
    session = await cookies.readSession(c);
    return c.text('');
  });
  const answer = await app.request('/set');
  const [cookie = ''] = answer.headers.getSetCookie().map((text) => text.split(';')[0] ?? '');
  await app.request('/read', { headers: { cookie } });
  return { session, form: await answer.text(), value: cookie.split('=')[1] ?? '' };
}

describe('the session cookie', () => {
  it('is read back only if the present secret made its proof', async () => {
    expect((await readBack()).session).toBe(id);
    expect((await readBack(others)).session).toBeUndefined();
  });

  it('lasts eight hours, and is sent to the portal alone, over TLS, not to scripts', async () => {
    const app = new Hono();
    app.get('/set', async (c) => {
      await cookies.writeSession(c, id);
      return c.text('');
    });
    const [cookie = ''] = (await app.request('/set')).headers.getSetCookie();
    const attributes = cookie.split('; ').slice(1).sort();
    expect(attributes).toEqual(['HttpOnly', 'Max-Age=28800', 'Path=/', 'SameSite=Lax', 'Secure']);
    expect(cookie).toMatch(/^__Host-portal-session=/);
  });

  it('has another proof than the token of a form, which pages show', async () => {
    const { value, form } = await readBack();
    expect(value).toMatch(new RegExp(`^${id}\\.`));
    const [ofSession = '', ofPerson = ''] = form.split('.');
    for (const proof of [ofSession, ofPerson]) expect(value).not.toContain(proof);
    expect(ofSession).not.toBe(ofPerson);
  });
});

describe('the secret of all cookies', () => {
  it('has at least 32 characters', async () => {
    const proofBy = (secret: string) =>
      portalCookies({
        baseUrl: 'https://portal.example.nl',
        sessionSecret: async () => secret,
      }).formToken(id, id);
    await expect(proofBy('x'.repeat(31))).rejects.toThrow('fewer than 32 characters');
    expect(await proofBy('x'.repeat(32))).toMatch(/./);
  });
});

describe('an encrypted cookie', () => {
  it('can be opened under its own name only', async () => {
    const app = new Hono();
    const opened: unknown[] = [];
    app.get('/set', async (c) => {
      await cookies.seal(c, 'sign-in', { state: 'x' }, 60);
      return c.text('');
    });
    app.get('/read', async (c) => {
      opened.push(
        (await cookies.unseal(c, 'sign-in'))?.state,
        await cookies.unseal(c, 'language' as 'sign-in'),
      );
      return c.text('');
    });
    const [sealed = ''] = (await app.request('/set')).headers
      .getSetCookie()
      .map((text) => text.split(';')[0] ?? '');
    const renamed = sealed.replace('portal-sign-in', 'portal-language');
    await app.request('/read', { headers: { cookie: `${sealed}; ${renamed}` } });
    expect(opened).toEqual(['x', undefined]);
  });
});
