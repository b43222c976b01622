import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { newAccount } from '../../test/support/address-service.ts';
import type { HttpService } from '../../test/support/http-service.ts';

const examples = fileURLToPath(new URL('../../docs/examples/', import.meta.url));

/** Takes the pictures of docs/examples: the form at work, an address on a map, and its objects in the reference. */
export async function takeExamplePictures(browser: Browser, service: HttpService, out: string): Promise<void> {
  const { baseUrl } = service;
  const { key } = await newAccount(service, { minute: 100 });
  const env = { ...process.env, BAG_ADRES_URL: baseUrl, BAG_ADRES_KEY: key, PORT: '0' };
  const page = await browser.newPage({ locale: 'nl-NL', viewport: { width: 760, height: 200 } });
  const path = (name: string) => join(out, `${name}.png`);

  const { stdout } = await promisify(execFile)(process.execPath, ['map.ts', '9999SD', '2', 'A'], {
    cwd: examples,
    env,
  });
  await page.setContent(stdout);
  await page.locator('body').screenshot({ path: path('map') });

  await page.setViewportSize({ width: 760, height: 1100 });
  await page.goto(`${baseUrl}/docs?lang=en`);
  const objects = { has: page.locator('#outcome-objects') };
  await page
    .locator('.block')
    .filter(objects)
    .screenshot({ path: path('reference-objecten') });

  const server = spawn(process.execPath, ['form/server.ts'], {
    cwd: examples,
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [url] = await once(server.stdout, 'data');
    await page.setViewportSize({ width: 760, height: 200 });
    await page.goto(String(url).trim());
    await page.getByLabel('Postcode').fill('3028BV');
    await page.getByLabel('Huisnummer').fill('527');
    await page.keyboard.press('Tab');
    await page.locator('select').selectOption('01R');
    await page.getByRole('status').getByText('Mathenesserdijk').waitFor();
    await page.screenshot({ path: path('form'), fullPage: true });
  } finally {
    server.kill();
  }
}
