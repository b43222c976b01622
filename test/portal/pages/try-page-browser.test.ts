import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Page } from 'playwright-core';
import { because, browserForTests, inBrowser } from '../../support/browser.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { readyText, start } from '../../support/start.ts';

const chromium = browserForTests();
const data = folderForNow('try-page-');
let service: ReturnType<typeof start>;
// Not while the file is read: where all tests are skipped, nothing would stop it.
beforeAll(() => {
  service = start(['--data', data, '--port', '0']);
});
afterAll(async () => {
  service.child.kill('SIGINT');
  await service.ended;
});

/** The page of the demo's customer, from the address to which the reference leads. */
async function openTryPage(): Promise<{ page: Page; key: string; requests: string[] }> {
  const printed = await service.until('Customer portal: ');
  expect(printed).toContain(readyText);
  const [, portalUrl = ''] = /Customer portal: (\S+)/.exec(printed) ?? [];
  const [key = ''] = /bagadres_demo_\w+/.exec(printed) ?? [];
  if (!chromium.browser) throw new Error('there is a browser');
  const page = await chromium.browser.newPage({ locale: 'en-GB' });
  await page.goto(`${portalUrl}/try`);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: 'Kim Klant' }).click();
  await page.waitForURL(`${portalUrl}/accounts/demo/api/try`);
  const requests: string[] = [];
  page.on('request', (request) =>
    requests.push(
      `${request.resourceType()} ${request.method()} ${new URL(request.url()).pathname}`,
    ),
  );
  return { page, key, requests };
}

/** Presses the button, and returns the sentence about what came back. */
async function answerTo(page: Page): Promise<string> {
  const before = await page.locator('main').elementHandle();
  await page.getByRole('button', { name: 'Try it' }).click();
  await before?.waitForElementState('hidden');
  return page.locator('main .note').first().innerText();
}

describe('the page that tries a lookup, in a browser on the demo', () => {
  inBrowser(
    `looks up an address with the key of the demo, which stays in the memory of the page only${because}`,
    async () => {
      const { page, key, requests } = await openTryPage();
      const field = page.getByLabel('API key');
      expect(await field.inputValue()).toBe(key);
      await page.getByLabel('postcode', { exact: true }).fill('1381AA');
      await page.getByLabel('huisnummer', { exact: true }).fill('9');
      await page.getByLabel('toevoeging', { exact: true }).fill('a');
      await page.getByLabel('gemeente: with its province').check();
      expect(await answerTo(page)).toBe('The address exists: Buitenveer, Weesp.');
      expect(await page.locator('#answer').innerText()).toContain('"provincie": "Noord-Holland"');
      expect(await page.locator('#curl').innerText()).toContain('include=gemeente');
      expect(await page.evaluate('document.activeElement.role')).toBe('status');
      // The new samples can be copied too.
      expect(await page.getByRole('button', { name: 'Copy', exact: true }).count()).toBe(2);

      await field.fill('bagadres_demo_mistyped');
      expect(await answerTo(page)).toContain('The API does not accept this key');
      expect(await field.inputValue()).toBe('bagadres_demo_mistyped');
      expect(await field.getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('gemeente: with its province').isChecked()).toBe(true);

      const path = '/accounts/demo/api/try';
      expect(requests).toEqual([`fetch POST ${path}`, `fetch POST ${path}`]);
      expect(new URL(page.url()).pathname + new URL(page.url()).search).toBe(path);
      const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])';
      expect(await page.evaluate(kept)).toBe('[{},{},""]');
      expect(await page.content()).not.toContain('mistyped');

      await page.context().setOffline(true);
      expect(await answerTo(page)).toContain('check your connection, then try again');
      expect(await field.inputValue()).toBe('bagadres_demo_mistyped');
      await page.context().setOffline(false);
      await field.fill(key);
      await page.getByLabel('huisnummer', { exact: true }).fill('12A');
      expect(await answerTo(page)).toContain('Did you mean huisnummer=12 toevoeging=a?');
      // The policy of the page lets it ask nothing but the portal.
      const apiUrl = /(http:\/\/127\.0\.0\.1:\d+)\/v1/.exec(service.output())?.[1] ?? '';
      const refused = await page.evaluate(
        `fetch('${apiUrl}/v1/address', { mode: 'no-cors' }).then(() => 'sent', () => 'refused')`,
      );
      expect(refused).toBe('refused');

      await page.reload();
      expect(await field.inputValue()).toBe(key);
      await page.close();
    },
  );

  inBrowser(
    `comes back to its form after a session has ended, without the key in a page${because}`,
    async () => {
      const { page, key } = await openTryPage();
      await page.context().clearCookies();
      await page.getByLabel('postcode', { exact: true }).fill('1381AA');
      const before = await page.locator('main').elementHandle();
      await page.getByRole('button', { name: 'Try it' }).click();
      await before?.waitForElementState('hidden');
      expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Sign in again');
      expect(await page.content()).not.toContain(key);
      await page.close();
    },
  );
});
