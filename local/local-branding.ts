import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type * as z from 'zod';
import { logoFault } from '../lib/config/logo.ts';
import type { branding } from '../lib/config/setting-fields.ts';

/**
 * The branding of `npm start -- --branding FILE`: the fields of `branding` in the configuration,
 * and the logo itself.
 */
export type LocalBranding = Omit<z.output<typeof branding>, 'logo'> & {
  logo?: { type: 'image/svg+xml' | 'image/png'; bytes: Uint8Array<ArrayBuffer> };
};

/**
 * The branding in a JSON file, whose logo is relative to it. @throws Error that names its faults
 */
export async function readBrandingFile(file: string): Promise<LocalBranding> {
  // Not with the rest: the schema loads zod, which no other start needs.
  const { branding } = await import('../lib/config/setting-fields.ts');
  const { success, data, error } = branding.safeParse(parse(file));
  if (!success) {
    const faults = error.issues.map(
      ({ path, message }) => `${path.join('.') || 'the file'}: ${message}`,
    );
    throw new Error(
      `${file} is not a branding: ${faults.join('; ')}. docs/configuration.md lists the fields.`,
    );
  }
  const { logo, ...rest } = data;
  if (logo === undefined) return rest;
  const fault = logoFault(logo, dirname(file));
  if (fault) throw new Error(`${file} is not a branding: ${fault}`);
  const type = logo.endsWith('.svg') ? 'image/svg+xml' : 'image/png';
  return { ...rest, logo: { type, bytes: new Uint8Array(read(resolve(dirname(file), logo))) } };
}

function parse(file: string): unknown {
  const text = read(file).toString('utf8');
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Error(`${file} is no JSON: ${error instanceof Error ? error.message : error}`);
  }
}

function read(file: string): Buffer {
  try {
    return readFileSync(file);
  } catch (error) {
    throw new Error(
      `${file} can't be read: ${(error as NodeJS.ErrnoException).code ?? error}. Check the path.`,
    );
  }
}

/**
 * The same as the variable of the functions, with the logo in it, and the portal that their pages
 * link to.
 */
export function brandingVariable(
  { logo, ...rest }: Partial<LocalBranding>,
  portalUrl?: string,
): string {
  const data = logo && `data:${logo.type};base64,${Buffer.from(logo.bytes).toString('base64')}`;
  return JSON.stringify({ ...rest, ...(data && { logo: data }), ...(portalUrl && { portalUrl }) });
}
