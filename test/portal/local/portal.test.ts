import { afterAll, describe, expect, it } from '@jest/globals';
import { startLocalPortal } from '../../support/local-portal.ts';

const portal = await startLocalPortal();
afterAll(() => portal.stop());

/** A browser without a screen: it keeps cookies for each server and follows redirects. */
function newBrowser() {
  const jars = new Map<string, Map<string, string>>();

  async function go(url: string, init: RequestInit = {}): Promise<{ status: number; body: string; url: string }> {
    const { origin } = new URL(url);
    const jar = jars.get(origin) ?? new Map<string, string>();
    jars.set(origin, jar);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { 'accept-language': 'en', ...(init.headers as Record<string, string>), cookie };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
      if (value === '' || /Max-Age=0|1970/.test(line)) jar.delete(name);
      else jar.set(name, value);
    }
    const location = response.headers.get('location');
    if (location && response.status >= 300) return go(new URL(location, url).href);
    return { status: response.status, body: await response.text(), url };
  }

  async function signIn(person: string) {
    const choice = await go(`${portal.portalUrl}/sign-in`);
    const link = new RegExp(`href="([^"]*person=${person})"`).exec(choice.body)?.[1] ?? '';
    return go(new URL(link, portal.issuer).href);
  }

  return { go, signIn, jars };
}

describe('signing in', () => {
  it('leads a customer to their account, and an operator to all accounts', async () => {
    const customer = await newBrowser().signIn('customer');
    expect(customer.url).toBe(`${portal.portalUrl}/accounts/demo`);
    expect(customer.body).toContain('Signed in as Kim Klant');
    const operator = await newBrowser().signIn('operator');
    expect(operator.url).toBe(`${portal.portalUrl}/operator/accounts`);
    expect(operator.body).toContain('href="/accounts/demo"');
  });

  it('is undone by signing out, also for a copy of the cookie', async () => {
    const browser = newBrowser();
    const { body } = await browser.signIn('customer');
    const copy = new Map(browser.jars.get(portal.portalUrl));
    const token = /name="token" value="([^"]+)"/.exec(body)?.[1] ?? '';
    const out = await browser.go(`${portal.portalUrl}/sign-out`, {
      method: 'POST',
      headers: { origin: portal.portalUrl },
      body: new URLSearchParams({ token }),
    });
    expect(out.body).toContain('You are signed out');
    expect(out.body).toContain(`${portal.issuer}/session/end`);
    browser.jars.set(portal.portalUrl, copy);
    expect((await browser.go(`${portal.portalUrl}/accounts/demo`)).body).not.toContain('Kim');
  });

  it('accepts a callback only in the browser that started the sign-in, and only once', async () => {
    const browser = newBrowser();
    const choice = await browser.go(`${portal.portalUrl}/sign-in`);
    const link = /href="([^"]*person=customer)"/.exec(choice.body)?.[1] ?? '';
    let callback = new URL(link, portal.issuer).href;
    for (let steps = 0; steps < 5 && !callback.startsWith(portal.portalUrl); steps++) {
      const jar = browser.jars.get(portal.issuer) ?? new Map();
      const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join('; ');
      const step = await fetch(callback, { headers: { cookie }, redirect: 'manual' });
      for (const line of step.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        jar.set(name, value);
      }
      callback = new URL(step.headers.get('location') ?? '', callback).href;
    }
    const elsewhere = await newBrowser().go(callback);
    expect([elsewhere.status, elsewhere.body.includes('Sign in again')]).toEqual([400, true]);
    expect((await browser.go(callback)).body).toContain('Kim Klant');
    expect((await browser.go(callback)).status).toBe(400);
  });

  it('refuses a callback with another state', async () => {
    const browser = newBrowser();
    await browser.go(`${portal.portalUrl}/sign-in`);
    expect((await browser.go(`${portal.portalUrl}/callback?code=x&state=y`)).status).toBe(400);
  });
});
