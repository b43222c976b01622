import '../../test/support/with-objects.ts';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Command } from 'commander';
import type { Page } from 'playwright-core';
import { launchBrowser } from '../../test/support/chromium.ts';
import { startLocalPortalOf } from '../../test/support/local-portal.ts';
import { addExampleCustomers, shownAccount } from './example-customers.ts';
import { takeExamplePictures, takeFormPictures } from './example-pictures.ts';
import { takeFirstMinute } from './first-minute.ts';

type Look = {
  colorScheme: 'light' | 'dark';
  locale: 'nl-NL' | 'en-GB';
  width: number;
  forcedColors?: 'active';
};
type Person = 'Kim Klant' | 'Olaf Operator';

const account = `/accounts/${shownAccount}`;

/** Every picture of docs/portal/pages.md: its name, who sees it and where. */
const pictures = (ids: {
  key: string;
  load: string;
}): [name: string, person: Person, path: string][] => [
  ['account', 'Kim Klant', account],
  ['keys', 'Kim Klant', `${account}/keys`],
  ['key-rotate', 'Kim Klant', `${account}/keys/${ids.key}/rotate`],
  ['key-revoke', 'Kim Klant', `${account}/keys/${ids.key}/revoke`],
  ['account-usage', 'Kim Klant', `${account}/usage`],
  ['account-usage-by-month', 'Kim Klant', `${account}/usage?by=month`],
  ['account-changes', 'Kim Klant', `${account}/changes`],
  ['account-members', 'Kim Klant', `${account}/members`],
  ['account-api', 'Kim Klant', `${account}/api`],
  ['try', 'Kim Klant', `${account}/api/try`],
  ['not-found', 'Kim Klant', '/nothing/here'],
  ['operator-home', 'Olaf Operator', '/operator/home'],
  ['operator-accounts', 'Olaf Operator', '/operator/accounts'],
  ['account-manage', 'Olaf Operator', `${account}/manage`],
  ['account-suspend', 'Olaf Operator', `${account}/suspend`],
  ['operator-plans', 'Olaf Operator', '/operator/plans'],
  ['operator-plans-small', 'Olaf Operator', '/operator/plans/klein'],
  ['operator-plans-small-state', 'Olaf Operator', '/operator/plans/klein/state'],
  ['operator-sessions', 'Olaf Operator', '/operator/sessions'],
  ['operator-register', 'Olaf Operator', '/operator/register'],
  ['load', 'Olaf Operator', `/operator/register/${ids.load}`],
];

/** Pictures in a look of their own, beside those. */
const looks: [name: string, person: Person, path: string, look: Partial<Look>][] = [
  ['phone', 'Kim Klant', account, { colorScheme: 'dark', width: 390 }],
  ['account-members-768', 'Kim Klant', `${account}/members`, { width: 768 }],
  ['search-320', 'Olaf Operator', '/operator/accounts?q=linde', { width: 320 }],
  ['account-usage-forced-colours', 'Kim Klant', `${account}/usage`, { forcedColors: 'active' }],
];

await new Command('npm run screenshots --')
  .description(
    'Takes the pictures of docs/portal, of example customers in a local portal, and those of docs/examples; needs a Chromium on the PATH',
  )
  .option('--out <folder>', 'where to, instead of docs/portal and docs/examples')
  .option('--examples', 'those of docs/examples only')
  .option('--form', 'those of the form only')
  .option('--dark', 'in dark mode')
  .option('--english', 'in English')
  .option('--width <pixels>', 'of the window', Number, 1280)
  .action(take)
  .parseAsync();

type Options = {
  out?: string;
  examples?: true;
  form?: true;
  dark?: true;
  english?: true;
  width: number;
};

async function take({ out: given, examples, form: onlyForm, dark, english, width }: Options) {
  const out = given ?? 'docs/portal';
  const look: Look = {
    colorScheme: dark ? 'dark' : 'light',
    locale: english ? 'en-GB' : 'nl-NL',
    width,
  };
  await using resources = new AsyncDisposableStack();
  const browser = await launchBrowser();
  if (!browser) throw new Error('There is no Chromium on the PATH. Install it, and try again.');
  resources.defer(() => browser.close());
  await mkdir(out, { recursive: true });
  // The docs show the first one, always in one size.
  if (given) await takeFormPictures(browser, out, look);
  else {
    await takeFormPictures(browser, 'docs/examples', { ...look, width: 560 }, 1);
  }
  if (onlyForm) return;
  await takeFirstMinute(browser, given ?? 'docs/examples');
  const portal = await startLocalPortalOf(addExampleCustomers);
  resources.defer(portal.stop);
  await takeExamplePictures(browser, portal, given ?? 'docs/examples');
  if (examples) return;

  const open = new Map<string, Page>();
  const shoot = async (
    [name, person, path]: [string, Person, string],
    { width, ...mode }: Look,
  ) => {
    const tab = `${person} ${width} ${mode.forcedColors}`;
    const page =
      open.get(tab) ?? (await browser.newPage({ ...mode, viewport: { width, height: 800 } }));
    if (!open.has(tab)) await signIn(page, portal.portalUrl, person);
    open.set(tab, page);
    await page.goto(portal.portalUrl + path);
    await page.screenshot({ path: join(out, `${name}.png`), fullPage: true });
  };
  for (const picture of pictures({ key: portal.shownKey, load: portal.register.waiting })) {
    await shoot(picture, look);
  }
  for (const [name, person, path, own] of looks) {
    await shoot([name, person, path], { ...look, ...own });
  }

  const page = await browser.newPage({ locale: look.locale, viewport: { width, height: 800 } });
  await page.goto(`${portal.baseUrl}/problems/invalid-input`);
  await page.screenshot({ path: join(out, 'problem.png'), fullPage: true });
  // What a higher limit does, before it is set.
  const manage = open.get(`Olaf Operator ${width} undefined`);
  await manage?.goto(`${portal.portalUrl}${account}/manage`);
  await manage?.locator('#limit-day').fill('9000');
  await manage?.locator('form:has(#limit-day) button').click();
  await manage?.screenshot({ path: join(out, 'account-limits.png'), fullPage: true });
}

async function signIn(page: Page, url: string, person: Person): Promise<void> {
  await page.goto(url);
  await page.getByRole('link', { name: /Sign in|Inloggen/ }).click();
  await page.getByRole('link', { name: person }).click();
  await page.waitForURL(`${url}/**`);
}
