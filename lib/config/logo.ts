import { type Stats, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { ConfigError } from './config-error.ts';

/**
 * The page with the reference contains the logo, and the function that serves it reads the logo at
 * its start.
 */
export const mostLogoBytes = 65_536;

/** The fault of a logo's file, whose path is relative to `folder`; `undefined` if it has none. */
export function logoFault(logo: string | undefined, folder: string): string | undefined {
  if (logo === undefined) return undefined;
  const path = resolve(folder, logo);
  const found: Stats | undefined = statSync(path, { throwIfNoEntry: false });
  if (!found?.isFile()) {
    return `branding.logo is "${logo}", but ${path} is not a file. Correct the path.`;
  }
  if (found.size <= mostLogoBytes) return undefined;
  return `branding.logo is "${logo}", which has ${found.size} bytes. Allowed: ${mostLogoBytes} or less: make the picture smaller, 64 pixels high for instance.`;
}

/**
 * The operator's logo, for the bundle of a function with pages.
 * @throws ConfigError when the logo is not a file or is too large
 */
export function logoFile(logo: string | undefined): Record<string, string> {
  const fault = logoFault(logo, process.cwd());
  if (fault) throw new ConfigError([fault], 'the settings');
  return logo === undefined ? {} : { logo };
}
