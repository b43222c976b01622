import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { newAccount } from '../../support/address-service.ts';
import { violations, wcagRules } from '../../support/axe.ts';
import {
  because,
  browserForTests,
  inBrowser,
  inBrowserSweep,
  openTab,
  type Tab,
} from '../../support/browser.ts';
import { startHttpService } from '../../support/http-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep, sweep } from '../../support/sweep.ts';

const folder = fileURLToPath(new URL('../../../docs/examples/form/', import.meta.url));

const chromium = browserForTests();
const service = startForTests(startHttpService);
let form: Form;
/**
 * The same form while the service can't be reached, and with a key whose quota is used up: in a
 * full sweep.
 */
let alone: Form | undefined;
let spent: Form | undefined;

beforeAll(async () => {
  const { baseUrl } = service;
  const { key } = await newAccount(service, { minute: 1000 });
  form = await startForm(baseUrl, key);
  if (!isFullSweep) return;
  alone = await startForm('http://127.0.0.1:1', key);
  spent = await startForm(baseUrl, (await newAccount(service, { minute: 0 })).key);
});
afterAll(() => {
  for (const started of [form, alone, spent]) started?.server.kill();
});

type Form = { url: string; server: ChildProcess };

/** The server of the example, as its README says to start it. */
async function startForm(baseUrl: string, key: string): Promise<Form> {
  const env = { ...process.env, BAG_ADRES_URL: baseUrl, BAG_ADRES_KEY: key, PORT: '0' };
  const server = spawn(process.execPath, ['server.ts'], {
    cwd: folder,
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  const [line] = await once(server.stdout, 'data');
  return { url: String(line).trim(), server };
}

let shared: Promise<Tab> | undefined;

/**
 * Goes to `url` in the tab that the tests share: a tab of its own for each is most of their time.
 */
async function open(url = form.url, { scripts = true } = {}): Promise<Page> {
  shared ??= openTab(chromium.browser, { viewport: { width: 390, height: 844 } });
  const { page, allowScripts } = await shared;
  await page.unrouteAll({ behavior: 'ignoreErrors' });
  await allowScripts(scripts);
  await page.goto(url);
  return page;
}

type Test = (page: Page) => Promise<void>;

/** A test on the page of the form; the other in a full sweep only. */
const onPage = (title: string, test: Test) => inBrowser(title, async () => test(await open()));
const onPageSweep = (title: string, test: Test) =>
  inBrowserSweep(title, async () => test(await open()));

/** Types a number and leaves the field, so that the form asks at once. */
async function type(
  page: Page,
  postcode: string,
  huisnummer: string,
  toevoeging?: string,
): Promise<void> {
  await page.getByLabel('Postcode').fill(postcode);
  await number(page).fill(huisnummer);
  if (toevoeging !== undefined) await addition(page).fill(toevoeging);
  await page.keyboard.press('Tab');
}

async function press(page: Page, keys: string): Promise<void> {
  for (const key of keys.split(' ')) await page.keyboard.press(key);
}

/** Types a street and a town where there are none, and sends the form, by keys only. */
async function order(page: Page, shown: string): Promise<void> {
  for (const [field, name] of [
    [street(page), 'Damrak'],
    [town(page), 'Weesp'],
  ] as const) {
    await field.focus();
    if (!(await field.inputValue())) await page.keyboard.type(name);
  }
  await page.keyboard.press('Enter');
  await page.getByText(`We leveren op: ${shown}`).waitFor();
}

const street = (page: Page) => page.getByRole('textbox', { name: 'Straat' });
const town = (page: Page) => page.getByLabel('Woonplaats');
const number = (page: Page) => page.getByRole('textbox', { name: 'Huisnummer' });
const addition = (page: Page) => page.locator('input').and(page.getByLabel('Toevoeging'));
/** The list of the toevoeging is open. */
const options = (page: Page) => page.getByRole('option');
const message = (page: Page) => page.getByRole('status');
const says = (page: Page, text: string) => message(page).getByText(text).waitFor();
const isValid = (page: Page) => page.evaluate('document.forms[0].checkValidity()');
const focused = (page: Page) => page.evaluate('document.activeElement.id');

/** Waits without a script of its own, which the policy of the page forbids. */
async function hasValue(field: Locator, value: string): Promise<void> {
  for (let tries = 0; tries < 200 && (await field.inputValue()) !== value; tries++) await sleep(25);
  expect(await field.inputValue()).toBe(value);
}

/** Answers every lookup of a page, at once or when somebody says so. */
async function answerWith(
  page: Page,
  body: unknown,
  when: Promise<unknown> = Promise.resolve(),
): Promise<void> {
  await page.route('**/adres?*', async (route) => {
    await when;
    await route.fulfill({ json: body }).catch(() => undefined);
  });
}

const script = '<script type="module" src="/bag-adres-form.js"></script>';
const serve = (page: Page, path: string, body: string, headers = {}) =>
  page.route(`**/${path}`, (route) => route.fulfill({ contentType: 'text/html', headers, body }));

/**
 * Fills the fields in one go, as a browser does with an address that it keeps: there is no way to
 * make it do so.
 */
const autofill = (page: Page, values: Record<string, string>) =>
  page.evaluate(`for (const [name, value] of Object.entries(${JSON.stringify(values)})) {
    const field = document.getElementById(name);
    field.value = value;
    for (const type of ['input', 'change']) field.dispatchEvent(new Event(type, { bubbles: true }));
  }`);

/** Puts the element into a fieldset. */
const inFieldset = (page: Page) =>
  page.evaluate(`{
    const fieldset = document.createElement('fieldset');
    document.forms[0].append(fieldset);
    fieldset.append(document.querySelector('bag-adres-form'));
  }`);
const disable = (page: Page, disabled: boolean) =>
  page.evaluate(`document.querySelector('fieldset').disabled = ${disabled}`);
const reset = (page: Page) => page.evaluate('document.forms[0].reset()');

/** The place of the street: nothing may move it while somebody types. */
const topOf = async (page: Page) => (await street(page).boundingBox())?.y;

/** Counts the lookups of a page from now on. */
async function countLookups(page: Page): Promise<string[]> {
  const seen: string[] = [];
  await page.route('**/adres?*', (route) => {
    seen.push(new URL(route.request().url()).search);
    return route.fallback();
  });
  return seen;
}

type State = {
  name: string;
  /** Where, if it is not the usual page. */
  url?: () => string | undefined;
  reach: (page: Page) => Promise<unknown>;
  /** What a screen reader announces. */
  says: string;
  /** The street and the town; none by default. */
  place?: [straat: string, woonplaats: string];
  /** How many lookups it takes at most, if not two. */
  lookups?: number;
  /** The options of the toevoeging. */
  list?: string[];
  /** What leads on from the toevoeging without a mouse, and the order that is then sent. */
  keys?: string;
  ordered: string;
};

const own = 'Klopt niet? Zelf invullen';
const filled = `Nieuwezijds Voorburgwal 147, 1012 RJ Amsterdam${own}`;
const unknown =
  'Dit adres staat niet in het register. Controleer het, of vul de straat en de woonplaats zelf in.';
const unavailable = 'We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.';
const known: [string, string] = ['Nieuwezijds Voorburgwal', 'Amsterdam'];
const found = 'Nieuwezijds Voorburgwal 147  1012RJ Amsterdam';

const states: State[] = [
  {
    name: 'found',
    reach: (page) => type(page, '1012RJ', '147 '),
    says: filled,
    place: known,
    ordered: 'Nieuwezijds',
  },
  {
    name: 'typed before, as the register has it',
    reach: async (page) => {
      await street(page).fill('nieuwezijds voorburgwal');
      await type(page, '1012RJ', '147');
    },
    says: filled,
    place: ['nieuwezijds voorburgwal', 'Amsterdam'],
    ordered: 'nieuwezijds voorburgwal 147',
  },
  {
    name: 'typed before, and another street',
    reach: async (page) => {
      await street(page).fill('Damrak');
      await town(page).fill('amsterdam');
      await type(page, '1012RJ', '147', '');
    },
    says: `Volgens het register is dit Nieuwezijds Voorburgwal, Amsterdam.Overnemen${own}`,
    place: ['Damrak', 'amsterdam'],
    keys: 'Tab Enter',
    ordered: found,
  },
  {
    name: 'changed after it was filled in',
    reach: async (page) => {
      await type(page, '1012RJ', '147');
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      await type(page, '9999SD', '12A');
    },
    says: unknown,
    lookups: 3,
    ordered: 'Damrak 12 A 9999SD Weesp',
  },
  {
    name: 'changed after somebody typed the street',
    reach: async (page) => {
      await type(page, '1012RJ', '99999');
      await says(page, unknown);
      await street(page).fill('Nieuwe straat');
      await town(page).fill('Utrecht');
      await addition(page).fill('A');
      await page.keyboard.press('Tab');
    },
    says: unknown,
    place: ['Nieuwe straat', 'Utrecht'],
    ordered: 'Nieuwe straat 99999 A 1012RJ Utrecht',
  },
  ...['2b', '2-b', '2 b', '2 - B'].map((typed) => ({
    name: `a number and an addition: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    says: `Teststraat 2, toevoeging ${typed.at(-1)}, 9999 SD Testdorp${own}`,
    place: ['Teststraat', 'Testdorp'] as [string, string],
    list: ['A', 'B'],
    ordered: `Teststraat 2 ${typed.at(-1)} 9999SD Testdorp`,
  })),
  ...['1 7', '1-7', '1/7'].map((typed) => ({
    name: `two numbers, the second unknown as an addition: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    says: `Teststraat 1, toevoeging 7, 9999 SD Testdorp?Toevoeging 7 staat hier niet in het register.Ja${own}`,
    place: ['Teststraat', 'Testdorp'] as [string, string],
    ordered: 'Teststraat 1 7 9999SD Testdorp',
  })),
  {
    name: 'a wrong postcode, without a lookup',
    reach: async (page) => {
      await page.getByLabel('Postcode').fill('1012');
      await page.keyboard.press('Tab');
    },
    says: 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
    keys: 'Shift+Tab 1 4 7 Shift+Tab 1 0 1 2 r j Tab',
    ordered: found,
  },
  {
    name: 'a number that is none',
    reach: (page) => type(page, '1012RJ', '147000'),
    says: 'Controleer het huisnummer: een getal van 1 tot 99999. De toevoeging staat ernaast.',
    ordered: 'Damrak 147000',
  },
  {
    name: 'the toevoeging is missing',
    reach: (page) => type(page, '9999SD', '2'),
    says: 'Bij dit huisnummer hoort een toevoeging: A, B.',
    list: ['A', 'B'],
    keys: 'ArrowDown ArrowDown Enter',
    ordered: 'Teststraat 2 B 9999SD Testdorp',
  },
  ...['1½', '1²'].map((typed) => ({
    name: `a number and what no address has: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    says: `Teststraat 1, toevoeging ${typed[1]}, 9999 SD Testdorp?Toevoeging ${typed[1]} staat hier niet in het register.Ja${own}`,
    place: ['Teststraat', 'Testdorp'] as [string, string],
    ordered: `Teststraat 1 ${typed[1]} 9999SD Testdorp`,
  })),
  {
    name: 'a number and a mark',
    reach: (page) => type(page, '9999SD', '1 ?'),
    says: `Teststraat 1, 9999 SD Testdorp${own}`,
    place: ['Teststraat', 'Testdorp'],
    ordered: 'Teststraat 1 ? 9999SD Testdorp',
  },
  ...['Z', '2-hoog', 'twee hoog', 'A/B', 'A t/m B'].map((typed) => ({
    name: `the toevoeging is unknown: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', '2', typed),
    says: `Teststraat 2 ${typed}, 9999 SD Testdorp?Toevoeging ${typed} staat hier niet in het register.Ja${own}`,
    place: ['Teststraat', 'Testdorp'] as [string, string],
    list: ['A', 'B'],
    ordered: `Teststraat 2 ${typed} 9999SD Testdorp`,
  })),
  {
    name: 'ambiguous',
    reach: (page) => type(page, '9999SD', '3', ''),
    says: 'Er zijn meer adressen met dit nummer. Welk is het?Teststraat, TestdorpTeststraat, Teststad',
    keys: 'Tab Tab Enter',
    ordered: 'Teststraat 3  9999SD Teststad',
  },
  {
    name: 'not found',
    reach: (page) => type(page, '1012RJ', '99999'),
    says: unknown,
    ordered: 'Damrak 99999',
  },
  {
    name: 'slow',
    reach: async (page) => {
      await answerWith(page, {}, new Promise(() => {}));
      await type(page, '1012RJ', '147');
      await says(page, 'We zoeken het adres op ...');
      await street(page).fill('Damrak');
    },
    says: unavailable,
    place: ['Damrak', ''],
    ordered: 'Damrak 147',
  },
  ...(['down', 'without quota left'] as const).map((name) => ({
    name: `the service is ${name}`,
    url: () => (name === 'down' ? alone : spent)?.url,
    reach: (page: Page) => type(page, '1012RJ', '147'),
    says: unavailable,
    ordered: 'Damrak 147',
  })),
  {
    name: 'filled in by the browser, as the register has it',
    reach: (page) =>
      autofill(page, {
        postcode: '1012 RJ',
        huisnummer: '147',
        straat: known[0],
        woonplaats: 'AMSTERDAM',
      }),
    says: filled,
    place: ['Nieuwezijds Voorburgwal', 'AMSTERDAM'],
    ordered: 'Nieuwezijds Voorburgwal 147',
  },
  {
    name: 'filled in by the browser, with another street',
    reach: (page) =>
      autofill(page, {
        straat: 'Dam',
        woonplaats: 'Amsterdam',
        postcode: '1012RJ',
        huisnummer: '147',
      }),
    says: `Volgens het register is dit Nieuwezijds Voorburgwal, Amsterdam.Overnemen${own}`,
    place: ['Dam', 'Amsterdam'],
    ordered: 'Dam 147',
  },
  {
    name: 'a town by the name that people use',
    reach: async (page) => {
      await answerWith(page, {
        status: 'ok',
        address: { straat: 'Plein', woonplaats: "'s-Gravenhage" },
      });
      await town(page).fill('Den Haag');
      await type(page, '2511CS', '1');
    },
    says: `Volgens het register is dit 's-Gravenhage.Overnemen${own}`,
    place: ['Plein', 'Den Haag'],
    ordered: 'Plein 1  2511CS Den Haag',
  },
  {
    name: 'pasted, with the spaces of a web page',
    reach: async (page) => {
      await number(page).fill('147');
      await street(page).fill(' 1012\u00a0rj\u2009');
      await press(page, 'Control+a Control+x');
      await page.getByLabel('Postcode').focus();
      await press(page, 'Control+v');
    },
    says: filled,
    place: known,
    ordered: 'Nieuwezijds',
  },
];

describe(`the form element${because}`, () => {
  inBrowser.each(sweep(states, 4))(
    'says what is so, harms nothing, and leads on by keyboard: $name',
    async (state) => {
      const {
        url = () => form.url,
        place = ['', ''],
        lookups: most = 2,
        list = [],
        keys,
        ordered,
      } = state;
      const page = await open(url());
      const top = await topOf(page);
      const lookups = await countLookups(page);
      await state.reach(page);
      for (
        let tries = 0;
        tries < 400 && (await message(page).textContent()) !== state.says;
        tries++
      ) {
        await sleep(25);
      }
      expect(await message(page).textContent()).toBe(state.says);
      expect([lookups.length <= most || lookups, await topOf(page)]).toEqual([true, top]);
      expect([await street(page).inputValue(), await town(page).inputValue()]).toEqual(place);
      expect(await isValid(page)).toBe(!place.includes(''));
      await addition(page).focus();
      await press(page, 'ArrowDown');
      expect(await options(page).allInnerTexts()).toEqual(list);
      await press(page, 'Escape');
      expect(await violations(page, wcagRules)).toEqual([]);
      if (keys) {
        await addition(page).focus();
        await press(page, keys);
        await hasValue(street(page), ordered.replace(/ \d.*/, ''));
      }
      await order(page, ordered);
    },
  );

  onPage('leaves the focus where it is when the answer comes', async (page) => {
    const { promise, resolve } = Promise.withResolvers();
    await answerWith(page, { status: 'not_found', toevoegingen: ['A', 'B'] }, promise);
    await type(page, '9999SD', '2');
    expect(await focused(page)).toBe('toevoeging');
    resolve(undefined);
    await options(page).first().waitFor();
    expect(await focused(page)).toBe('toevoeging');
    expect(await violations(page, wcagRules)).toEqual([]);
    await press(page, 'ArrowUp');
    const active = await addition(page).getAttribute('aria-activedescendant');
    expect(await page.locator(`[id="${active}"]`).innerText()).toBe('B');
    await press(page, 'Tab');
    expect(await options(page).count()).toBe(0);
  });

  onPageSweep(
    'clears what it filled in when another toevoeging is chosen, and no answer comes',
    async (page) => {
      await type(page, '9999SD', '2', 'A');
      await hasValue(street(page), 'Teststraat');
      await page.route('**/adres?*', (route) => route.abort());
      await addition(page).focus();
      await press(page, 'ArrowDown');
      await options(page).getByText('B').click();
      await says(page, unavailable);
      expect(await street(page).inputValue()).toBe('');
    },
  );

  onPageSweep(
    'asks once for a number typed slowly, and not again for one that it knows',
    async (page) => {
      const lookups = await countLookups(page);
      await page.getByLabel('Postcode').pressSequentially('1012rj', { delay: 20 });
      await number(page).pressSequentially('147', { delay: 150 });
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      await type(page, '1012RJ', '148');
      await says(page, unknown);
      await type(page, '1012rj', '147');
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      expect(lookups.map((query) => new URLSearchParams(query).get('huisnummer'))).toEqual([
        '147',
        '148',
      ]);
    },
  );

  onPageSweep('still takes the answer when a space is typed while it waits', async (page) => {
    const { promise, resolve } = Promise.withResolvers();
    await answerWith(
      page,
      { status: 'ok', address: { straat: 'Damrak', woonplaats: 'Amsterdam' } },
      promise,
    );
    await type(page, '1012RJ', '147');
    await number(page).pressSequentially(' ');
    resolve(undefined);
    await hasValue(street(page), 'Damrak');
  });

  const late: [what: string, then: (page: Page) => Promise<unknown>][] = [
    [
      'the number changes',
      async (page) => {
        await page.unrouteAll();
        await type(page, '1012RJ', '147');
        await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      },
    ],
    ['the form is reset', reset],
    ['the form is disabled', (page) => disable(page, true)],
  ];
  inBrowser.each(sweep(late, 1))('drops an answer that comes after %s', async (_, then) => {
    const page = await open();
    await inFieldset(page);
    const { promise, resolve } = Promise.withResolvers();
    const late = { straat: 'Te laat', woonplaats: 'Weesp' };
    const asked = page.waitForRequest('**/adres?*');
    await answerWith(page, { status: 'ok', address: late, toevoegingen: ['A'] }, promise);
    await type(page, '9999SD', '2');
    await asked;
    await then(page);
    const before = await street(page).inputValue();
    resolve(undefined);
    await sleep(100);
    expect(await street(page).inputValue()).toBe(before);
    expect(await options(page).count()).toBe(0);
  });

  onPage(
    'is disabled with its fieldset, and forgets everything when the form is reset',
    async (page) => {
      await inFieldset(page);
      await type(page, '9999SD', '2', 'A');
      await hasValue(street(page), 'Teststraat');
      await disable(page, true);
      expect([await addition(page).isDisabled(), await message(page).textContent()]).toEqual([
        true,
        '',
      ]);
      await disable(page, false);
      await reset(page);
      expect([await street(page).inputValue(), await addition(page).getAttribute('role')]).toEqual([
        '',
        null,
      ]);
      await type(page, '9999SD', '2', 'A');
      await hasValue(street(page), 'Teststraat');
    },
  );

  onPage('shows names as text, and lets people type after an answer that is none', async (page) => {
    const address = { straat: '<img src=x onerror=alert(1)>', woonplaats: '$&' };
    const answers: [unknown, string][] = [
      [{ status: 'ok', address }, `${address.straat} 1, 1012 RJ $&`],
      [
        { status: 'ambiguous', candidates: [address, address] },
        'Er zijn meer adressen met dit nummer.',
      ],
      [{ status: 'ok', address: null }, unavailable],
      [{ status: 'ok', address: { straat: 1, woonplaats: {} } }, unavailable],
      [{ status: 'not_found', toevoegingen: 'A' }, unavailable],
      [{ status: 'ambiguous', candidates: [null] }, unavailable],
      [{ status: 'invalid', errors: null }, 'Controleer het huisnummer'],
      [null, unavailable],
    ];
    const tried = sweep(answers, 4);
    for (const [index, [answer, shown]] of tried.entries()) {
      await page.unrouteAll();
      await answerWith(page, answer);
      await type(page, '1012RJ', String(index + 1));
      await says(page, shown);
    }
    expect(await page.locator('bag-adres-form img').count()).toBe(0);
    await order(page, `Damrak ${tried.length}`);
  });

  onPageSweep('still knows what it filled in when somebody comes back', async (page) => {
    // A browser restores the fields of a page that it may keep.
    await page.route(`${form.url}/`, async (route) => {
      const response = await route.fetch();
      await route.fulfill({
        response,
        headers: { ...response.headers(), 'cache-control': 'max-age=60' },
      });
    });
    await page.goto(`${form.url}/`);
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    await order(page, 'Nieuwezijds Voorburgwal');
    await page.goBack();
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(await violations(page, wcagRules)).toEqual([]);
    await type(page, '1012RJ', '99999');
    await says(page, unknown);
    expect(await street(page).inputValue()).toBe('');
    await order(page, 'Damrak 99999');
  });

  inBrowser('works without JavaScript', async () => {
    const page = await open(form.url, { scripts: false });
    await type(page, '1012RJ', '147');
    await street(page).fill('Nieuwezijds Voorburgwal');
    await town(page).fill('Amsterdam');
    await page.keyboard.press('Enter');
    await page.getByText(`We leveren op: ${found}`).waitFor();
  });

  onPageSweep(
    'makes fields of its own in the language of the page, each element for itself',
    async (page) => {
      await page.evaluate(`
      document.documentElement.lang = 'en';
      document.documentElement.dir = 'rtl';
      window.seen = [];
      const [first, second] = [1, 2].map(() => document.createElement('bag-adres-form'));
      first.texts = { straat: 'Street name' };
      document.addEventListener('bag-adres', ({ target, detail }) => seen.push([target === second, detail.status]));
      document.querySelector('form').replaceChildren(first, second)`);
      expect(await violations(page, wcagRules)).toEqual([]);
      const last = (name: string) => page.getByRole('textbox', { name }).last();
      await last('Postcode').fill('9999SD');
      await last('House number').fill('1');
      await page.keyboard.press('Tab');
      await hasValue(last('Street'), 'Teststraat');
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await violations(page, wcagRules)).toEqual([]);
      }
      expect(await page.evaluate('window.seen')).toEqual([[true, 'ok']]);
      expect(await page.getByLabel('Street name').inputValue()).toBe('');
    },
  );

  onPageSweep(
    'takes texts that were set before its script, and fits at 400 % under any policy',
    async (page) => {
      const texts = `<script>document.querySelector('bag-adres-form').texts = { own: 'Anders' }</script>`;
      const element = '<bag-adres-form><input name="gemeente"></bag-adres-form>';
      const policy = "require-trusted-types-for 'script'; trusted-types 'none'";
      await serve(page, 'early', `<html lang="nl">${element}${texts}${script}`, {
        'content-security-policy': policy,
      });
      await page.setViewportSize({ width: 320, height: 256 });
      await page.goto(`${form.url}/early`);
      await type(page, '1012RJ', '147');
      await says(page, 'Anders');
      expect(await page.locator('[name=gemeente]').inputValue()).toBe('Amsterdam');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.setViewportSize({ width: 390, height: 844 });
    },
  );

  const changed = [
    ['postcode', '9999ZZ'],
    ['huisnummer', '148'],
  ] as const;
  inBrowser.each(sweep(changed, 1))(
    'never sends a street that the page brought with another number: %s is %s',
    async (name, value) => {
      const page = await open();
      const brought = {
        postcode: '1012RJ',
        huisnummer: '147',
        straat: known[0],
        woonplaats: known[1],
      };
      const fields = Object.entries(brought).map(
        ([name, text]) => `<input name="${name}" id="${name}" value="${text}">`,
      );
      const element = `<bag-adres-form lookup="/none">${fields.join('')}</bag-adres-form>`;
      await serve(
        page,
        'returning*',
        `<html lang="nl"><form>${element}<button>Bestel</button></form>${script}`,
      );
      await page.goto(`${form.url}/returning`);
      await page.locator('#huisnummer').press('End');
      await page.keyboard.type(' ');
      expect(await page.locator('#straat').inputValue()).toBe('Nieuwezijds Voorburgwal');
      await page.locator(`#${name}`).fill(value);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/returning?*');
      const sent = new URL(page.url()).searchParams;
      expect([sent.get(name), sent.get('straat'), sent.get('woonplaats')]).toEqual([value, '', '']);
    },
  );

  onPage('lets people fill in what they know better, and asks no more about it', async (page) => {
    await type(page, '1012RJ', '147', '');
    await page.getByRole('button', { name: own }).click();
    expect([await street(page).inputValue(), await focused(page)]).toEqual(['', 'straat']);
    await page.keyboard.type('Spuistraat');
    await addition(page).focus();
    await press(page, 'Tab Tab');
    expect(await message(page).textContent()).toBe('');
    await order(page, 'Spuistraat 147  1012RJ Weesp');
  });

  onPageSweep('corrects a number that was read as two when it is typed again', async (page) => {
    await type(page, '1012RJ', '14 7');
    expect([await number(page).inputValue(), await addition(page).inputValue()]).toEqual([
      '14',
      '7',
    ]);
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(await addition(page).inputValue()).toBe('');
    await addition(page).fill('B');
    await type(page, '1012RJ', '14A');
    await says(page, 'Controleer het huisnummer');
    expect([await number(page).inputValue(), await addition(page).inputValue()]).toEqual([
      '14A',
      'B',
    ]);
  });

  onPageSweep(
    'keeps a message about a field, and ties it to that field, until the field is right',
    async (page) => {
      const field = page.getByLabel('Postcode');
      await field.evaluate((input) => input.setAttribute('aria-describedby', 'straat'));
      const described = () =>
        field.evaluate((input) => [
          input.getAttribute('aria-invalid'),
          input.getAttribute('aria-describedby')?.split(' ').length,
        ]);
      await field.fill('1012');
      await press(page, 'Tab');
      await number(page).fill('147');
      await press(page, 'Tab');
      await says(page, 'Controleer de postcode');
      expect(await described()).toEqual(['true', 2]);
      await field.press('End');
      await page.keyboard.type('R');
      await says(page, 'Controleer de postcode');
      await page.keyboard.type('J');
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      expect(await described()).toEqual([null, 1]);
    },
  );

  onPageSweep('tries again when a field is left after a lookup that failed', async (page) => {
    await page.route('**/adres?*', (route) => route.abort());
    await type(page, '1012RJ', '147');
    await says(page, unavailable);
    await page.unrouteAll();
    await press(page, 'Tab');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
  });

  onPageSweep(
    'asks once, and fills in, where AbortSignal has neither any nor timeout',
    async (page) => {
      const session = await page.context().newCDPSession(page);
      const { identifier } = await session.send('Page.addScriptToEvaluateOnNewDocument', {
        source: 'delete AbortSignal.any; delete AbortSignal.timeout;',
      });
      await page.reload();
      await session.send('Page.removeScriptToEvaluateOnNewDocument', { identifier });
      expect(await page.evaluate('AbortSignal.any')).toBeUndefined();
      const lookups = await countLookups(page);
      await type(page, '1012RJ', '147');
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      expect(lookups).toHaveLength(1);
    },
  );

  onPage('leaves an address in another country alone', async (page) => {
    const lookups = await countLookups(page);
    await page.evaluate(`{
      document.querySelector('bag-adres-form').setAttribute('country-field', 'land');
      const land = document.createElement('select');
      land.name = 'land';
      for (const [code, name] of [['NL', 'Nederland'], ['BE', 'Belgi\u00eb']]) land.append(new Option(name, code));
      document.forms[0].prepend(land);
    }`);
    await page.locator('[name=land]').selectOption('BE');
    await page.evaluate("document.getElementById('straat').value = 'Veldstraat'");
    await type(page, '9000', '12 A', '');
    expect([await message(page).textContent(), await number(page).inputValue(), lookups]).toEqual([
      '',
      '12 A',
      [],
    ]);
    expect(await street(page).inputValue()).toBe('Veldstraat');
    await type(page, '1012RJ', '147');
    await page.locator('[name=land]').selectOption('NL');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
  });

  const languages = [
    ['en-GB', 'en'],
    ['EN', 'en'],
    ['NL', 'nl'],
    ['fr', 'nl'],
  ] as const;
  inBrowser.each(sweep(languages, 1))(
    'speaks the language of its lang="%s", and says which',
    async (lang, language) => {
      const page = await open();
      await page.evaluate(`document.querySelector('bag-adres-form').lang = '${lang}'`);
      await page.getByLabel('Postcode').fill('1012');
      await press(page, 'Tab');
      await says(page, language === 'en' ? 'Check the postcode' : 'Controleer de postcode');
      expect(await message(page).evaluate((shown) => (shown as { lang?: string }).lang)).toBe(
        language,
      );
    },
  );

  onPageSweep('disables the fields that it made, and looks nothing up then', async (page) => {
    await page.evaluate(
      `document.forms[0].innerHTML = '<bag-adres-form disabled></bag-adres-form>'`,
    );
    expect(await page.locator('input:enabled').count()).toBe(0);
    await page.evaluate(`document.querySelector('bag-adres-form').removeAttribute('disabled')`);
    expect(await page.locator('input:disabled').count()).toBe(0);
  });

  onPage('never shows the key to the browser', async (page) => {
    const bodies: string[] = [];
    page.on(
      'response',
      async (response) => void bodies.push(await response.text().catch(() => '')),
    );
    await page.reload();
    await type(page, '1012RJ', '147');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
    expect(bodies.join('')).not.toContain('bagadres_');
  });
});
