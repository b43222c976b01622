import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { findMembers } from '../../../loader/bag/extract-members.ts';
import { step } from '../../../loader/steps/stage.ts';
import type { Progress, StepContext } from '../../../loader/steps/step.ts';
import { openSource, openStorage } from '../../../loader/storage/open.ts';
import { paths, putJson } from '../../../loader/storage/storage.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { january, voorkomensOf } from './months.ts';

const folder = folderForNow('bag-adres-stage-');

it('the members of an extract are copied once, with progress in their bytes', async () => {
  const location = join(folder, 'extract.zip');
  await writeFile(location, await writeExtract(january.peildatum, voorkomensOf(january)));
  const source = await openSource(location);
  if (!source?.access) throw new Error('a file is read in ranges');
  const { members } = await findMembers(source.access, 'extract.zip');
  await source.close();
  const storage = await openStorage(join(folder, 'storage'));
  await putJson(storage, paths.load('one'), { id: 'one', members, source: source.version });
  const shown = { begun: 0, bytes: 0, advanced: 0, ended: 0 };
  const progress: Progress = {
    begin(_, { bytes = 0 }) {
      shown.begun++;
      shown.bytes += bytes;
      return {
        advance(amount) {
          shown.advanced += amount.bytes ?? 0;
        },
        end() {
          shown.ended++;
        },
      };
    },
  };
  const bytes = members.reduce((sum, { path }) => sum + (path.at(-1)?.size ?? 0), 0);
  for (let runs = 0; runs < 2; runs++) {
    const context = { storage, progress } as StepContext;
    await step.run(context, { load: 'one', owner: 'test', request: {} } as never);
    expect(shown).toEqual({ begun: 1, bytes, advanced: bytes, ended: 1 });
  }
  const copied = members.map(({ name }, index) => paths.member('one', index, name));
  for (const [index, path] of copied.entries()) {
    expect((await storage.get(path))?.length).toBe(members[index]?.path.at(-1)?.size);
  }
});
