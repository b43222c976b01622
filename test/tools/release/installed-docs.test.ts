import { describe, expect, it } from '@jest/globals';
import { deadLinks, withoutDeadLinks } from '../../../tools/release/installed-docs.ts';

describe('the docs of the package', () => {
  const has = (file: string) => ['docs/api.md', 'SECURITY.md'].includes(file);
  const page = 'docs/deploy.md';

  it('keep links to what is in the package and elsewhere, and the words of all others', () => {
    const kept =
      '[api](api.md#get), [security](../SECURITY.md), [web](https://example.nl/a), [here](#upgrade)';
    const text = `${kept}, [\`the tests\`](../test/a.test.ts) and [the release](../CONTRIBUTING.md#release).`;
    expect(deadLinks(page, text, has)).toEqual([
      `${page}: ../test/a.test.ts`,
      `${page}: ../CONTRIBUTING.md`,
    ]);
    expect(withoutDeadLinks(page, text, has)).toBe(`${kept}, \`the tests\` and the release.`);
    expect(deadLinks(page, withoutDeadLinks(page, text, has), has)).toEqual([]);
  });
});
