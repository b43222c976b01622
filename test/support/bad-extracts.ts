import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/**
 * What people give for an extract: what it is, how it is called for scripts, and what it is refused
 * with.
 */
export const badExtracts: [what: string, name: string, code: string, message: RegExp][] = [
  [
    'nothing there',
    'none.zip',
    'no_extract',
    /^There is no extract at \S+none\.zip\. Check the path\.$/,
  ],
  ['a folder', 'folder', 'no_extract', /folder is a folder; name the zip file of the extract\.$/],
  ['an empty file', 'empty.zip', 'no_extract', /empty\.zip is empty; download it again\.$/],
  [
    'a pipe',
    '/dev/null',
    'no_extract',
    /^\/dev\/null is not a regular file; name the zip file of the extract\.$/,
  ],
  [
    'text',
    'text.zip',
    'bad_extract',
    /^text\.zip: not a zip file; give the \.zip as the Kadaster or PDOK delivers it$/,
  ],
  [
    'a zip cut short',
    'cut.zip',
    'bad_extract',
    /^cut\.zip: a zip that is cut off or damaged; get it again/,
  ],
  [
    'a zip of something else',
    'photos.zip',
    'bad_extract',
    /^photos\.zip: is not an extract of the BAG: it holds a\.jpg and 1 more\. Use lvbag-extract-nl\.zip, or the BAGGEM/,
  ],
];

/** Makes them in the folder. */
export async function makeBadExtracts(folder: string): Promise<void> {
  await mkdir(join(folder, 'folder'));
  await writeFile(join(folder, 'empty.zip'), '');
  await writeFile(join(folder, 'text.zip'), 'not a zip');
  await writeFile(join(folder, 'cut.zip'), `PK\u0003\u0004${'x'.repeat(3_000)}`);
  const photos = new ZipFile();
  for (const name of ['a.jpg', 'b.jpg']) photos.addBuffer(Buffer.from(name), name);
  photos.end();
  await writeFile(join(folder, 'photos.zip'), await buffer(photos.outputStream));
}
