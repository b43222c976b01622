import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/config/config-error.ts';
import { logoFault, logoFile, mostLogoBytes } from '../../../lib/config/logo.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const folder = folderForNow('logo-');

const written = (bytes: number) => {
  writeFileSync(join(folder, 'logo.png'), new Uint8Array(bytes));
  return 'logo.png';
};

describe('the file of a logo', () => {
  it('may have 64 KB, and one byte more is a fault that says what is allowed', () => {
    expect(logoFault(written(mostLogoBytes), folder)).toBeUndefined();
    expect(logoFault(written(mostLogoBytes + 1), folder)).toMatch(
      /^branding\.logo is "logo\.png", which has 65537 bytes\. Allowed: 65536 or less: make the picture smaller/,
    );
  });

  it.each(['none.svg', '.'])('must be a file, which %j is not', (logo) => {
    expect(logoFault(logo, folder)).toMatch(/is not a file\. Correct the path\.$/);
  });

  it('goes into a bundle as a file of the operator, so that an installed package has it too', () => {
    expect(logoFile(undefined)).toEqual({});
    const logo = join(folder, written(1));
    expect(logoFile(logo)).toEqual({ logo });
  });

  it('stops a synthesis when it is missing', () => {
    expect(() => logoFile('none.svg')).toThrow(ConfigError);
  });
});
