import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser } from 'playwright-core';
import { newAccount } from '../../test/support/address-service.ts';
import type { HttpService } from '../../test/support/http-service.ts';

const examples = fileURLToPath(new URL('../../docs/examples/', import.meta.url));
const form = new URL('../../packages/form/', import.meta.url);

type FormPicture = {
  name: string;
  postcode?: string;
  huisnummer?: string;
  brought?: Record<string, string>;
};

/**
 * The pictures of the form: the first for docs/examples, the others for whoever changes how it
 * looks.
 */
const formPictures: FormPicture[] = [
  { name: 'form', postcode: '1012RJ', huisnummer: '147' },
  { name: 'form-hint' },
  { name: 'form-14-7', postcode: '1012RJ', huisnummer: '14 7' },
  { name: 'form-additions', postcode: '1012RJ', huisnummer: '2' },
  { name: 'form-list', postcode: '1012RJ', huisnummer: '3' },
  { name: 'form-unknown-addition', postcode: '1012RJ', huisnummer: '2-hoog' },
  { name: 'form-wrong', postcode: '1012' },
  { name: 'form-not-found', postcode: '1012RJ', huisnummer: '99999' },
  {
    name: 'form-returning',
    huisnummer: '14 7',
    brought: { postcode: '1012RJ', straat: 'Damrak', woonplaats: 'Amsterdam' },
  },
];

/** Numbers at 1012 RJ with their toevoegingen. */
const numbers: Record<string, (string | null)[]> = {
  147: [null],
  14: [null, '7'],
  2: ['1', '2', '3'],
  3: ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H'],
};

function answer(query: URLSearchParams): object {
  const toevoegingen = numbers[query.get('huisnummer') ?? ''] ?? [];
  const address = { straat: 'Nieuwezijds Voorburgwal', woonplaats: 'Amsterdam' };
  const isFound = toevoegingen.includes(query.get('toevoeging') || null);
  return isFound ? { status: 'ok', address, toevoegingen } : { status: 'not_found', toevoegingen };
}

type PictureLook = { colorScheme: 'light' | 'dark'; locale: string; width: number };

/** Takes pictures of the lines in the README of the form, in a page that adds nothing to them. */
export async function takeFormPictures(
  browser: Browser,
  out: string,
  look: PictureLook,
  count?: number,
): Promise<void> {
  const { width, colorScheme, locale } = look;
  const page = await browser.newPage({ colorScheme, viewport: { width, height: 200 } });
  const [, lines = ''] =
    /```html\n(.*?)```/s.exec(await readFile(new URL('README.md', form), 'utf8')) ?? [];
  const script = await readFile(new URL('bag-adres-form.js', form), 'utf8');
  const head = `<!doctype html><html lang="${locale}"><meta name="viewport" content="width=device-width">
    <meta name="color-scheme" content="light dark">`;
  await page.route('**/*', async (route) => {
    const { pathname, searchParams } = new URL(route.request().url());
    if (pathname === '/adres') await route.fulfill({ json: answer(searchParams) });
    else if (pathname === '/') {
      await route.fulfill({ contentType: 'text/html; charset=utf-8', body: head + lines });
    } else {
      await route.fulfill({ contentType: 'text/javascript; charset=utf-8', body: script });
    }
  });
  for (const { name, postcode, huisnummer, brought = {} } of formPictures.slice(0, count)) {
    await page.goto('http://shop.example/');
    for (const [field, value] of Object.entries(brought)) {
      await page
        .locator(`[name=${field}]`)
        .evaluate((input, text) => Object.assign(input, { value: text }), value);
    }
    for (const [field, value] of Object.entries({ postcode, huisnummer })) {
      if (value === undefined) continue;
      await page.locator(`[name=${field}]`).fill(value);
      await page.keyboard.press('Tab');
    }
    await page.waitForTimeout(900);
    await page.locator('[name=woonplaats]').focus();
    await page.evaluate('document.activeElement.blur()');
    await page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
  }
  await page.close();
}

/** Takes the pictures of an address on a map, and of its objects in the reference. */
export async function takeExamplePictures(
  browser: Browser,
  service: HttpService,
  out: string,
): Promise<void> {
  const { baseUrl } = service;
  const { key } = await newAccount(service, { minute: 100 });
  const env = { ...process.env, BAG_ADRES_URL: baseUrl, BAG_ADRES_KEY: key };
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
  await page.close();
}
