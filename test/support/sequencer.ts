import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import imported from '@jest/test-sequencer';

// The types are for `require`; an import gets the class itself.
const JestSequencer = imported as unknown as typeof imported.default;
type TestFile = Parameters<InstanceType<typeof JestSequencer>['sort']>[0][number];

/** The test files that take longest, the longest first. */
export const longest: readonly string[] = JSON.parse(
  readFileSync(new URL('./longest.json', import.meta.url), 'utf8'),
);

/**
 * Jest's order: first the test files that took longest. Of those that it has not run before it
 * knows only the size, so in a clean clone a short file with a long test could come last and leave
 * the other worker idle. The longest of these files come first here.
 */
export default class Sequencer extends JestSequencer {
  override async sort(tests: TestFile[]): Promise<TestFile[]> {
    return (await super.sort(tests)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ path, duration, context }: TestFile): number {
  const place = longest.indexOf(relative(context.config.rootDir, path).split(sep).join('/'));
  return place < 0 || duration !== undefined ? longest.length : place;
}
