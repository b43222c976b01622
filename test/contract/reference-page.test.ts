import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { AxeResults, RunOptions } from 'axe-core';
import { type Browser, chromium, type Page } from 'playwright-core';
import { environment } from '../../lambdas/shared/tables.ts';
import { findChromium } from '../support/browser.ts';
import { type HttpService, startHttpService } from '../support/http-service.ts';

const executablePath = findChromium();
const because = executablePath ? '' : ' (skipped: no Chromium on this machine)';
const inBrowser = executablePath ? it : it.skip;

let service: HttpService;
let browser: Browser | undefined;

beforeAll(async () => {
  service = await startHttpService();
  // The sandbox of Chromium does not run as root, as in a container.
  browser = executablePath ? await chromium.launch({ executablePath, args: ['--no-sandbox'] }) : undefined;
});
afterAll(async () => {
  await browser?.close();
  await service.stop();
});

describe('the reference page', () => {
  it('is served with all that it needs, and with a policy that lets it load nothing from elsewhere', async () => {
    const page = await fetch(`${service.baseUrl}/docs`);
    const html = await page.text();
    const sources = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, source]) => source ?? '');
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';");
    expect(sources.filter((source) => !source.startsWith('data:'))).toEqual(['/docs/redoc.js', '/docs/start.js']);
    for (const source of sources.filter((path) => path.startsWith('/'))) {
      const script = await fetch(service.baseUrl + source);
      expect([script.status, script.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
    }
  });

  it('is at /docs only, and answers to GET only', async () => {
    expect((await service.send('/docs/')).status).toBe(404);
    expect((await service.send('/docs', { method: 'POST' })).status).toBe(405);
  });

  it('is not there where the deployment has it off, and everything else is', async () => {
    process.env[environment.referencePage] = 'off';
    try {
      for (const path of ['/docs', '/docs/start.js', '/docs/redoc.js']) {
        expect((await service.send(path)).status).toBe(404);
      }
      expect((await service.send('/v1/openapi.json')).status).toBe(200);
    } finally {
      delete process.env[environment.referencePage];
    }
  });

  describe.each([
    ['a phone', { width: 390, height: 844 }],
    ['a desktop', { width: 1280, height: 900 }],
  ])('at the width of %s', (_device, viewport) => {
    inBrowser(`shows the interface without a network, fits, and is accessible${because}`, async () => {
      const { page, requests, errors } = await open(viewport);
      const text = await page.locator('body').innerText();
      for (const shown of ['Look up one address', 'Check a key', 'X-API-Key', 'postcode', 'RateLimit-Policy']) {
        expect(text).toContain(shown);
      }
      expect(requests.filter((url) => !url.startsWith(service.baseUrl))).toEqual([]);
      expect(errors).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(viewport.width);
      expect(await violations(page)).toEqual([]);
      await page.close();
    });
  });

  inBrowser(`has no field to write in but that of the search, so it never asks for a key${because}`, async () => {
    const { page } = await open({ width: 1280, height: 900 });
    const fields = await page.locator('input, textarea, [contenteditable="true"]').all();
    expect(await Promise.all(fields.map((field) => field.getAttribute('placeholder')))).toEqual(['Search...']);
    await page.close();
  });

  inBrowser(`has pages of problems that fit on a phone and are accessible${because}`, async () => {
    if (!browser) throw new Error('there is a browser');
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    for (const code of ['invalid-input', 'quota-exceeded', 'duplicate']) {
      await page.goto(`${service.baseUrl}/problems/${code}`);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
      expect(await violations(page)).toEqual([]);
    }
    await page.close();
  });
});

/** Opens the page with everything but the local service cut off, and waits until it is rendered. */
async function open(viewport: { width: number; height: number }) {
  if (!browser) throw new Error('there is a browser');
  const page = await browser.newPage({ viewport });
  const requests: string[] = [];
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(String(error)));
  await page.route('**/*', async (route) => {
    requests.push(route.request().url());
    if (route.request().url().startsWith(service.baseUrl)) await route.continue();
    else await route.abort();
  });
  await page.goto(`${service.baseUrl}/docs`);
  await page.getByRole('heading', { name: 'Check a key' }).waitFor();
  return { page, requests, errors };
}

const axe = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const axeOptions: RunOptions = { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'] };

/** What axe-core finds wrong, by rule, with the first element of each. */
async function violations(page: Page): Promise<string[]> {
  await page.evaluate(await readFile(axe, 'utf8'));
  const results: AxeResults = await page.evaluate(`axe.run(document, ${JSON.stringify(axeOptions)})`);
  return results.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`);
}
