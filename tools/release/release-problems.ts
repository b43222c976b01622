import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * What must be corrected before `version` can be released from this checkout, one sentence each.
 */
export function releaseProblems(root: string, version: string): string[] {
  const read = (file: string) => readFileSync(join(root, file), 'utf8');
  const problems: string[] = [];
  for (const file of ['package.json', 'packages/admin/package.json']) {
    const found = JSON.parse(read(file)).version;
    if (found !== version) problems.push(`${file} has version ${found}, not ${version}. Set it.`);
  }
  if (!read('CHANGELOG.md').includes(`\n## ${version}\n`)) {
    problems.push(
      `CHANGELOG.md has no chapter "## ${version}". Give the changes under "Unreleased" that heading.`,
    );
  }
  if (/^## Unreleased\n+(?!## )./m.test(read('CHANGELOG.md'))) {
    problems.push(
      `CHANGELOG.md has changes under "Unreleased". Move them to the chapter "## ${version}".`,
    );
  }
  for (const file of ['templates.json', 'stored.json']) {
    if (!existsSync(join(root, 'test/releases', version, file))) {
      problems.push(
        `test/releases/${version} lacks ${file}: UPDATE_RELEASE=1 npm test -- test/releases.`,
      );
    }
  }
  const git = (...args: string[]) => {
    try {
      return execFileSync('git', args, {
        cwd: root,
        encoding: 'utf8',
        stdio: ['ignore', 'pipe', 'ignore'],
      }).trim();
    } catch {
      return undefined;
    }
  };
  if (git('status', '--porcelain') !== '') {
    problems.push('The checkout has changes that are not committed, or is no git.');
  }
  if (!git('tag', '--points-at', 'HEAD')?.split('\n').includes(`v${version}`)) {
    problems.push(`HEAD has no tag v${version}: git tag v${version}.`);
  }
  return problems;
}
