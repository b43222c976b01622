import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { releaseProblems } from '../../../tools/release/release-problems.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const complete: Record<string, string> = {
  'package.json': '{"version":"1.2.3"}',
  'packages/admin/package.json': '{"version":"1.2.3"}',
  'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n## 1.2.3\n\n- A change.\n',
  'test/releases/1.2.3/templates.json': '{}',
  'test/releases/1.2.3/stored.json': '{}',
};

const folders = folderForNow('release-');
let count = 0;

/** What is said of a checkout with these files, without what git says. */
function problemsOf(changes: Record<string, string | undefined>): string[] {
  const folder = join(folders, String(++count));
  for (const [file, text] of Object.entries({ ...complete, ...changes })) {
    if (text === undefined) continue;
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), text);
  }
  return releaseProblems(folder, '1.2.3').filter((problem) => !/git/.test(problem));
}

describe('a release', () => {
  it.each([
    ['an empty chapter "Unreleased"', complete['CHANGELOG.md']],
    ['no chapter "Unreleased"', '# Changelog\n\n## 1.2.3\n\n- A change.\n'],
  ])('is complete with %s', (_, changelog) => {
    expect(problemsOf({ 'CHANGELOG.md': changelog })).toEqual([]);
  });

  it.each<[string, Record<string, string | undefined>, RegExp]>([
    [
      'another version',
      { 'package.json': '{"version":"1.2.2"}' },
      /^package.json has version 1.2.2, not 1.2.3/,
    ],
    [
      'no chapter of the changelog',
      { 'CHANGELOG.md': '# Changelog\n' },
      /has no chapter "## 1.2.3"/,
    ],
    [
      'changes that no chapter of a version has',
      { 'CHANGELOG.md': '# Changelog\n\n## Unreleased\n\n- Another.\n\n## 1.2.3\n\n- A change.\n' },
      /has changes under "Unreleased"/,
    ],
    [
      'no templates to compare the next one with',
      { 'test/releases/1.2.3/templates.json': undefined },
      /templates.json/,
    ],
    [
      'nothing stored for the next one to read',
      { 'test/releases/1.2.3/stored.json': undefined },
      /stored.json/,
    ],
  ])('is refused with %s', (_, changes, problem) => {
    expect(problemsOf(changes)).toEqual([expect.stringMatching(problem)]);
  });
});
