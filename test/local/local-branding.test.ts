import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { brandingVariable, readBrandingFile } from '../../local/local-branding.ts';
import { startOptions } from '../../local/start-options.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const folder = folderForNow('branding-');

function fileOf(content: unknown): string {
  const file = join(folder, 'branding.json');
  writeFileSync(file, typeof content === 'string' ? content : JSON.stringify(content));
  return file;
}

const logo = '<svg xmlns="http://www.w3.org/2000/svg"/>';

describe('the branding of npm start', () => {
  it('has the fields of the configuration and the logo itself, for the portal and the functions alike', async () => {
    writeFileSync(join(folder, 'logo.svg'), logo);
    const branding = await readBrandingFile(
      fileOf({ name: 'Voorbeeld BV', terms: 'https://voorbeeld.nl/v', logo: 'logo.svg' }),
    );
    expect(branding).toMatchObject({
      name: 'Voorbeeld BV',
      colour: '#0b4f8a',
      logo: { type: 'image/svg+xml' },
    });
    expect(Buffer.from(branding.logo?.bytes ?? []).toString()).toBe(logo);
    expect(JSON.parse(brandingVariable(branding))).toEqual({
      name: 'Voorbeeld BV',
      colour: '#0b4f8a',
      terms: 'https://voorbeeld.nl/v',
      logo: `data:image/svg+xml;base64,${Buffer.from(logo).toString('base64')}`,
    });
  });

  it('is that of a deployment where none is given, with a link to the portal', () => {
    expect(brandingVariable({})).toBe('{}');
    expect(JSON.parse(brandingVariable({}, 'http://127.0.0.1:3001'))).toEqual({
      portalUrl: 'http://127.0.0.1:3001',
    });
  });

  it.each([
    ['no JSON', '{', 'is no JSON'],
    ['an unknown field', { nam: 'x' }, 'is not a branding'],
    ['a colour that is none', { colour: 'red' }, 'colour:'],
    ['an address without TLS', { privacy: 'http://x.nl' }, 'privacy:'],
    [
      'a logo that does not exist',
      { logo: 'none.png' },
      'none.png is not a file. Correct the path.',
    ],
    ['no file', undefined, "can't be read: ENOENT. Check the path."],
    [
      'a logo of more than 64 KB',
      { logo: 'large.png' },
      'which has 65537 bytes. Allowed: 65536 or less',
    ],
  ])(
    'is refused for %s before anything starts, with what is wrong',
    async (_, content, message) => {
      writeFileSync(join(folder, 'large.png'), new Uint8Array(65_537));
      const file = content === undefined ? join(folder, 'nothing.json') : fileOf(content);
      const printed: string[] = [];
      const write = { writeErr: (text: string) => printed.push(text) };
      await expect(startOptions(['--branding', file], {}, write)).rejects.toThrow();
      expect(printed.join('')).toContain(message);
    },
  );
});
