import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { it } from '@jest/globals';
import { type Browser, chromium, type Page } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const executablePath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable);

/** Ends the title of a test that needs a browser: says why it is skipped, if it is. */
export const because = executablePath ? '' : ' (skipped: no Chromium on this machine)';

/** A test that needs a browser. */
export const inBrowser = executablePath ? it : it.skip;

/** Starts the Chromium of this machine, if there is one. */
export async function launchBrowser(): Promise<Browser | undefined> {
  // The sandbox of Chromium does not run as root, as in a container, and an emulated GPU costs more than none.
  const args = ['--no-sandbox', '--disable-gpu'];
  return executablePath ? await chromium.launch({ executablePath, args }) : undefined;
}

type Look = { viewport: { width: number; height: number }; colorScheme: 'light' | 'dark' };

/**
 * Changes the size and the colours of a page that is open. Playwright's own way resizes the window of the browser too,
 * which draws it again: half of the work.
 */
export async function emulation(page: Page): Promise<(look: Look) => Promise<void>> {
  const session = await page.context().newCDPSession(page);
  return async ({ viewport, colorScheme }) => {
    const features = [{ name: 'prefers-color-scheme', value: colorScheme }];
    const metrics = { ...viewport, deviceScaleFactor: 1, mobile: false };
    await Promise.all([
      session.send('Emulation.setDeviceMetricsOverride', metrics),
      session.send('Emulation.setEmulatedMedia', { media: '', features }),
    ]);
  };
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
