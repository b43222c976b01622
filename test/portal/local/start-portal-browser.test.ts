import { describe, expect } from '@jest/globals';
import type { RunOptions } from 'axe-core';
import type { BrowserContext, ConsoleMessage, Page } from 'playwright-core';
import { pageRoutes } from '../../../portal/portal-app.ts';
import { allRules, violations, visualRules } from '../../support/axe.ts';
import { because, browserForTests, inBrowser, openTab, type Tab } from '../../support/browser.ts';
import { chargeAt } from '../../support/charge-at.ts';
import { startLocalPortal } from '../../support/local-portal.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const chromium = browserForTests();
const portal = startForTests(startLocalPortal);

let shared: Promise<Tab> | undefined;

/** The tab that the tests share, signed out, with or without JavaScript. */
async function openSharedTab({ scripts }: { scripts: boolean }): Promise<Tab> {
  shared ??= openTab(chromium.browser, { locale: 'en-GB' });
  const tab = await shared;
  await tab.page.context().clearCookies();
  await tab.allowScripts(scripts);
  return tab;
}

async function signIn(person: string, tab: Tab): Promise<Page> {
  const { page } = tab;
  const choice = page.getByRole('link', { name: person });
  // The portal waits a few seconds for the provider, which is not enough on a busy machine.
  while ((await choice.count()) === 0) {
    await page.goto(portal.portalUrl);
    const link = page.getByRole('link', { name: /Sign in|Inloggen/ });
    await page.goto(new URL((await link.getAttribute('href')) ?? '', portal.portalUrl).href);
  }
  await choice.click();
  await page.waitForURL(`${portal.portalUrl}/**`);
  return page;
}

/** A customer signs in and creates a key, which the page then shows. */
async function createKey(label: string): Promise<{ page: Page; key: string }> {
  const page = await signIn('Kim Klant', await openSharedTab({ scripts: true }));
  await page.getByRole('link', { name: 'Keys' }).click();
  await page.getByLabel('Label').fill(label);
  await page.getByRole('button', { name: 'Create a key' }).click();
  return { page, key: await page.locator('#key').innerText() };
}

type Cookies = Parameters<BrowserContext['addCookies']>[0];
let ofOperator: Promise<Cookies> | undefined;

/** The tab, in which an operator has signed in. */
async function operatorTab(options: { scripts: boolean }): Promise<Tab> {
  const tab = await openSharedTab(options);
  ofOperator ??= signIn('Olaf Operator', tab).then((page) => page.context().cookies());
  await tab.page.context().addCookies(await ofOperator);
  return tab;
}

/** The first page of the portal for the operator, without JavaScript. */
async function operatorPage(): Promise<Page> {
  const { page } = await operatorTab({ scripts: false });
  await page.goto(portal.portalUrl);
  return page;
}

/** Does what a curl line on a page says. */
async function runCurl(page: Page): Promise<number> {
  const line = await page.locator('#curl').innerText();
  const [, key = '', url = ''] = /'X-API-Key: ([^']+)' '([^']+)'/.exec(line) ?? [];
  return (await fetch(url, { headers: { 'X-API-Key': key } })).status;
}

type Viewport = { width: number; height: number };
type Look = [locale: string, device: string, Viewport, 'light' | 'dark', RunOptions];

describe('the portal in a browser', () => {
  inBrowser(
    `lets a customer create a key, use it, see the count rise, and sign out${because}`,
    async () => {
      const { page } = await createKey('kassa 2');
      expect(await page.getByRole('button', { name: 'Copy' }).first().isVisible()).toBe(true);
      expect(await runCurl(page)).toBe(200);
      await page.getByRole('link', { name: 'Overview' }).click();
      expect(await page.getByLabel('Per day: 1 of 1,000 used').first().isVisible()).toBe(true);
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect(await page.getByRole('heading', { name: 'You are signed out' }).count()).toBe(1);
    },
  );

  // Without a browser: test/portal/pages/keys-page.test.ts.
  inBrowser(`lets a customer replace a key, and see the old one refused${because}`, async () => {
    const { page, key: old } = await createKey('webshop');
    // Only the id of a key that is in use has to be typed.
    expect(await runCurl(page)).toBe(200);
    await page.getByRole('link', { name: 'Keys', exact: true }).click();
    await page.getByLabel('Actions: webshop', { exact: true }).click();
    await page.getByRole('link', { name: 'Replace: webshop' }).click();
    await page.getByRole('button', { name: 'Create the new key' }).click();
    expect(await runCurl(page)).toBe(200);
    await page.getByRole('link', { name: 'Back to the keys' }).click();
    await page.getByLabel('Actions: webshop', { exact: true }).click();
    await page.getByRole('link', { name: 'Revoke: webshop', exact: true }).click();
    await page.getByLabel('Key id').fill(await page.locator('dl.facts code').first().innerText());
    await page.getByRole('button', { name: 'Yes, revoke this key' }).click();
    expect(await page.getByRole('status').innerText()).toBe('The key is revoked.');
    const lookUp = `${portal.baseUrl}/v1/address?postcode=9999SD&huisnummer=1`;
    expect((await fetch(lookUp, { headers: { 'X-API-Key': old } })).status).toBe(401);
  });

  /** Every page of the portal, and some again with a query. */
  /** Every page by its route, and in states that no route has of its own. */
  const pages = [
    ...pageRoutes
      .filter(({ method, path }) => method === 'GET' && !/\.\w+$|:file$/.test(path))
      .map(({ path }) => path),
    '/operator/accounts?only=near&q=demo',
    '/accounts/:account/keys/:key?found=mistyped',
    '/accounts/:account/usage?by=week',
    '/accounts/:account/members/member?person=kim%40customer.example',
    '/nothing/here',
  ];
  const withValues = (path: string) => {
    const values: Record<string, string> = {
      account: 'demo',
      key: portal.keyId,
      plan: 'small',
      load: portal.register.waiting,
    };
    return path.replace(/:(\w+)/g, (_, name) => {
      const { [name]: value } = values;
      if (value === undefined) throw new Error(`Give a page with :${name} a value.`);
      return value;
    });
  };
  const desktop = { width: 1280, height: 900 };
  const phone = { width: 320, height: 700 };
  /**
   * The first look in a language is examined by all rules, the others by those that depend on size
   * and colours.
   */
  const looks: Look[] = [
    ['en-GB', 'a phone in the light', phone, 'light', allRules],
    ['en-GB', 'a desktop in the dark', desktop, 'dark', visualRules],
    ['en-GB', 'a desktop at 200 %', { width: 640, height: 450 }, 'light', visualRules],
    ['en-GB', 'a tablet', { width: 660, height: 800 }, 'light', visualRules],
    ['nl-NL', 'a desktop in the light', desktop, 'light', allRules],
    ['nl-NL', 'a phone in the dark', phone, 'dark', visualRules],
  ];

  // A test for each page: all in one take minutes, on a busy machine more than a test may.
  inBrowser.each(pages)(
    `is accessible and fits on phones and desktops, light and dark, in each language: %s${because}`,
    async (route) => {
      const keys = await portal.admin.keys.list('demo');
      if (keys.length < 3) {
        await portal.admin.keys.create({ account: 'demo', label: `key ${keys.length}` });
      }
      const { page, show } = await operatorTab({ scripts: true });
      const errors: string[] = [];
      const onError = (message: ConsoleMessage) =>
        message.type() === 'error' && errors.push(message.text());
      page.on('console', onError);
      const found: string[] = [];
      await page.goto(portal.portalUrl + withValues(route));
      let language = 'en-GB';
      for (const [locale, device, viewport, colorScheme, rules] of looks) {
        const where = `in ${locale} on ${device}`;
        if (locale !== language) await showIn(page, locale);
        language = locale;
        await show({ viewport, colorScheme });
        const { width, offScreen } = await page.evaluate<{ width: number; offScreen: string[] }>(
          layout,
        );
        if (width > viewport.width) found.push(`${where} it is ${width} wide`);
        found.push(...offScreen.map((control) => `${where}, ${control} is off screen`));
        const broken = await violations(page, rules);
        found.push(...broken.map((violation) => `${where}: ${violation}`));
      }
      page.off('console', onError);
      expect(found).toEqual([]);
      // A page without its query, or of an action that makes no sense now, says so.
      expect(errors.filter((text) => !/ status of 4\d\d /.test(text))).toEqual([]);
    },
  );

  inBrowser(
    `has a chart of usage that is one tab stop, in which arrow keys and a finger go from day to day${because}`,
    async () => {
      const { page, show } = await operatorTab({ scripts: true });
      await chargeAt(portal, 'demo', Date.now() / 1000, 1);
      await page.goto(`${portal.portalUrl}/accounts/demo`);
      await show({ viewport: desktop, colorScheme: 'light' });
      const chart = page.getByRole('slider');
      const reading = page.locator('.reading');
      await page.getByRole('region', { name: 'Keys' }).focus();
      await page.keyboard.press('Shift+Tab');
      expect(await chart.evaluate('document.activeElement.getAttribute("role")')).toBe('slider');
      const last = await reading.innerText();
      expect(last).toMatch(/^\d+ \w+ 20\d\d \(so far\): [1-9]/);
      await page.keyboard.press('Home');
      expect(await reading.innerText()).toMatch(/^\d+ \w+ 20\d\d: 0$/);
      await page.keyboard.press('ArrowLeft');
      expect(await chart.getAttribute('aria-valuenow')).toBe('1');
      await page.keyboard.press('End');
      expect([await chart.getAttribute('aria-valuetext'), await reading.innerText()]).toEqual([
        last,
        last,
      ]);
      await page.keyboard.press('Tab');
      expect(await reading.isVisible()).toBe(false);
      expect(await chart.evaluate('document.activeElement.className')).toBe('scroll');

      await chart.scrollIntoViewIfNeeded();
      const { x = 0, y = 0, width = 0 } = (await chart.boundingBox()) ?? {};
      const session = await page.context().newCDPSession(page);
      for (const [type, part, day] of [
        ['touchStart', 0.01, '1'],
        ['touchMove', 0.51, '16'],
      ] as const) {
        await session.send('Input.dispatchTouchEvent', {
          type,
          touchPoints: [{ x: x + width * part, y: y + 9 }],
        });
        expect([await chart.getAttribute('aria-valuenow'), await reading.isVisible()]).toEqual([
          day,
          true,
        ]);
      }
      await session.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      expect(await chart.getAttribute('aria-valuenow')).toBe('16');
    },
  );

  // After the page of the load that waits.
  inBrowser(
    `lets an operator approve a waiting load by keyboard alone, once${because}`,
    async () => {
      const page = await operatorPage();
      const press = async (role: 'link' | 'button', name: RegExp) => {
        await page.getByRole(role, { name }).focus();
        await Promise.all([page.waitForNavigation(), page.keyboard.press('Enter')]);
      };
      await press('link', /^Review/);
      expect(await page.getByRole('cell', { name: 'Hofstraat, Apeldoorn' }).count()).toBe(2);
      await press('link', /^Approve this load$/);
      const question = page.url();
      await press('button', /^Yes, approve this load$/);
      expect(await page.getByRole('status').innerText()).toContain(
        'The load is approved and has started',
      );
      expect((await page.goto(question))?.status()).not.toBe(500);
      // It waits no more as soon as it is being applied, and is live when the date of the register
      // says so.
      do await page.goto(`${portal.portalUrl}/operator/register`);
      while ((await page.locator('dl.facts dd').first().innerText()) !== '8 Mar 2026');
      expect(await page.getByText('No load awaits approval.').count()).toBe(1);
      expect(
        await page.getByRole('cell', { name: 'olaf@operator.example (operator)' }).count(),
      ).toBe(1);
      expect((await portal.register.addresses.dataset())?.peildatum).toBe('2026-03-08');
    },
  );

  inBrowser(
    `is used by keyboard alone: the first stop skips to the content${because}`,
    async () => {
      const { page } = await operatorTab({ scripts: true });
      await page.goto(portal.portalUrl);
      await page.keyboard.press('Tab');
      expect(await page.evaluate('document.activeElement.className')).toBe('skip');
      await page.keyboard.press('Enter');
      expect(await page.evaluate('document.activeElement.id')).toBe('content');
    },
  );
});

/**
 * Shows the page that is open in another language, as the server renders it, with its script: in
 * the same document, because to go to another one and to load axe-core there costs more than all
 * that is examined in it.
 */
async function showIn(page: Page, locale: string): Promise<void> {
  const response = await page.request.get(page.url(), { headers: { 'Accept-Language': locale } });
  expect(response.headers()['content-language']).toBe(locale.slice(0, 2));
  await page.evaluate(`(async () => {
    const { documentElement, title, body } = new DOMParser().parseFromString(${JSON.stringify(await response.text())}, 'text/html');
    Object.assign(document.documentElement, { lang: documentElement.lang });
    document.title = title;
    document.body.replaceWith(body);
    const { src } = document.querySelector('script');
    const script = Object.assign(document.createElement('script'), { src });
    const loaded = new Promise((resolve) => script.addEventListener('load', resolve));
    document.head.append(script);
    await loaded;
    script.remove();
  })()`);
}

/**
 * The width of the page, and the controls that nobody sees, though the keyboard reaches them; the
 * skip link appears with the focus. The colours change in a transition, which ends first.
 */
const layout = `(() => {
  for (const one of document.getAnimations()) one.finish();
  return {
    width: document.documentElement.scrollWidth,
    offScreen: [...document.querySelectorAll('a:not(.skip),button,input,select')]
      .map((control) => [control, control.getBoundingClientRect()])
      .filter(([, { width, left, right }]) => width > 0 && (left < -1 || right > innerWidth + 1))
      .map(([control]) => control.outerHTML),
  };
})()`;
