import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import { newAccount } from '../../support/address-service.ts';
import { violations, wcagRules } from '../../support/axe.ts';
import { because, inBrowser, openTab, type Tab } from '../../support/browser.ts';
import { launchBrowser } from '../../support/chromium.ts';
import { type HttpService, startHttpService } from '../../support/http-service.ts';

const folder = fileURLToPath(new URL('../../../docs/examples/form/', import.meta.url));

let service: HttpService;
let browser: Browser | undefined;
let form: Awaited<ReturnType<typeof startForm>>;
/** The same form while the service can't be reached. */
let alone: Awaited<ReturnType<typeof startForm>>;

beforeAll(async () => {
  [service, browser] = await Promise.all([startHttpService(), launchBrowser()]);
  const { key } = await newAccount(service, { minute: 1000 });
  [form, alone] = await Promise.all([startForm(service.baseUrl, key), startForm('http://127.0.0.1:1', key)]);
});
afterAll(async () => {
  await browser?.close();
  for (const started of [form, alone]) started?.server.kill();
  await service.stop();
});

/** The server of the example, as its README says to start it. */
async function startForm(baseUrl: string, key: string): Promise<{ url: string; server: ChildProcess }> {
  const env = { ...process.env, BAG_ADRES_URL: baseUrl, BAG_ADRES_KEY: key, PORT: '0' };
  const server = spawn(process.execPath, ['server.ts'], { cwd: folder, env, stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(server.stdout, 'data');
  return { url: String(line).trim(), server };
}

let shared: Promise<Tab> | undefined;

/** Goes to `url` in the tab that the tests share: a tab of its own for each is most of their time. */
async function open(url = form.url, { scripts = true } = {}): Promise<Page> {
  shared ??= openTab(browser, { viewport: { width: 390, height: 844 } });
  const { page, allowScripts } = await shared;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await allowScripts(scripts);
  await page.goto(url);
  return page;
}

/** Types a number and leaves the field, so that the form asks at once. */
async function type(page: Page, postcode: string, huisnummer: string, toevoeging?: string): Promise<void> {
  await page.getByLabel('Postcode').fill(postcode);
  await number(page).fill(huisnummer);
  if (toevoeging !== undefined) await addition(page).fill(toevoeging);
  await page.keyboard.press('Tab');
}

/** Sends the form, and waits for what the server makes of it. */
async function order(page: Page, shown: string): Promise<void> {
  await page.getByRole('button', { name: 'Bezorg hier' }).click();
  await page.getByText(shown).waitFor();
}

const street = (page: Page) => page.getByLabel('Straat');
const town = (page: Page) => page.getByLabel('Woonplaats');
const number = (page: Page) => page.getByRole('textbox', { name: 'Huisnummer' });
const addition = (page: Page) => page.getByRole('textbox', { name: 'Toevoeging' });
const list = (page: Page) => page.getByLabel('Toevoegingen bij dit huisnummer');
const message = (page: Page) => page.getByRole('status');
const says = (page: Page, text: string) => message(page).getByText(text).waitFor();
const isValid = (page: Page) => page.evaluate('document.forms[0].checkValidity()');

/** Waits without a script of its own, which the policy of the page forbids. */
async function hasValue(field: Locator, value: string): Promise<void> {
  for (let tries = 0; tries < 200 && (await field.inputValue()) !== value; tries++) await sleep(25);
  expect(await field.inputValue()).toBe(value);
}

/** Counts the lookups of a page from now on. */
async function countLookups(page: Page): Promise<string[]> {
  const seen: string[] = [];
  await page.route('**/adres?*', (route) => {
    seen.push(new URL(route.request().url()).search);
    return route.continue();
  });
  return seen;
}

describe('the form element', () => {
  inBrowser(`fills in the street and the town, and asks for no toevoeging where there is none${because}`, async () => {
    const page = await open();
    await type(page, '1012 rj', '147 ');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(await town(page).inputValue()).toBe('Amsterdam');
    expect(await list(page).isVisible()).toBe(false);
    expect(await message(page).innerText()).toBe('');
    expect(await violations(page, wcagRules)).toEqual([]);
    await order(page, 'We leveren op: Nieuwezijds Voorburgwal 147');
  });

  inBrowser(`keeps what somebody typed when the toevoeging changes afterwards${because}`, async () => {
    const page = await open();
    await type(page, '1012RJ', '99999');
    await says(page, 'We kennen dit adres niet.');
    await street(page).fill('Nieuwe straat');
    await town(page).fill('Weesp');
    await addition(page).fill('A');
    await page.keyboard.press('Tab');
    await says(page, 'We kennen dit adres niet.');
    expect([await street(page).inputValue(), await town(page).inputValue()]).toEqual(['Nieuwe straat', 'Weesp']);
    await order(page, 'Nieuwe straat 99999 A');
  });

  inBrowser(`never leaves its street beside another number${because}`, async () => {
    const page = await open();
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await type(page, '9999SD', '12A');
    expect([await street(page).inputValue(), await town(page).inputValue()]).toEqual(['', '']);
    expect(await isValid(page)).toBe(false);
    await says(page, 'Bedoelt u 9999SD 12 A?');
  });

  inBrowser(`asks before it replaces what somebody typed${because}`, async () => {
    const page = await open();
    await street(page).fill('Damrak');
    await town(page).fill('amsterdam');
    await type(page, '1012RJ', '147');
    await says(page, 'Volgens het register is dit Nieuwezijds Voorburgwal, Amsterdam.');
    expect(await street(page).inputValue()).toBe('Damrak');
    await page.getByRole('button', { name: 'Overnemen' }).click();
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(await violations(page, wcagRules)).toEqual([]);
  });

  inBrowser(`lets people choose from the toevoegingen that exist${because}`, async () => {
    const page = await open();
    await type(page, '9999SD', '2');
    await says(page, 'Kies de toevoeging die bij dit huisnummer hoort.');
    expect(await list(page).locator('option').allInnerTexts()).toEqual(['Kies ...', 'A', 'B']);
    expect(await violations(page, wcagRules)).toEqual([]);
    await list(page).selectOption('B');
    await hasValue(street(page), 'Teststraat');
    expect([await addition(page).inputValue(), await list(page).inputValue()]).toEqual(['B', 'B']);
    await order(page, 'Teststraat 2 B 9999SD Testdorp');
  });

  inBrowser.each([
    ['Z', 'Toevoeging Z is hier niet bekend.'],
    ['2-hoog', 'Toevoeging 2-hoog is hier niet bekend.'],
  ])(`shows the toevoegingen that exist for %s${because}`, async (typed, shown) => {
    const page = await open();
    await type(page, '9999SD', '2', typed);
    await says(page, shown);
    expect(await list(page).locator('option').allInnerTexts()).toEqual(['Kies ...', 'A', 'B']);
    expect(await addition(page).inputValue()).toBe(typed);
  });

  inBrowser(`asks whether 2b means number 2 with b, and never decides that itself${because}`, async () => {
    const page = await open();
    await type(page, '9999SD', '2b');
    await says(page, 'Bedoelt u 9999SD 2 b?');
    expect(await number(page).inputValue()).toBe('2b');
    await page.getByRole('button', { name: 'Ja' }).click();
    await hasValue(street(page), 'Teststraat');
    expect(await number(page).inputValue()).toBe('2');
    expect(await list(page).inputValue()).toBe('B');
  });

  inBrowser(`offers the streets and towns of an ambiguous address, and says so${because}`, async () => {
    const page = await open();
    await type(page, '9999SD', '3');
    await says(page, 'Er zijn meer adressen met dit nummer.');
    expect(await isValid(page)).toBe(false);
    await page.getByLabel('Teststraat, Teststad').check();
    expect(await town(page).inputValue()).toBe('Teststad');
    expect(await violations(page, wcagRules)).toEqual([]);
  });

  inBrowser(`asks once for a number typed slowly, and not again for one that it knows${because}`, async () => {
    const page = await open();
    const lookups = await countLookups(page);
    await page.getByLabel('Postcode').pressSequentially('1012rj', { delay: 20 });
    await number(page).pressSequentially('147', { delay: 150 });
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await type(page, '1012RJ', '148');
    await says(page, 'We kennen dit adres niet.');
    await type(page, '1012rj', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(lookups.map((query) => new URLSearchParams(query).get('huisnummer'))).toEqual(['147', '148']);
  });

  inBrowser(`takes the answer to what was typed last, and leaves the focus where it is${because}`, async () => {
    const page = await open();
    let held: Route | undefined;
    await page.route('**/adres?*huisnummer=2&*', (route) => {
      held = route;
    });
    await type(page, '9999SD', '2');
    await addition(page).fill('');
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await held?.continue().catch(() => undefined);
    expect(await page.evaluate('document.activeElement.id')).toBe('toevoeging');
    expect(await street(page).inputValue()).toBe('Nieuwezijds Voorburgwal');
    expect(await list(page).isVisible()).toBe(false);
  });

  inBrowser(`says what is wrong with a postcode, without a lookup${because}`, async () => {
    const page = await open();
    const lookups = await countLookups(page);
    await page.getByLabel('Postcode').fill('1012');
    await page.keyboard.press('Tab');
    await says(page, 'vier cijfers en twee letters');
    expect(lookups).toEqual([]);
  });

  inBrowser.each([
    ["can't be reached", () => open(alone.url)],
    [
      'has too many requests',
      async () => {
        const page = await open();
        await page.route('**/adres?*', (route) => route.fulfill({ status: 429, body: 'Too many requests' }));
        return page;
      },
    ],
  ])(`lets people type when the service %s, and keeps what they typed${because}`, async (_, opened) => {
    const page = await opened();
    await street(page).fill('Damrak');
    await type(page, '1012RJ', '147', 'A');
    await says(page, 'Vul de straat en de woonplaats zelf in.');
    expect(await street(page).inputValue()).toBe('Damrak');
    await town(page).fill('Amsterdam');
    await order(page, 'Damrak 147 A 1012RJ Amsterdam');
  });

  inBrowser(`still knows what it filled in when somebody comes back${because}`, async () => {
    const page = await open();
    // A browser restores the fields of a page that it may keep.
    await page.route(`${form.url}/`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, headers: { ...response.headers(), 'cache-control': 'max-age=60' } });
    });
    await page.goto(`${form.url}/`);
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await order(page, 'We leveren op');
    await page.goBack();
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await type(page, '1012RJ', '99999');
    await says(page, 'We kennen dit adres niet.');
    expect(await street(page).inputValue()).toBe('');
  });

  inBrowser(`works without JavaScript${because}`, async () => {
    const page = await open(form.url, { scripts: false });
    await type(page, '1012RJ', '147');
    await street(page).fill('Nieuwezijds Voorburgwal');
    await town(page).fill('Amsterdam');
    await order(page, 'We leveren op: Nieuwezijds Voorburgwal 147');
  });

  inBrowser(`makes its own fields where there are none, in the language of the page${because}`, async () => {
    const page = await open();
    await page.evaluate(`
      document.documentElement.lang = 'en';
      const made = document.createElement('bag-adres-form');
      made.texts = { straat: 'Street name' };
      made.addEventListener('bag-adres', ({ detail }) => { window.seen = detail.status; });
      document.querySelector('form').replaceChildren(made)`);
    await page.getByLabel('Postcode').fill('9999SD');
    await page.getByLabel('House number').fill('1');
    await page.keyboard.press('Tab');
    await hasValue(page.getByLabel('Street name'), 'Teststraat');
    expect(await page.evaluate('window.seen')).toBe('ok');
    expect(await violations(page, wcagRules)).toEqual([]);
  });

  inBrowser(`never shows the key to the browser${because}`, async () => {
    const page = await open();
    const bodies: string[] = [];
    page.on('response', async (response) => void bodies.push(await response.text().catch(() => '')));
    await page.reload();
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(bodies.join('')).not.toContain('bagadres_');
  });
});
