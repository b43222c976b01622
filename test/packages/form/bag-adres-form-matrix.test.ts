import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { formScript } from '../../../tools/form/build-form.ts';
import { because, browserForTests, inBrowser, skippedBrowser } from '../../support/browser.ts';
import { formHosts, installFrameworks } from '../../support/form-hosts.ts';
import {
  type FormCase,
  formActions,
  runCases,
  startFormServer,
} from '../../support/form-matrix.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

/** Those of the hosts: installed where there is a browser. */
const hasFrameworks = skippedBrowser === undefined && (await installFrameworks());
const whyNot = skippedBrowser ?? 'the npm registry does not answer';

const chromium = browserForTests();
const server = startForTests(() => startFormServer(formScript));

const cases = formHosts.flatMap((host) => formActions.map((action) => ({ host, action })));
const withFramework = cases.filter(({ host }) => host.needs === 'framework');
const without = cases.filter(({ host }) => host.needs === undefined);
/** A sample, in which each host and each action are: `npm run form-matrix` tries all cases. */
const someWithout = sweep(without, 1, 151);
const someWithFramework = sweep(withFramework, 1, 61);
/** The cases of a host run at once, in contexts of their own. */
const byHost = (all: FormCase[]) => [...Map.groupBy(all, ({ host }) => host.name)];

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
  inBrowser.each(byHost(someWithout))(
    `sends what its fields show, and no mark lies: %s${because}`,
    areRight,
  );
  (hasFrameworks ? it : it.skip).each(byHost(someWithFramework))(
    `sends what its fields show, and no mark lies: %s${hasFrameworks ? '' : ` (skipped: ${whyNot})`}`,
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
