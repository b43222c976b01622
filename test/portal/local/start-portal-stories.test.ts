import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { addExampleCustomers, shownAccount } from '../../../tools/screenshots/example-customers.ts';
import { because, browserForTests, inBrowser } from '../../support/browser.ts';
import { startLocalPortalOf } from '../../support/local-portal.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const chromium = browserForTests();
const portal = startForTests(() => startLocalPortalOf(addExampleCustomers));

beforeAll(async () => {
  for (const account of [shownAccount, 'bakkerbart']) {
    await portal.admin.members.add({ account, person: 'other@customer.example', role: 'admin' });
  }
});

const kim = 'kim@customer.example';

/** Makes Kim a member of this account only. */
async function kimIn(account: string, role: 'admin' | 'finance'): Promise<void> {
  for (const { account: other } of await portal.admin.members.accountsOf([kim])) {
    await portal.admin.members.remove({ account: other, person: kim });
  }
  await portal.admin.members.add({ account, person: kim, role });
}

/** What a person sees after signing in, and how they click: it is counted. */
async function signIn(person: 'Kim Klant' | 'Olaf Operator') {
  const { browser } = chromium;
  if (!browser) throw new Error('there is a browser');
  const page = await browser.newPage({ locale: 'en-GB' });
  await page.goto(portal.portalUrl);
  await page.getByRole('link', { name: 'Sign in' }).click();
  await page.getByRole('link', { name: person }).click();
  await page.waitForURL(`${portal.portalUrl}/**`);
  let clicks = 0;
  const click = async (locator: Locator) => {
    clicks++;
    await locator.click();
  };
  return {
    page,
    link: (name: string) => click(page.getByRole('link', { name }).first()),
    button: (name: string) => click(page.getByRole('button', { name })),
    check: (box: Locator) => click(box),
    clicks: () => clicks,
  };
}

/** What the documentation promises of a story. */
function promised(story: string): number {
  const [, clicks] =
    new RegExp(`\\| ${story}[^|]*\\| (\\d+) \\|`).exec(readFileSync('docs/portal.md', 'utf8')) ??
    [];
  return Number(clicks);
}

async function lookUp(page: Page): Promise<number> {
  const url = `${portal.baseUrl}/v1/address?postcode=9999SD&huisnummer=1`;
  return (await fetch(url, { headers: { 'X-API-Key': await page.locator('#key').innerText() } }))
    .status;
}

describe('in as many clicks as the documentation says', () => {
  inBrowser(
    `a developer makes the first key of an account and looks up an address with it${because}`,
    async () => {
      await portal.admin.accounts.create({ id: 'first', plan: 'klein' });
      await portal.admin.members.add({
        account: 'first',
        person: 'other@customer.example',
        role: 'admin',
      });
      await kimIn('first', 'admin');
      const { page, button, clicks } = await signIn('Kim Klant');
      await page.getByLabel('Label').fill('webshop');
      await button('Create a key');
      expect(await lookUp(page)).toBe(200);
      expect(clicks()).toBe(promised('The first key'));
    },
  );

  inBrowser(`an administrator finds the key that leaked, and replaces it${because}`, async () => {
    await kimIn(shownAccount, 'admin');
    const { key, keyId } = await portal.admin.keys.create({
      account: shownAccount,
      label: 'leaked',
    });
    const { page, link, button, clicks } = await signIn('Kim Klant');
    await link('Keys');
    await page.getByLabel('The key, or its id').fill(`GET / HTTP/1.1 X-API-Key: ${key}`);
    await button('Find the key');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Key leaked');
    await button('Create the new key');
    expect(await lookUp(page)).toBe(200);
    const [old] = (await portal.admin.keys.list(shownAccount)).filter((one) => one.keyId === keyId);
    const minutes = (Date.parse(old?.expires ?? '') - Date.now()) / 60_000;
    expect([minutes > 5, minutes <= 10]).toEqual([true, true]);
    expect(clicks()).toBe(promised('A key leaked'));
  });

  inBrowser(`somebody in finance downloads the statement of last month${because}`, async () => {
    await kimIn(shownAccount, 'finance');
    const { page, link, clicks } = await signIn('Kim Klant');
    await link('Statements');
    const [download] = await Promise.all([page.waitForEvent('download'), link('Download as CSV')]);
    const [, month] =
      new RegExp(`^${shownAccount}-(\\d{4}-\\d\\d)\\.csv$`).exec(download.suggestedFilename()) ??
      [];
    expect(readFileSync(await download.path(), 'utf8')).toContain(
      `${shownAccount},standaard,${month},`,
    );
    expect(clicks()).toBe(promised('The invoice'));
  });

  inBrowser(`an administrator hands an account over and leaves it${because}`, async () => {
    await kimIn('bakkerbart', 'admin');
    const { page, link, button, clicks } = await signIn('Kim Klant');
    await link('Members');
    await page.getByLabel('E-mail address').fill('successor@customer.example');
    await page.locator('#role').selectOption('admin');
    await button('Add a member');
    await link('Leave');
    await button('Yes, leave this account');
    const roleOf = (person: string) => portal.admin.members.roleIn('bakkerbart', [person]);
    expect([await roleOf('successor@customer.example'), await roleOf(kim)]).toEqual([
      'admin',
      null,
    ]);
    expect(clicks()).toBe(promised('Handing over'));
  });

  inBrowser(`an operator sees why a load waits, and approves it${because}`, async () => {
    const { page, link, button, clicks } = await signIn('Olaf Operator');
    expect(await page.getByText('It would remove many addresses').count()).toBe(1);
    await link('Review');
    await link('Approve this load');
    await button('Yes, approve this load');
    expect(await page.getByRole('status').innerText()).toContain('The load is approved');
    expect(clicks()).toBe(promised('A load waits'));
  });

  inBrowser(`a developer sees on which day and why requests were refused${because}`, async () => {
    await kimIn(shownAccount, 'admin');
    const { page, clicks } = await signIn('Kim Klant');
    expect(await page.locator('.note').innerText()).toMatch(
      /^Refused by the limit per minute on \d+ \w+ \d{4}: at least [\d,]+ requests\./,
    );
    expect(clicks()).toBe(promised('Why requests were refused'));
  });

  inBrowser(`an administrator replaces several keys at once${because}`, async () => {
    await portal.admin.accounts.create({ id: 'several', plan: 'klein' });
    await portal.admin.members.add({
      account: 'several',
      person: 'other@customer.example',
      role: 'admin',
    });
    for (const label of ['webshop', 'kassa']) {
      await portal.admin.keys.create({ account: 'several', label });
    }
    await kimIn('several', 'admin');
    const { page, link, button, check, clicks } = await signIn('Kim Klant');
    await link('Keys');
    for (const box of await page.getByRole('checkbox').all()) await check(box);
    await button('Replace the chosen keys');
    await button('Replace 2 keys');
    expect(await page.getByText(/bagadres_several_/).count()).toBe(2);
    expect(clicks()).toBe(promised('Several keys'));
  });

  inBrowser(`an administrator removes somebody who has left${because}`, async () => {
    await kimIn(shownAccount, 'admin');
    await portal.admin.members.add({
      account: shownAccount,
      person: 'gone@customer.example',
      role: 'admin',
    });
    const { link, button, clicks } = await signIn('Kim Klant');
    await link('Members');
    await link('Change: gone@customer.example');
    await button('Yes, remove this member');
    expect(await portal.admin.members.roleIn(shownAccount, ['gone@customer.example'])).toBe(null);
    expect(clicks()).toBe(promised('Somebody has left'));
  });

  inBrowser(
    `an operator finds a customer, sees what a higher limit does, and sets it${because}`,
    async () => {
      const { page, link, button, clicks } = await signIn('Olaf Operator');
      await link('Accounts');
      await page.getByLabel('Search by id, name, contact, note or member').fill('noord fietsen');
      await button('Search');
      await link('Fietsen Noord-Nederland');
      await link('Manage');
      await page.getByLabel('Limit per day').fill('9000');
      await button('Continue');
      expect(await page.getByText(/of 5,000 becomes .* of 9,000/).count()).toBe(1);
      await button('Yes, change these limits');
      expect(await page.getByRole('status').innerText()).toContain('Per day: 5,000 becomes 9,000');
      expect(clicks()).toBe(promised('A higher limit'));
    },
  );

  inBrowser(`an operator suspends a customer, seeing whose requests stop${because}`, async () => {
    const { page, link, button, clicks } = await signIn('Olaf Operator');
    await link('Accounts');
    await link('Zonnedak Installaties');
    await link('Manage');
    await link('Suspend this account');
    for (const fact of ['Active keys', 'Lookups today']) {
      expect(await page.getByText(fact).count()).toBe(1);
    }
    await button('Suspend this account');
    expect((await portal.admin.accounts.show('zonnedak')).state).toBe('suspended');
    expect(clicks()).toBe(promised('A customer who does not pay'));
  });
});
