import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { newAccount } from '../../support/address-service.ts';
import { violations, wcagRules } from '../../support/axe.ts';
import { because, browserForTests, inBrowser, openTab, type Tab } from '../../support/browser.ts';
import { startHttpService } from '../../support/http-service.ts';
import { startForTests } from '../../support/start-for-tests.ts';

const folder = fileURLToPath(new URL('../../../docs/examples/form/', import.meta.url));

const chromium = browserForTests();
const service = startForTests(startHttpService);
let form: Form;
/** The same form while the service can't be reached, and with a key whose quota is used up. */
let alone: Form;
let spent: Form;

beforeAll(async () => {
  const { baseUrl } = service;
  const { key } = await newAccount(service, { minute: 1000 });
  form = await startForm(baseUrl, key);
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

const onPage = (title: string, test: Test) => inBrowser(title, async () => test(await open()));

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
const addition = (page: Page) => page.locator('#toevoeging');
const message = (page: Page) => page.locator('[part=message]');
const says = (page: Page, text: string) => message(page).getByText(text).first().waitFor();
const choices = (page: Page) => message(page).getByRole('button');
const isValid = (page: Page) => page.evaluate('document.forms[0].checkValidity()');
const focused = (page: Page) => page.evaluate('document.activeElement.id');

/** Waits without a script of its own, which the policy of the page forbids. */
async function hasValue(field: Locator, value: string): Promise<void> {
  for (let tries = 0; tries < 600 && (await field.inputValue()) !== value; tries++)
    await sleep(100);
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
  /** Its class, and its text with the choices. */
  kind: 'hint' | 'ok' | 'ask' | 'wrong';
  says: string;
  /** The street and the town; none by default. */
  place?: [straat: string, woonplaats: string];
  /** How many lookups it takes at most, if not two. */
  lookups?: number;
  /** What leads on from the toevoeging without a mouse, and the order that is then sent. */
  keys?: string;
  ordered: string;
};

const filled = 'Nieuwezijds Voorburgwal 147, 1012 RJ Amsterdam';
const unknown =
  'Dit adres staat niet in het register. Controleer het, of vul de straat en de woonplaats zelf in.';
const unavailable = 'We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.';
const known: [string, string] = ['Nieuwezijds Voorburgwal', 'Amsterdam'];
const found = 'Nieuwezijds Voorburgwal 147  1012RJ Amsterdam';
const test: [string, string] = ['Teststraat', 'Testdorp'];
const near = 'Het huisnummer hoort bij Teststraat, Testdorp.';
const lacks = (toevoeging: string) => `Toevoeging ${toevoeging} staat hier niet in het register.`;

const states: State[] = [
  {
    name: 'found',
    reach: (page) => type(page, '1012RJ', '147 '),
    kind: 'ok',
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
    kind: 'ok',
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
    kind: 'ask',
    says: `Volgens het register is dit ${filled}.Overnemen`,
    place: ['Damrak', 'amsterdam'],
    keys: 'Tab Enter',
    ordered: 'Nieuwezijds Voorburgwal 147  1012RJ amsterdam',
  },
  {
    name: 'typed before, and another town',
    reach: async (page) => {
      await town(page).fill('Utrecht');
      await type(page, '1012RJ', '147', '');
    },
    kind: 'ask',
    says: 'Volgens het register is dit Amsterdam.Overnemen',
    place: ['Nieuwezijds Voorburgwal', 'Utrecht'],
    keys: 'Tab Enter',
    ordered: found,
  },
  {
    name: 'changed after it was filled in',
    reach: async (page) => {
      await type(page, '1012RJ', '147');
      await hasValue(town(page), 'Amsterdam');
      await type(page, '9999SD', '12A');
    },
    kind: 'wrong',
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
    kind: 'wrong',
    says: unknown,
    place: ['Nieuwe straat', 'Utrecht'],
    ordered: 'Nieuwe straat 99999 A 1012RJ Utrecht',
  },
  ...['2b', '2-b', '2 b', '2 - B'].map((typed) => ({
    name: `a number and an addition: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    kind: 'ok' as const,
    says: `Teststraat 2 ${typed.at(-1)}, 9999 SD TestdorpToevoeging:A`,
    place: test,
    ordered: `Teststraat 2 ${typed.at(-1)} 9999SD Testdorp`,
  })),
  ...['1 7', '1-7', '1/7'].map((typed) => ({
    name: `two numbers, the second unknown as an addition: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    kind: 'ask' as const,
    says: `${lacks('7')}${near}Toevoeging:geen`,
    place: test,
    ordered: 'Teststraat 1 7 9999SD Testdorp',
  })),
  {
    name: 'a whole address in the postcode',
    reach: async (page) => {
      await page.getByLabel('Postcode').fill('NL-9999 SD 2 b');
      await page.keyboard.press('Tab');
    },
    kind: 'ok',
    says: 'Teststraat 2 b, 9999 SD TestdorpToevoeging:A',
    place: test,
    ordered: 'Teststraat 2 b 9999SD Testdorp',
  },
  {
    name: 'a wrong postcode, without a lookup',
    reach: async (page) => {
      await page.getByLabel('Postcode').fill('1012');
      await page.keyboard.press('Tab');
    },
    kind: 'wrong',
    says: 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
    keys: 'Shift+Tab 1 4 7 Shift+Tab 1 0 1 2 r j Tab',
    ordered: found,
  },
  {
    name: 'a number that is none',
    reach: (page) => type(page, '1012RJ', '147000'),
    kind: 'wrong',
    says: 'Controleer het huisnummer: een getal van 1 tot 99999. De toevoeging staat ernaast.',
    ordered: 'Damrak 147000',
  },
  {
    name: 'the toevoeging is missing',
    reach: (page) => type(page, '9999SD', '2'),
    kind: 'ask',
    says: 'Bij dit huisnummer hoort een toevoeging: A, BAB',
    keys: 'Tab Tab Enter',
    ordered: 'Teststraat 2 B 9999SD Testdorp',
  },
  ...['1½', '1²', '1A-1C'].map((typed) => ({
    name: `a number and what no address has: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', typed),
    kind: 'ask' as const,
    says: `${lacks(typed.slice(1))}${near}Toevoeging:geen`,
    place: test,
    ordered: `Teststraat ${typed}`,
  })),
  {
    name: 'a number and a mark',
    reach: (page) => type(page, '9999SD', '1 ?'),
    kind: 'ok',
    says: 'Teststraat 1, 9999 SD Testdorp',
    place: test,
    ordered: 'Teststraat 1 ? 9999SD Testdorp',
  },
  ...['Z', '2-hoog', 'twee hoog', 'A/B', 'A t/m B'].map((typed) => ({
    name: `the toevoeging is unknown: ${typed}`,
    reach: (page: Page) => type(page, '9999SD', '2', typed),
    kind: 'ask' as const,
    says: `${lacks(typed)}${near}Toevoeging:AB`,
    place: test,
    ordered: `Teststraat 2 ${typed} 9999SD Testdorp`,
  })),
  {
    name: 'ambiguous',
    reach: (page) => type(page, '9999SD', '3', ''),
    kind: 'ask',
    says: 'Er zijn meer adressen met dit nummer. Welk is het?Teststraat, TestdorpTeststraat, Teststad',
    keys: 'Tab Tab Enter',
    ordered: 'Teststraat 3  9999SD Teststad',
  },
  {
    name: 'not found',
    reach: (page) => type(page, '1012RJ', '99999'),
    kind: 'wrong',
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
    kind: 'wrong',
    says: unavailable,
    place: ['Damrak', ''],
    ordered: 'Damrak 147',
  },
  ...(['down', 'without quota left'] as const).map((name) => ({
    name: `the service is ${name}`,
    url: () => (name === 'down' ? alone : spent).url,
    reach: (page: Page) => type(page, '1012RJ', '147'),
    kind: 'wrong' as const,
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
    kind: 'ok',
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
    kind: 'ask',
    says: `Volgens het register is dit ${filled}.Overnemen`,
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
    kind: 'ok',
    says: "Plein 1, 2511 CS 's-Gravenhage",
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
    kind: 'ok',
    says: filled,
    place: known,
    ordered: 'Nieuwezijds',
  },
];

describe(`the form element${because}`, () => {
  inBrowser.each(states)(
    'says what is so, harms nothing, and leads on by keyboard: $name',
    async (state) => {
      const { url = () => form.url, place = ['', ''], lookups: most = 2, keys, ordered } = state;
      const page = await open(url());
      const top = await topOf(page);
      const lookups = await countLookups(page);
      await state.reach(page);
      const shown = async () => [
        await message(page).getAttribute('class'),
        await message(page).textContent(),
      ];
      const isThere = async () => (await shown()).join() === [state.kind, state.says].join();
      for (let tries = 0; tries < 600 && !(await isThere()); tries++) await sleep(100);
      expect(await shown()).toEqual([state.kind, state.says]);
      expect([lookups.length <= most || lookups, await topOf(page)]).toEqual([true, top]);
      expect([await street(page).inputValue(), await town(page).inputValue()]).toEqual(place);
      expect(await isValid(page)).toBe(!place.includes(''));
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
    await choices(page).first().waitFor();
    expect(await focused(page)).toBe('toevoeging');
  });

  onPage('offers a list from seven choices on, and takes the chosen one', async (page) => {
    const toevoegingen = ['A', 'B', 'C', 'D', 'E', 'F', 'G'];
    await page.route('**/adres?*', (route) => {
      const toevoeging = new URL(route.request().url()).searchParams.get('toevoeging');
      const address = { straat: 'Damrak', woonplaats: 'Amsterdam' };
      const found = { status: 'ok', address, toevoegingen };
      return route.fulfill({ json: toevoeging ? found : { status: 'not_found', toevoegingen } });
    });
    await type(page, '1012RJ', '1');
    await message(page).getByRole('combobox').selectOption('G');
    await says(page, 'Damrak 1 G, 1012 RJ Amsterdam');
    expect(await addition(page).inputValue()).toBe('G');
    expect(await violations(page, wcagRules)).toEqual([]);
  });

  onPage(
    'clears what it filled in when another toevoeging is chosen, and no answer comes',
    async (page) => {
      await type(page, '9999SD', '2', 'A');
      await says(page, 'Teststraat 2 A');
      await page.route('**/adres?*', (route) => route.abort());
      await choices(page).getByText('B').click();
      await says(page, unavailable);
      expect(await street(page).inputValue()).toBe('');
    },
  );

  onPage(
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

  onPage('still takes the answer when a space is typed while it waits', async (page) => {
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

  // Without a browser, in any order: test/packages/form/source/address-in-fields.property.ts.
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
  inBrowser.each(late)('does not act on an answer that comes after %s', async (_, then) => {
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
    expect(await choices(page).count()).toBe(0);
  });

  onPage(
    'does nothing while its fieldset is disabled, and forgets everything when the form is reset',
    async (page) => {
      await inFieldset(page);
      await type(page, '9999SD', '2', 'A');
      await says(page, 'Teststraat 2 A');
      await disable(page, true);
      await page.locator('[part=message].hint').waitFor();
      expect(await message(page).textContent()).toBe('');
      await disable(page, false);
      await reset(page);
      await says(page, 'Vul de postcode');
      expect(await street(page).inputValue()).toBe('');
      await type(page, '9999SD', '2', 'A');
      await says(page, 'Teststraat 2 A');
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
    for (const [index, [answer, shown]] of answers.entries()) {
      await page.unrouteAll();
      await answerWith(page, answer);
      await type(page, '1012RJ', String(index + 1));
      await says(page, shown);
    }
    expect(await page.locator('bag-adres-form img').count()).toBe(0);
    await order(page, `Damrak ${answers.length}`);
  });

  onPage('shows what it knows when somebody comes back, and asks nothing', async (page) => {
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
    await says(page, filled);
    await order(page, 'Nieuwezijds Voorburgwal');
    const lookups = await countLookups(page);
    await page.goBack();
    await says(page, filled);
    await number(page).focus();
    await press(page, 'Tab');
    await sleep(100);
    expect([await street(page).inputValue(), lookups]).toEqual(['Nieuwezijds Voorburgwal', []]);
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

  onPage('serves each element of a page by itself, in its own language', async (page) => {
    await page.evaluate(`{
      document.documentElement.dir = 'rtl';
      window.seen = [];
      const first = document.querySelector('bag-adres-form');
      const second = first.cloneNode(true);
      second.lang = 'en';
      for (const one of second.querySelectorAll('[id]')) one.id += '2';
      for (const one of second.querySelectorAll('label')) one.htmlFor += '2';
      first.texts = { hint: 'Eigen tekst' };
      document.addEventListener('bag-adres', ({ target, detail }) => seen.push([target === second, detail.status]));
      first.after(second);
    }`);
    const last = (name: string) => page.locator(`#${name}2`);
    await last('postcode').fill('9999SD');
    await last('huisnummer').fill('1');
    await page.keyboard.press('Tab');
    await hasValue(last('woonplaats'), 'Testdorp');
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page, wcagRules)).toEqual([]);
    }
    expect(await page.evaluate('window.seen')).toEqual([[true, 'ok']]);
    expect(await street(page).first().inputValue()).toBe('');
    await page.locator('#postcode').press('Home');
    await says(page, 'Eigen tekst');
  });

  onPage(
    'takes texts that were set before its script, and fits at 400 % under any policy',
    async (page) => {
      const texts = `<script>document.querySelector('bag-adres-form').texts = { several: 'Welk?' }</script>`;
      const fields = ['postcode', 'huisnummer', 'straat', 'woonplaats', 'gemeente'];
      const inputs = fields.map(
        (name) => `<label>${name} <input id="${name}" name="${name}"></label>`,
      );
      const element = `<bag-adres-form>${inputs.join('')}</bag-adres-form>`;
      const policy = "require-trusted-types-for 'script'; trusted-types 'none'";
      await serve(page, 'early', `<html lang="nl">${element}${texts}${script}`, {
        'content-security-policy': policy,
      });
      await page.setViewportSize({ width: 320, height: 256 });
      await page.goto(`${form.url}/early`);
      await page.locator('#postcode').fill('1012RJ');
      await page.locator('#huisnummer').fill('147');
      await page.keyboard.press('Tab');
      await hasValue(page.locator('#gemeente'), 'Amsterdam');
      await page.locator('#postcode').fill('9999SD');
      await page.locator('#huisnummer').fill('3');
      await page.keyboard.press('Tab');
      await says(page, 'Welk?');
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBe(320);
      await page.setViewportSize({ width: 390, height: 844 });
    },
  );

  inBrowser('keeps a street that the page brought with another number, and asks', async () => {
    const page = await open();
    const brought = {
      postcode: '1012RJ',
      huisnummer: '147',
      straat: 'Eigen weg',
      woonplaats: known[1],
    };
    const fields = Object.entries(brought).map(
      ([name, text]) => `<input name="${name}" id="${name}" value="${text}">`,
    );
    const element = `<bag-adres-form>${fields.join('')}</bag-adres-form>`;
    await serve(page, 'returning*', `<html lang="nl"><form>${element}</form>${script}`);
    await page.goto(`${form.url}/returning`);
    const lookups = await countLookups(page);
    await page.locator('#huisnummer').focus();
    await press(page, 'Tab');
    await sleep(100);
    expect(lookups).toEqual([]);
    await page.locator('#postcode').fill('9999SD');
    await page.locator('#huisnummer').fill('1');
    await press(page, 'Tab');
    await says(page, 'Volgens het register is dit Teststraat 1, 9999 SD Testdorp.');
    expect(await page.locator('#straat').inputValue()).toBe('Eigen weg');
    await reset(page);
    await sleep(100);
    expect(await page.locator('#straat').inputValue()).toBe('Eigen weg');
  });

  onPage('takes its mark away once somebody types another street', async (page) => {
    await type(page, '1012RJ', '147', '');
    await says(page, filled);
    await street(page).fill('Spuistraat');
    await says(page, `Volgens het register is dit ${filled}.`);
    expect(await page.locator('[part=message].ok').count()).toBe(0);
    await order(page, 'Spuistraat 147  1012RJ Amsterdam');
  });

  onPage('corrects a number that was read as two when it is typed again', async (page) => {
    await type(page, '1012RJ', '14 7');
    await hasValue(number(page), '14');
    expect(await addition(page).inputValue()).toBe('7');
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

  onPage(
    'keeps a message about a field, and ties it to that field, until the field is right',
    async (page) => {
      const field = page.getByLabel('Postcode');
      await field.evaluate((input) => input.setAttribute('aria-describedby', 'straat'));
      const described = () =>
        field.evaluate((input) =>
          ['aria-invalid', 'aria-description', 'aria-describedby'].map((name) =>
            input.getAttribute(name),
          ),
        );
      const text = 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.';
      await field.evaluate((input) => input.setAttribute('aria-invalid', 'false'));
      await field.fill('1012');
      await press(page, 'Tab');
      await number(page).fill('147');
      await press(page, 'Tab');
      await says(page, text);
      expect(await described()).toEqual(['true', text, 'straat']);
      await field.press('End');
      await page.keyboard.type('R');
      await says(page, text);
      await page.keyboard.type('J');
      await hasValue(street(page), 'Nieuwezijds Voorburgwal');
      expect(await described()).toEqual(['false', null, 'straat']);
    },
  );

  onPage('tries again when a field is left after a lookup that failed', async (page) => {
    await page.route('**/adres?*', (route) => route.abort());
    await type(page, '1012RJ', '147');
    await says(page, unavailable);
    await page.unrouteAll();
    await press(page, 'Tab');
    await hasValue(street(page), 'Nieuwezijds Voorburgwal');
  });

  onPage('asks once, and fills in, where AbortSignal has neither any nor timeout', async (page) => {
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
  });

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
    await says(page, `Volgens het register is dit ${filled}.`);
    expect(await street(page).inputValue()).toBe('Veldstraat');
  });

  const languages = [
    ['en-GB', 'en'],
    ['EN', 'en'],
    ['NL', 'nl'],
    ['fr', 'nl'],
  ] as const;
  inBrowser.each(languages)(
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

  onPage('looks nothing up while it is disabled', async (page) => {
    const lookups = await countLookups(page);
    const element = page.locator('bag-adres-form');
    await element.evaluate((one) => one.setAttribute('disabled', ''));
    await type(page, '1012RJ', '147');
    await sleep(100);
    expect([lookups, await message(page).textContent()]).toEqual([[], '']);
    await element.evaluate((one) => one.removeAttribute('disabled'));
    await type(page, '1012RJ', '147');
    await says(page, filled);
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
