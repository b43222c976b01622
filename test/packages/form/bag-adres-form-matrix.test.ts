import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { formScript } from '../../../tools/form/build-form.ts';
import { because as browserBecause, browserForTests } from '../../support/browser.ts';
import { missingBrowser } from '../../support/chromium.ts';
import { formHosts, installFrameworks } from '../../support/form-hosts.ts';
import {
  type FormCase,
  formActions,
  runCases,
  startFormServer,
} from '../../support/form-matrix.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

/** The frameworks are installed when a full sweep needs them. */
const hasFrameworks = isFullSweep && missingBrowser === undefined && (await installFrameworks());
const why = isFullSweep ? 'the npm registry does not answer' : 'only in a full sweep';

const chromium = browserForTests();
const server = startForTests(() => startFormServer(formScript));

const cases = formHosts.flatMap((host) => formActions.map((action) => ({ host, action })));
const withFramework = cases.filter(({ host }) => host.needs === 'framework');
const without = cases.filter(({ host }) => host.needs === undefined);
/** A sample, in which each host and each action are: `npm run form-matrix` tries all cases. */
const someWithout = sweep(without, 2, 151);
const someWithFramework = sweep(withFramework, 1, 61);
/** The cases of a host run at once, in contexts of their own. */
const byHost = (all: FormCase[]) => [...Map.groupBy(all, ({ host }) => host.name)];
const runs = (isHere: boolean) => (isHere && missingBrowser === undefined ? it : it.skip);

async function areRight(_: string, all: FormCase[]): Promise<void> {
  const { browser } = chromium;
  if (!browser) throw new Error('there is a browser');
  const wrong: string[] = [];
  await runCases(browser, server, all, ({ action }, why) => {
    if (why) wrong.push(`${action.name}: ${why}`);
  });
  expect(wrong).toEqual([]);
}

describe('a page of any kind', () => {
  runs(true).each(byHost(someWithout))(
    `sends what its fields show, and no mark lies: %s${browserBecause}`,
    areRight,
  );
  runs(hasFrameworks).each(byHost(someWithFramework))(
    `sends what its fields show, and no mark lies: %s${hasFrameworks ? browserBecause : ` (skipped: ${why})`}`,
    areRight,
  );
});

describe('the script of the form element', () => {
  const shipped = new URL('../../../packages/form/bag-adres-form.js', import.meta.url);

  it('is made of its sources: "npm run form" writes it', async () => {
    expect(readFileSync(shipped, 'utf8')).toBe(await formScript());
  });

  it('can be imported on a server, twice', async () => {
    for (const query of ['?first', '?second']) await import(`${shipped}${query}`);
    expect('customElements' in globalThis).toBe(false);
  });
});
