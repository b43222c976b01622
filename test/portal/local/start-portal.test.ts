import { once } from 'node:events';
import { request } from 'node:http';
import { afterAll, describe, expect, it } from '@jest/globals';
import { cookieBrowser } from '../../support/cookie-browser.ts';
import { startLocalPortal } from '../../support/local-portal.ts';

const portal = await startLocalPortal();
afterAll(() => portal.stop());

const { portalUrl, issuer } = portal;

/** A browser, with the link of the person who chooses to sign in there. */
function newBrowser() {
  const browser = cookieBrowser();
  async function linkOf(person: string): Promise<string> {
    const choice = await browser.go(`${portalUrl}/sign-in`);
    const link = new RegExp(`href="([^"]*person=${person})"`).exec(choice.body)?.[1] ?? '';
    return new URL(link, issuer).href;
  }
  return { ...browser, linkOf, signIn: async (person: string) => browser.go(await linkOf(person)) };
}

describe('signing in', () => {
  it('leads a customer to their account, and an operator to what needs them', async () => {
    const customer = await newBrowser().signIn('customer');
    expect(customer.url).toBe(`${portalUrl}/accounts/demo`);
    expect(customer.body).toContain('Signed in as Kim Klant');
    const operator = await newBrowser().signIn('operator');
    expect(operator.url).toBe(`${portalUrl}/operator/home`);
    expect(operator.body).toContain('href="/operator/accounts"');
  });

  it('is undone by signing out, also for a copy of the cookie', async () => {
    const browser = newBrowser();
    const { body } = await browser.signIn('customer');
    const copy = new Map(browser.jarOf(portalUrl));
    const token = /name="token" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const out = await browser.go(`${portalUrl}/sign-out`, {
      method: 'POST',
      headers: { origin: portalUrl },
      body: new URLSearchParams({ token }),
    });
    expect(out.body).toContain('You are signed out');
    expect(out.body).toContain(`${issuer}/session/end`);
    for (const [name, value] of copy) browser.jarOf(portalUrl).set(name, value);
    expect((await browser.go(`${portalUrl}/accounts/demo`)).body).not.toContain('Kim');
  });

  it('accepts a callback only in the browser that started the sign-in, and only once', async () => {
    const browser = newBrowser();
    let callback = await browser.linkOf('customer');
    while (!callback.startsWith(portalUrl)) {
      callback = new URL((await browser.get(callback)).location ?? portalUrl, callback).href;
    }
    const elsewhere = await newBrowser().go(callback);
    expect([elsewhere.status, elsewhere.body.includes('Sign in again')]).toEqual([400, true]);
    expect((await browser.go(callback)).body).toContain('Kim Klant');
    expect((await browser.go(callback)).status).toBe(400);
  });

  it('refuses a callback with another state', async () => {
    const browser = newBrowser();
    await browser.go(`${portalUrl}/sign-in`);
    expect((await browser.go(`${portalUrl}/callback?code=x&state=y`)).status).toBe(400);
  });
});

describe('the portal and its provider', () => {
  it.each([
    ['portal', portalUrl],
    ['provider', issuer],
  ])('answer under the names of this machine only: the %s', async (_, url) => {
    const { port } = new URL(url);
    const statusFor = async (host: string) => {
      const [answer] = await once(
        request({ port, host: '127.0.0.1', headers: { host } }).end(),
        'response',
      );
      return answer.resume().statusCode;
    };
    for (const name of ['localhost', `localhost:${port}`, '127.0.0.1:1', '[::1]']) {
      expect(await statusFor(name)).not.toBe(421);
    }
    for (const name of ['evil.example', `localhost.evil.example:${port}`, 'a b']) {
      expect(await statusFor(name)).toBe(421);
    }
  });
});
