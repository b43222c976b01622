import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

/** The Chromium of this machine, if there is one. */
export const chromiumPath = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable);

/** Starts the Chromium of this machine, if there is one. */
export async function launchBrowser(): Promise<Browser | undefined> {
  // The sandbox of Chromium does not run as root, as in a container, and an emulated GPU costs more than none.
  const args = ['--no-sandbox', '--disable-gpu'];
  return chromiumPath ? await chromium.launch({ executablePath: chromiumPath, args }) : undefined;
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
