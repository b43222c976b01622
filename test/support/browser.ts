import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { it } from '@jest/globals';
import { type Browser, chromium } from 'playwright-core';

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

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
