import { it } from '@jest/globals';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser, missingBrowser } from './chromium.ts';
import { startForTests } from './start-for-tests.ts';
import { isFullSweep } from './sweep.ts';

/** Why the tests with a browser are skipped; `undefined` if they run. */
export const skippedBrowser = isFullSweep ? missingBrowser : 'only in a full sweep';

/** Ends the title of a test that needs a browser: says why it is skipped, if it is. */
export const because = skippedBrowser ? ` (skipped: ${skippedBrowser})` : '';

/** A test that needs a browser, which only a full sweep has. */
export const inBrowser = skippedBrowser ? it.skip : it;

/** The Chromium of this machine for the tests of a file, if it has one. */
export const browserForTests = () =>
  startForTests(async () => {
    const browser = skippedBrowser ? undefined : await launchBrowser();
    return { browser, stop: async () => browser?.close() };
  });

/** How a page is shown: on a screen, with the motion that it likes, if nothing else is said. */
export type Look = {
  viewport: { width: number; height: number };
  colorScheme: 'light' | 'dark';
  media?: 'screen' | 'print';
  reducedMotion?: 'no-preference' | 'reduce';
};

/**
 * A tab, and how to change in it what Playwright sets when it opens one, which costs as much as
 * five pages.
 */
export type Tab = {
  page: Page;
  /**
   * Changes the size and the colours of the page that is open. Playwright's own way resizes the
   * window of the browser too, which draws it again: half of the work.
   */
  show(look: Look): Promise<void>;
  /** Whether scripts run in the pages to which it goes from now on. */
  allowScripts(allowed: boolean): Promise<void>;
};

/** Opens a tab in a browser session of its own. */
export async function openTab(
  browser: Browser | undefined,
  options: BrowserContextOptions = {},
): Promise<Tab> {
  if (!browser) throw new Error('there is a browser');
  const page = await browser.newPage(options);
  // Playwright's half a minute is too short on a busy machine.
  page.setDefaultTimeout(120_000);
  const session = await page.context().newCDPSession(page);
  return {
    page,
    async show({ viewport, colorScheme, media = 'screen', reducedMotion = 'no-preference' }) {
      const features = [
        { name: 'prefers-color-scheme', value: colorScheme },
        { name: 'prefers-reduced-motion', value: reducedMotion },
      ];
      const metrics = { ...viewport, deviceScaleFactor: 1, mobile: false };
      await Promise.all([
        session.send('Emulation.setDeviceMetricsOverride', metrics),
        session.send('Emulation.setEmulatedMedia', { media, features }),
      ]);
    },
    async allowScripts(allowed) {
      await session.send('Emulation.setScriptExecutionDisabled', { value: !allowed });
    },
  };
}
