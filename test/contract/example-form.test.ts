import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Browser, Locator, Page } from 'playwright-core';
import { newAccount } from '../support/address-service.ts';
import { violations, wcagRules } from '../support/axe.ts';
import { because, inBrowser, launchBrowser, openTab, type Tab } from '../support/browser.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

const folder = fileURLToPath(new URL('../../docs/examples/form/', import.meta.url));

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
async function open(url: string, { scripts = true } = {}): Promise<Page> {
  shared ??= openTab(browser, { viewport: { width: 390, height: 844 } });
  const { page, allowScripts } = await shared;
  await allowScripts(scripts);
  await page.goto(url);
  return page;
}

async function type(page: Page, postcode: string, huisnummer: string): Promise<void> {
  await page.getByLabel('Postcode').fill(postcode);
  await page.getByLabel('Huisnummer').fill(huisnummer);
}

/** Sends the form, and waits for what the server makes of it. */
async function order(page: Page, shown: string): Promise<void> {
  await page.getByRole('button', { name: 'Bezorg hier' }).click();
  await page.getByText(shown).waitFor();
}

const street = (page: Page) => page.getByLabel('Straat');
const town = (page: Page) => page.getByLabel('Woonplaats');
const message = (page: Page) => page.getByRole('status');

/** Waits without a script of its own, which the policy of the page forbids. */
async function hasValue(field: Locator, value: string): Promise<void> {
  for (let tries = 0; tries < 200 && (await field.inputValue()) !== value; tries++) await sleep(25);
  expect(await field.inputValue()).toBe(value);
}

describe('the example of a form', () => {
  inBrowser(`fills in the street and the town, and asks for no toevoeging where there is none${because}`, async () => {
    const page = await open(form.url);
    await type(page, '1012 rj', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(await town(page).inputValue()).toBe('Amsterdam');
    expect(await page.locator('#bestaand').isVisible()).toBe(false);
    expect(await violations(page, wcagRules)).toEqual([]);
    await order(page, 'We leveren op: Nieuwezijds Voorburgwal 147');
  });

  inBrowser(`lets people choose from the toevoegingen that exist${because}`, async () => {
    const page = await open(form.url);
    await type(page, '9999SD', '2');
    await page.getByText('Kies de toevoeging die bij dit huisnummer hoort.').waitFor();
    expect(await page.locator('#bestaand option').allInnerTexts()).toEqual(['Kies ...', 'A', 'B']);
    expect(await violations(page, wcagRules)).toEqual([]);
    await page.locator('#bestaand').selectOption('B');
    await hasValue(street(page), 'Teststraat');
    expect(await page.locator('#bestaand').inputValue()).toBe('B');
    await order(page, 'Teststraat 2 B 9999SD Testdorp');
  });

  inBrowser(`asks whether 12A means number 12 with A, and never decides that itself${because}`, async () => {
    const page = await open(form.url);
    await type(page, '9999SD', '2b');
    await page.getByText('Bedoelt u 9999SD 2 b?').waitFor();
    expect(await page.getByLabel('Huisnummer').inputValue()).toBe('2b');
    await page.getByRole('button', { name: 'Ja' }).click();
    await hasValue(street(page), 'Teststraat');
    expect(await page.getByLabel('Huisnummer').inputValue()).toBe('2');
    expect(await page.locator('#bestaand').inputValue()).toBe('B');
  });

  inBrowser(`offers the streets and towns of an ambiguous address${because}`, async () => {
    const page = await open(form.url);
    await type(page, '9999SD', '3');
    await page.getByLabel('Teststraat, Teststad').check();
    expect(await town(page).inputValue()).toBe('Teststad');
    expect(await violations(page, wcagRules)).toEqual([]);
  });

  inBrowser(`says what is wrong, and that people may fill in what the register does not know${because}`, async () => {
    const page = await open(form.url);
    await type(page, '1012', '147');
    await page.getByText('vier cijfers en twee letters').waitFor();
    await type(page, '1234AB', '1');
    await page.getByText('We kennen dit adres niet.').waitFor();
    await street(page).fill('Nieuwe straat');
    await town(page).fill('Weesp');
    await order(page, 'Nieuwe straat 1');
  });

  inBrowser(`lets people type when the service can't be reached, and keeps what they typed${because}`, async () => {
    const page = await open(alone.url);
    await street(page).fill('Damrak');
    await type(page, '1012RJ', '147');
    await page.getByText('Vul de straat en de woonplaats zelf in.').waitFor();
    expect(await violations(page, wcagRules)).toEqual([]);
    expect(await street(page).inputValue()).toBe('Damrak');
    await town(page).fill('Amsterdam');
    await page.locator('#toevoeging').fill('A');
    await order(page, 'Damrak 147 A 1012RJ Amsterdam');
  });

  inBrowser(`works without JavaScript${because}`, async () => {
    const page = await open(form.url, { scripts: false });
    await type(page, '1012RJ', '147');
    await street(page).fill('Nieuwezijds Voorburgwal');
    await town(page).fill('Amsterdam');
    await order(page, 'We leveren op: Nieuwezijds Voorburgwal 147');
  });

  inBrowser(`never shows the key to the browser${because}`, async () => {
    const page = await open(form.url);
    const bodies: string[] = [];
    page.on('response', async (response) => void bodies.push(await response.text().catch(() => '')));
    await page.reload();
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(bodies.join('')).not.toContain('bagadres_');
    expect(await message(page).innerText()).toBe('');
  });
});
