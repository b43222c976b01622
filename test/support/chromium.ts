import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Browser, chromium } from 'playwright-core';
import { installedTool } from '../../.ci/tools/installed.ts';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const playwright = installedTool('playwright-core/index.mjs');

/** The Chromium of this machine, if it has one. */
const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable);

/** Why the tests with a browser are skipped; `undefined` if they run. */
export const missingBrowser = !chromiumPath
  ? 'no Chromium on this machine'
  : playwright
    ? undefined
    : 'no Playwright: run "npm run tools"';

/** Starts the Chromium of this machine, if `missingBrowser` doesn't say why it can't. */
export async function launchBrowser(): Promise<Browser | undefined> {
  if (!chromiumPath || !playwright) return undefined;
  // The sandbox of Chromium does not run as root, as in a container, and an emulated GPU costs more
  // than none.
  const args = ['--no-sandbox', '--disable-gpu'];
  const library = (await import(pathToFileURL(playwright).href)) as { chromium: typeof chromium };
  return await library.chromium.launch({ executablePath: chromiumPath, args });
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
