import { readFileSync } from 'node:fs';
import { relative, sep } from 'node:path';
import imported from '@jest/test-sequencer';

// The types are for `require`; an import gets the class itself.
const JestSequencer = imported as unknown as typeof imported.default;
type TestFile = Parameters<InstanceType<typeof JestSequencer>['sort']>[0][number];

const listIn = (file: string): readonly string[] =>
  JSON.parse(readFileSync(new URL(`./${file}`, import.meta.url), 'utf8'));

/** The test files that start most processes, the longest first. */
export const spawning = listIn('spawning.json');
/** The test files that take longest, the longest first. */
export const longest = listIn('longest.json');

/**
 * Jest's order: first the test files that took longest. Of those that it has not run before it knows only the size, so
 * in a clean clone a short file with a long test could come last and leave the other worker idle. The longest of these
 * files come first here. Before all others come the files that start many processes: each costs in proportion to the
 * memory of its worker, 10 ms of CPU at 200 MB and 30 ms at 900 MB.
 */
export default class Sequencer extends JestSequencer {
  override async sort(tests: TestFile[]): Promise<TestFile[]> {
    return (await super.sort(tests)).sort((a, b) => placeOf(a) - placeOf(b));
  }
}

function placeOf({ path, duration, context }: TestFile): number {
  const file = relative(context.config.rootDir, path).split(sep).join('/');
  const early = spawning.indexOf(file);
  if (early >= 0) return early - spawning.length;
  const place = longest.indexOf(file);
  return place < 0 || duration !== undefined ? longest.length : place;
}
