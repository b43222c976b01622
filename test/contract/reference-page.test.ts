import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { faultCodes } from '../../core/contract.ts';
import { type ProblemCode, problems, problemType } from '../../core/problems.ts';
import { referenceRoute } from '../../lambdas/validate/reference-route.ts';
import { lookupRequest, programSources } from '../../packages/ui/samples.ts';
import { violations, visualRules, wcagRules } from '../support/axe.ts';
import {
  because,
  browserForTests,
  inBrowser,
  type Look,
  openTab,
  type Tab,
} from '../support/browser.ts';
import { gatewayEvent, lambdaContext } from '../support/gateway-event.ts';
import { startHttpService } from '../support/http-service.ts';
import { startForTests } from '../support/start-for-tests.ts';

const phone = { width: 390, height: 844 };
const desktop = { width: 1280, height: 900 };

const chromium = browserForTests();
const service = startForTests(startHttpService);

describe('the reference page', () => {
  it('is one document without subresources, whose policy allows only its own style and script', async () => {
    const { status, headers, body } = await service.send('/docs');
    const policy = headers['content-security-policy'] ?? '';
    expect([status, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(policy).toContain("default-src 'none';");
    expect(policy).not.toContain('unsafe');
    for (const name of ['style', 'script']) {
      const [, text = ''] = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(body) ?? [];
      expect(policy).toContain(
        `${name}-src 'sha256-${createHash('sha256').update(text).digest('base64')}'`,
      );
    }
    expect(body).not.toMatch(/src=|@import|url\(|<link(?! rel="icon" href="data:)/);
  });

  it.each([
    ['/docs', undefined, 'en', 'Quick start'],
    ['/docs', 'nl-NL,nl;q=0.9,en;q=0.8', 'nl', 'Snel beginnen'],
    ['/docs?lang=nl', 'en', 'nl', 'Snel beginnen'],
    ['/docs?lang=en', 'nl', 'en', 'Quick start'],
    ['/problems/missing?lang=nl', undefined, 'nl', 'Wat u kunt doen'],
    ['/problems/missing', 'nl', 'nl', 'Wat u kunt doen'],
  ])('%s is for Accept-Language %s in the language %s', async (path, accepted, language, text) => {
    const { headers, body } = await service.send(path, {
      headers: accepted ? { 'accept-language': accepted } : {},
    });
    expect([headers['content-language'], headers.vary]).toEqual([
      language,
      'Accept-Encoding, Accept-Language',
    ]);
    expect(body).toContain(`<html lang="${language}">`);
    expect(body).toContain(text);
  });

  it('shows only the host of the request, and only a valid host', async () => {
    expect((await service.send('/docs')).body).toContain(`&quot;${service.baseUrl}/v1/address?`);
    const route = referenceRoute(process.env);
    for (const [host, shown] of [
      ['adres.example.nl', 'https://adres.example.nl/v1/address?'],
      ['a"b<c>', 'https://api.example.nl/v1/address?'],
    ] as const) {
      const { body } = await route(
        gatewayEvent('/docs', { headers: { host } }) as never,
        lambdaContext,
      );
      expect(body).toContain(`&quot;${shown}`);
    }
  });

  it('has every parameter, error code, problem type and header of the OpenAPI document', async () => {
    const document = (await service.send('/v1/openapi.json')).json as {
      paths: Record<string, { get: { parameters?: { name: string }[] } }>;
    };
    for (const path of ['/docs?lang=en', '/docs?lang=nl']) {
      const { body } = await service.send(path);
      const named = [
        ...(document.paths['/address']?.get.parameters ?? []).map(({ name }) => name),
        ...Object.keys(document.paths).map((operation) => `/v1${operation}`),
        ...faultCodes,
        ...(Object.keys(problems) as ProblemCode[]).map(problemType),
        'RateLimit-Policy',
        'RateLimit',
        'Dataset-Date',
        'Retry-After',
        'X-Request-Id',
        'WWW-Authenticate',
        'ETag',
      ];
      expect(named.filter((name) => !body.includes(`<code>${name}</code>`))).toEqual([]);
      expect(body.indexOf('id="headers"')).toBeGreaterThan(body.indexOf('id="codes"'));
    }
  });

  it('is served only at /docs, and only for GET and HEAD', async () => {
    for (const path of ['/docs/', '/docs/start.js', '/docs.html']) {
      expect([path, (await service.send(path)).status]).toEqual([path, 404]);
    }
    const refused = await fetch(`${service.baseUrl}/docs`, { method: 'POST' });
    expect([refused.status, refused.headers.get('allow')]).toEqual([405, 'GET']);
    for (const path of ['/docs', '/v1/openapi.json', '/problems/missing']) {
      const [head, get] = await Promise.all(
        ['HEAD', 'GET'].map((method) => fetch(service.baseUrl + path, { method })),
      );
      for (const name of ['etag', 'content-type']) {
        expect(head?.headers.get(name)).toBe(get?.headers.get(name));
      }
      expect([head?.status, get?.status, await head?.text()]).toEqual([200, 200, '']);
    }
  });

  it('is where / leads a browser, while / is no path for a program', async () => {
    const open = (method: string, accept: string) =>
      fetch(`${service.baseUrl}/`, { method, headers: { accept }, redirect: 'manual' });
    for (const method of ['GET', 'HEAD']) {
      const led = await open(method, 'text/html,application/xhtml+xml,*/*;q=0.8');
      expect([led.status, led.headers.get('location'), led.headers.get('vary')]).toEqual([
        302,
        '/docs',
        'Accept',
      ]);
      expect(led.headers.get('cache-control')).toBe('no-store');
    }
    expect((await open('POST', 'text/html')).status).toBe(405);
    for (const accept of ['application/json', '*/*']) {
      expect((await open('GET', accept)).status).toBe(404);
    }
    expect((await service.send('/')).json).toMatchObject({ type: '/problems/not-found' });
  });
});

describe(`the reference page in a browser${because}`, () => {
  const lightPhone = {
    viewport: phone,
    colorScheme: 'light',
    background: 'rgb(255, 255, 255)',
  } as const;
  const darkPhone = {
    viewport: phone,
    colorScheme: 'dark',
    background: 'rgb(21, 28, 36)',
  } as const;
  const lightDesktop = { ...lightPhone, viewport: desktop };
  const darkDesktop = { ...darkPhone, viewport: desktop };

  // Each language is examined by all rules once, and in a full sweep again by those that depend on
  // size and colours.
  const languages = [
    ['Dutch', 'nl', [lightPhone, darkDesktop]],
    ['English', 'en', [lightDesktop, darkPhone]],
  ] as const;
  describe.each(languages)(
    'in %s, on a phone and a desktop, light and dark',
    (_name, language, looks) => {
      const path = `/docs?lang=${language}`;

      inBrowser(
        'shows samples whole beside their text, asks for nothing else, fits, and is accessible',
        async () => {
          const { page, show, requests, messages } = await visit(path, looks[0]);
          // Closed parts are examined too.
          await page.evaluate(
            "document.querySelectorAll('details').forEach((one) => { one.name = ''; one.open = true })",
          );
          for (const look of looks) {
            await show(look);
            const { gaps, cut } = (await page.evaluate(`({
          gaps: [...document.querySelectorAll('.block:has(> .samples)')].map((block) => {
            const [text, samples] = [...block.children].map((part) => part.getBoundingClientRect());
            return innerWidth < 960 ? samples.top - text.bottom : samples.left - text.right;
          }),
          cut: [...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.textContent),
        })`)) as { gaps: number[]; cut: string[] };
            expect(gaps.length).toBeGreaterThan(5);
            expect(gaps.filter((gap) => gap < 0 || gap >= 60)).toEqual([]);
            expect(cut).toEqual([]);
            expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(
              look.viewport.width,
            );
            expect(await page.evaluate('getComputedStyle(document.body).backgroundColor')).toBe(
              look.background,
            );
            if (look === looks[0]) expect(await violations(page, wcagRules)).toEqual([]);
            else expect(await violations(page, visualRules)).toEqual([]);
          }
          expect(requests).toEqual([service.baseUrl + path]);
          expect(messages).toEqual([]);
        },
      );
    },
  );

  inBrowser(
    'has no field but the search, which sends nothing, so it never asks for a key',
    async () => {
      const { page, requests } = await visit('/docs');
      expect(
        await page
          .locator('form, textarea, select, [contenteditable], input:not([type=radio])')
          .count(),
      ).toBe(1);
      await page.getByRole('searchbox').fill('bagadres_example');
      await page.getByRole('searchbox').press('Enter');
      expect(requests).toHaveLength(1);
    },
  );

  inBrowser('has an address for every heading, error code and problem type', async () => {
    const { page } = await visit('/docs', { again: true });
    const { lost, ids } = (await page.evaluate(`({
      lost: [...document.querySelectorAll('main h2, main h3, main h4')].filter((one) => {
        const { hash } = one.querySelector('a.anchor');
        return !document.getElementById(hash.slice(1))?.contains(one);
      }).map((one) => one.textContent),
      ids: [...document.querySelectorAll('[id]')].map(({ id }) => id),
    })`)) as { lost: string[]; ids: string[] };
    expect(lost).toEqual([]);
    expect(new Set(ids).size).toBe(ids.length);
    const named = [...Object.keys(problems), ...faultCodes].map((code) => `error-${code}`);
    expect(named.filter((id) => !ids.includes(id))).toEqual([]);
  });

  inBrowser('copies the line of a sample', async () => {
    const { page } = await visit('/docs', { again: true });
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.locator('#start button').first();
    await button.click();
    await page.getByRole('button', { name: 'Copied' }).waitFor();
    const line = `curl -H "X-API-Key: YOUR_KEY" "${service.baseUrl}/v1/address?postcode=9999SD&huisnummer=1"`;
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(line);
  });

  inBrowser('keeps the chosen language of the programs for the next visit', async () => {
    const { page } = await visit('/docs', { again: true });
    const python = page.getByRole('radio', { name: 'Python' });
    const shown = page.locator('.programs > :visible');
    await page.locator('label', { hasText: /^Python$/ }).click();
    await page.reload();
    expect(await python.isChecked()).toBe(true);
    const programs = await shown.allInnerTexts();
    expect(programs.length).toBe(await page.locator('.programs').count());
    expect(programs.filter((text) => !text.includes('import json'))).toEqual([]);
    await page.evaluate('localStorage.clear()');
    await page.reload();
    expect(await python.isChecked()).toBe(false);
    expect(await shown.first().innerText()).toContain('curl');
  });

  inBrowser('marks the section that is being read in its contents', async () => {
    const { page } = await visit('/docs', { again: true, reducedMotion: 'reduce' });
    const current = page.locator('nav.contents a[aria-current]');
    await page.locator('nav.contents a', { hasText: 'Errors' }).click();
    await page.locator('nav.contents a[href="#errors"][aria-current="location"]').waitFor();
    await page.evaluate('scrollTo(0, document.documentElement.scrollHeight)');
    await page.locator('nav.contents a[href="#changes"][aria-current="location"]').waitFor();
    expect(await current.count()).toBe(1);
    await page.evaluate('scrollTo(0, 0)');
    await page.locator('nav.contents a[href="#start"][aria-current="location"]').waitFor();
    expect(await current.count()).toBe(1);
  });

  inBrowser(
    'finds headings, codes and headers by any word, and goes there with Enter',
    async () => {
      const { page } = await visit('/docs?lang=nl');
      const field = page.getByRole('searchbox', { name: 'Zoek op deze pagina' });
      for (const [words, found] of [
        ['foutcode', 'Fouten'],
        ['geblokkeerd', '/problems/account-inactive'],
        ['limiet quotum', 'Quotum en opnieuw proberen'],
      ] as const) {
        await field.fill(words);
        expect(await page.locator('search li').allInnerTexts()).toContain(found);
      }
      for (const [wanted, hash] of [
        ['huisnummer-range', '#error-huisnummer-range'],
        ['retry-after', '#header-retry-after'],
        ['opgeschort', '#error-account-inactive'],
      ] as const) {
        await field.fill(wanted);
        await field.press('Enter');
        await page.waitForFunction(`location.hash === '${hash}'`);
        expect(await page.locator('search ul').isVisible()).toBe(false);
      }
      await field.fill('opschortEN');
      expect(await page.locator('search li').allInnerTexts()).toEqual(['Niets gevonden']);
    },
  );

  inBrowser('stays at its place in the other language', async () => {
    const { page } = await visit('/docs?lang=en#error-missing');
    await page.getByRole('link', { name: 'Nederlands' }).click();
    await page.waitForURL('**/docs?lang=nl#error-missing');
    await page.locator('nav.contents a[href="#keys"]').click();
    await page.getByRole('link', { name: 'English' }).click();
    await page.waitForURL('**/docs?lang=en#keys');
  });

  inBrowser(
    'shows every program in one language at a time, each whole, also in print, dark on white',
    async () => {
      const { page, show } = await visit('/docs');
      const groups = await page.locator('.programs').count();
      for (const viewport of [phone, desktop]) {
        await show({ viewport, colorScheme: 'light' });
        for (const { label } of programSources(lookupRequest(''))) {
          await page.locator('.tabs').getByText(label, { exact: true }).first().click();
          const shown = page.locator('.programs > :visible figcaption');
          const captions = (await shown.allInnerTexts()).map((text) => text.split('\n')[0]);
          expect(captions).toEqual(Array.from({ length: groups }, () => label));
          const { highest, hidden } = (await page.evaluate(`(() => {
          const shown = [...document.querySelectorAll('.programs pre')].filter((one) => one.offsetParent);
          return {
            highest: Math.max(...shown.map((one) => one.offsetHeight)),
            hidden: Math.max(...shown.map((one) => one.scrollWidth - one.clientWidth)),
          };
        })()`)) as { highest: number; hidden: number };
          expect([label, highest < 2 * viewport.height, hidden]).toEqual([label, true, 0]);
        }
        const cut =
          "[...document.querySelectorAll('pre')].filter((one) => one.scrollWidth > one.clientWidth)";
        if (viewport === phone) {
          expect(await page.evaluate(`${cut}.map((one) => one.textContent)`)).toEqual([]);
        }
        await show({ viewport, colorScheme: 'dark', media: 'print' });
        expect(await page.locator('.programs > :visible').count()).toBe(groups);
        for (const useless of ['search', 'nav', 'button', '.tabs label', '.links a']) {
          expect([useless, await page.locator(useless).filter({ visible: true }).count()]).toEqual([
            useless,
            0,
          ]);
        }
        const light = `[...document.querySelectorAll('pre, pre *, figcaption')].filter((one) => getComputedStyle(one).color !== 'rgb(0, 0, 0)')`;
        expect(await page.evaluate(`${light}.map((one) => one.textContent)`)).toEqual([]);
        const folded = page.locator('.members details:not([open]) .members');
        expect(await folded.filter({ visible: true }).count()).toBe(await folded.count());
      }
    },
  );

  inBrowser(
    "has links in the operator's colour that can be read, whatever the colour",
    async () => {
      const { page, show } = await visit('/docs');
      for (const colorScheme of ['light', 'dark'] as const) {
        await show({ viewport: desktop, colorScheme });
        const links = (await page.evaluate(linkColours)) as {
          brand: string;
          contrast: number;
          hue: string;
        }[];
        expect(links.filter(({ contrast }) => contrast < 4.5)).toEqual([]);
        expect(links.map(({ hue }) => hue)).toEqual([
          'red',
          'green',
          'blue',
          'any',
          'any',
          'red',
          'red',
          'blue',
          'red',
        ]);
      }
    },
  );

  inBrowser('is complete without JavaScript, in the language of the browser', async () => {
    const { page } = await visit('/docs', { scripts: false, language: 'nl-NL' });
    const text = await page.locator('body').innerText();
    for (const shown of [
      'Eén adres opzoeken',
      'Teststraat',
      'huisnummer-range',
      'RateLimit-Policy',
    ]) {
      expect(text).toContain(shown);
    }
    const town = page.locator('.members').getByText("'s-Gravenhage").first();
    expect(await town.isVisible()).toBe(false);
    await page
      .locator('summary', { hasText: /^Inhoud van address$/ })
      .first()
      .click();
    expect(await town.isVisible()).toBe(true);
    await page.locator('label', { hasText: /^Go$/ }).click();
    expect(await page.locator('#batch .programs').innerText()).toContain('package main');
    await page.getByRole('link', { name: 'English' }).click();
    await page.getByRole('heading', { name: 'Look up one address' }).waitFor();
    expect(await page.getByRole('button').count()).toBe(0);
  });

  inBrowser(
    'has pages of problems that fit on a phone, ask for nothing and are accessible',
    async () => {
      const paths = [
        '/problems/invalid-input',
        '/problems/quota-exceeded?lang=nl',
        '/problems/duplicate',
      ];
      for (const path of paths) {
        const { page, requests, messages } = await visit(path, { viewport: phone });
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(390);
        expect(await violations(page, wcagRules)).toEqual([]);
        expect(requests).toEqual([service.baseUrl + path]);
        expect(messages).toEqual([]);
      }
    },
  );
});

/**
 * A link in each colour of an operator: its least contrast with a background, and its strongest
 * channel.
 */
const linkColours = `(() => {
  const context = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const channelsOf = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const luminanceOf = (colour) => {
    const [red, green, blue] = channelsOf(colour).map((one) => (one <= 10 ? one / 3294.6 : ((one / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const root = document.documentElement;
  const link = document.querySelector('main .lead a');
  const grounds = ['--background', '--tint'].map((name) => {
    link.style.backgroundColor = 'var(' + name + ')';
    return luminanceOf(getComputedStyle(link).backgroundColor);
  });
  const brands = ['#ff0000', '#00ff00', '#0000ff', '#000000', '#ffffff', '#ff00aa', '#ffee00', '#0b4f8a', '#7a3b00'];
  return brands.map((brand) => {
    root.style.setProperty('--brand', brand);
    const colour = getComputedStyle(link).color;
    const channels = channelsOf(colour);
    const [low, ...rest] = channels.toSorted((one, other) => one - other);
    const hue = rest.at(-1) - low < 12 ? 'any' : ['red', 'green', 'blue'][channels.indexOf(rest.at(-1))];
    const contrasts = grounds.map((ground) => {
      const [dark, light] = [ground, luminanceOf(colour)].toSorted((one, other) => one - other);
      return (light + 0.05) / (dark + 0.05);
    });
    return { brand, hue, contrast: Math.min(...contrasts) };
  });
})()`;

/** `again`: in the document of the test before, if that is the same page. */
type Visit = Partial<Look> & { scripts?: boolean; language?: string; again?: boolean };

let shared: Promise<Tab> | undefined;

/** A tab with everything but the local service cut off. */
async function openLocalTab(): Promise<Tab> {
  const tab = await openTab(chromium.browser);
  await tab.page.route('**/*', async (route) => {
    if (route.request().url().startsWith(service.baseUrl)) await route.continue();
    else {
      await route.abort();
    }
  });
  return tab;
}

/**
 * Goes to a page of the service in the tab that the tests share, by default on a light desktop with
 * JavaScript, and collects what the page requests and reports.
 */
async function visit(
  path: string,
  { scripts = true, language = 'en-US', again = false, ...look }: Visit = {},
) {
  shared ??= openLocalTab();
  const { page, show, allowScripts } = await shared;
  const requests: string[] = [];
  const messages: string[] = [];
  for (const event of ['pageerror', 'console', 'request']) page.removeAllListeners(event);
  page.on('pageerror', (error) => messages.push(String(error)));
  page.on('console', (message) => messages.push(message.text()));
  page.on(
    'request',
    (request) => request.url().startsWith('data:') || requests.push(request.url()),
  );
  await show({ viewport: desktop, colorScheme: 'light', ...look });
  await allowScripts(scripts);
  await page.setExtraHTTPHeaders({ 'Accept-Language': language });
  if (!again || page.url() !== service.baseUrl + path) await page.goto(service.baseUrl + path);
  return { page, show, requests, messages };
}
