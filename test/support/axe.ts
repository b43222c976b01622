import { readFileSync } from 'node:fs';
import type { RunOptions } from 'axe-core';
import type { Page } from 'playwright-core';
import { toolPath } from '../../.ci/tools/installed.ts';

/** All rules of WCAG 2.2 AA, and the best practices of axe-core. */
export const allRules: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'],
};

/** All rules of WCAG 2.2 AA. */
export const wcagRules: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
};

/**
 * The rules whose outcome depends on the size and the colours of what is shown; the others depend
 * on the elements and the style sheet alone.
 */
export const visualRules: RunOptions = {
  runOnly: {
    type: 'rule',
    values: ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'],
  },
};

/**
 * What axe-core finds wrong in the document that is open, by rule, with the first element of each.
 * Loads axe-core there, whatever the policy of the document.
 */
export async function violations(page: Page, rules: RunOptions): Promise<string[]> {
  if (await page.evaluate('!window.axe')) {
    await page.evaluate(readFileSync(await toolPath('axe-core/axe.min.js'), 'utf8'));
  }
  const options: RunOptions = { ...rules, resultTypes: ['violations'] };
  return await page.evaluate(`axe
    .run(document, ${JSON.stringify(options)})
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0]?.html))`);
}
