import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import { type FormHost, fieldNames, formHosts, pageOf } from './form-hosts.ts';
import { startHttpServer } from './http-server.ts';

/** Every address of the matrix has a street of its own, so that a wrong one shows. */
const streets: Record<string, [straat: string, woonplaats: string]> = {
  '1381AA 9 ': ['Buitenveer', 'Weesp'],
  '1381AA 9 A': ['Buitenkade', 'Weesp'],
  '1381AA 9 B': ['Buitenhof', 'Weesp'],
  '1381AA 12 ': ['Achtergracht', 'Weesp'],
  '1381AA 92 ': ['Fout', 'Weesp'],
  '1381AA 912 ': ['Fout', 'Weesp'],
  '1234AB 9 ': ['Dorpsweg', 'Dorp'],
};

function answer(query: URLSearchParams): object {
  const number = `${query.get('postcode')} ${query.get('huisnummer')}`;
  const all = Object.keys(streets).filter((one) => one.startsWith(`${number} `));
  const toevoegingen = all.map((one) => one.slice(number.length + 1) || null);
  const found = streets[`${number} ${query.get('toevoeging')}`];
  if (!found) return { status: 'not_found', address: null, candidates: [], toevoegingen };
  const address = { straat: found[0], woonplaats: found[1] };
  return { status: 'ok', address, candidates: [], toevoegingen };
}

export type FormServer = { url: string; lookups: string[]; stop(): Promise<void> };

/** Serves each host with a script of the element, and the route that it asks. */
export async function startFormServer(script: () => Promise<string>): Promise<FormServer> {
  const lookups: string[] = [];
  const pages = new Map<number, ReturnType<typeof pageOf>>();
  const server = await startHttpServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const [, index = '', file = ''] = pathname.split('/');
    const send = (type: string, body: string) => {
      response.setHeader('Content-Type', `${type}; charset=utf-8`);
      response.end(body);
    };
    if (pathname === '/bag-adres-form.js') send('text/javascript', await script());
    else if (pathname === '/adres') {
      lookups.push(`${request.headers.referer} ${searchParams}`);
      send('application/json', JSON.stringify(answer(searchParams)));
    } else if (pathname === '/echo') {
      const sent = new URLSearchParams(await text(request));
      const fields = fieldNames.map(
        (name) => `<label>${name} <input name="${name}" value="${sent.get(name) ?? ''}"></label>`,
      );
      send('text/html', fields.join(''));
    } else if (pathname === '/other') send('text/html', '<!doctype html><title>other</title>');
    else {
      const host = formHosts[Number(index)];
      if (!host) return void response.writeHead(404).end();
      if (!pages.has(Number(index))) pages.set(Number(index), pageOf(host));
      const { page, script } = (await pages.get(Number(index))) ?? { page: '', script: '' };
      for (const [name, value] of Object.entries(host.headers ?? {}))
        response.setHeader(name, value);
      const isOuter = host.name === 'in a frame' && file === '';
      if (file === 'page.js') send('text/javascript', script);
      else send('text/html', isOuter ? '<!doctype html><iframe src="inner"></iframe>' : page);
    }
  });
  return { ...server, lookups };
}

/** The script of the element that the project ships. */
export const shippedScript = () =>
  readFile(new URL('../../packages/form/bag-adres-form.js', import.meta.url), 'utf8');

type Fields = Record<string, string>;
type Message = { kind: string; text: string };

/** The text that a field shows; of a select its option's, unless that stands for none. */
function shownIn(one: unknown): string {
  const field = one as { value: string; selectedOptions?: { text: string }[] };
  return field.value && (field.selectedOptions?.[0]?.text ?? field.value);
}

/** A page of a host in a browser. */
class HostPage {
  readonly page: Page;
  readonly host: FormHost;
  constructor(page: Page, host: FormHost) {
    this.page = page;
    this.host = host;
  }

  private get scope() {
    return this.host.isFramed ? this.page.frameLocator('iframe') : this.page.locator('html');
  }

  field(name: string): Locator {
    return this.scope.locator(`[name="${name}"]`).first();
  }

  async has(name: string): Promise<boolean> {
    return (await this.field(name).count()) > 0;
  }

  /** Types over what a field holds, key by key, and leaves it; `onFirst` follows the first key. */
  async type(name: string, value: string, onFirst = () => {}): Promise<void> {
    const field = this.field(name);
    if (!(await field.count())) return;
    if ((await field.evaluate((one) => (one as { localName?: string }).localName)) === 'select') {
      const option = field.locator('option', { hasText: new RegExp(`^${value || 'geen'}$`, 'i') });
      if (await option.count())
        await field.selectOption({ label: (await option.textContent()) ?? '' });
      onFirst();
      return;
    }
    await field.focus();
    await this.page.keyboard.press('Control+A');
    if (value === '') await this.page.keyboard.press('Delete');
    for (const key of value) {
      await this.page.keyboard.type(key);
      onFirst();
      await sleep(30);
    }
    await this.page.keyboard.press('Tab');
  }

  /** What the page itself does, with the events of a person or with none. */
  async set(name: string, value: string, withEvents: boolean): Promise<void> {
    await this.field(name).evaluate(
      (field, { name, value, withEvents }) => {
        const page = globalThis as unknown as Record<string, (name: string, value: string) => void>;
        if (withEvents && page.setByPage) return page.setByPage(name, value);
        const at = field as unknown as {
          value: string;
          options?: { text: string; value: string }[];
          dispatchEvent(event: Event): void;
        };
        const option = [...(at.options ?? [])].find(({ text }) => text === value);
        const set = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(at), 'value')?.set;
        const text = option?.value ?? value;
        if (withEvents && set) set.call(at, text);
        else at.value = text;
        if (withEvents) {
          for (const type of ['input', 'change'])
            at.dispatchEvent(new Event(type, { bubbles: true, composed: true }));
        }
      },
      { name, value, withEvents },
    );
  }

  /** What the form would send now. */
  async submitted(): Promise<Fields> {
    const sent = await this.field('huisnummer').evaluate((field) => {
      type Root = { submitted?: () => Fields };
      const { submitted } = globalThis as unknown as Root;
      if (submitted) return submitted();
      const { form } = field as unknown as { form: unknown };
      const Data = (
        globalThis as unknown as { FormData: new (form: unknown) => Iterable<[string, string]> }
      ).FormData;
      const closest =
        form ?? (field as unknown as { closest(name: string): unknown }).closest('form');
      return Object.fromEntries(new Data(closest)) as Fields;
    });
    return { toevoeging: '', ...sent };
  }

  /** What the fields of the address show, as a person sees it. */
  async held(): Promise<Fields> {
    const names = ['postcode', 'huisnummer', 'toevoeging', 'straat', 'woonplaats'];
    const held: Fields = {};
    for (const name of names) {
      if (await this.has(name)) held[name] = await this.field(name).evaluate(shownIn);
    }
    return held;
  }

  async message(): Promise<Message> {
    return await this.field('huisnummer').evaluate((field) => {
      type Found = { className: string; textContent: string; shadowRoot?: Node | null };
      type Node = { querySelector(name: string): Found | null };
      const { closest } = field as unknown as { closest(name: string): Found | null };
      const { shadowRoot } = closest.call(field, 'bag-adres-form') ?? {};
      const message = shadowRoot?.querySelector('[part=message]');
      return { kind: message?.className ?? 'none', text: message?.textContent ?? '' };
    });
  }

  async leave(): Promise<void> {
    await this.field('huisnummer').evaluate((field) => {
      type Root = { activeElement: { blur(): void } | null };
      const { getRootNode } = field as unknown as { getRootNode(): Root };
      getRootNode.call(field).activeElement?.blur();
    });
  }

  /** Waits until neither the fields nor the message change. */
  async settled(): Promise<void> {
    let last = '';
    let same = 0;
    for (let tries = 0; tries < 27 && same < 2; tries++) {
      const now = JSON.stringify([await this.submitted(), await this.message()]);
      same = now === last ? same + 1 : 0;
      last = now;
      if (same < 2) await sleep(450);
    }
  }

  async found(number = '9'): Promise<void> {
    await this.type('postcode', '1381AA');
    await this.type('huisnummer', number);
    await this.settled();
  }
}

/** What somebody or a page does, and what must hold then. Returns what is wrong. */
export type FormAction = {
  name: string;
  act(page: HostPage, server: FormServer): Promise<string | undefined>;
};

const numberOf = ({ huisnummer = '', toevoeging = '' }: Fields) =>
  `${huisnummer} ${toevoeging}`.replace(/[ -]+/g, ' ').trim().toUpperCase();
const isText = (one = '', other = '') => one.toUpperCase() === other.toUpperCase();

/** A mark is only over what would be sent, and it is an address of the register. */
function falseMark(sent: Fields, { kind, text }: Message): string | undefined {
  const { postcode = '', huisnummer = '', toevoeging = '', straat, woonplaats } = sent;
  if (kind !== 'ok') return undefined;
  const code = postcode.replace(/ /g, '').toUpperCase();
  const number = /^(\d+)(?: ?([a-z]))?$/i.exec(huisnummer.trim());
  const key = `${code} ${number?.[1]} ${(toevoeging || number?.[2] || '').toUpperCase()}`;
  const place = streets[key];
  const isRight = place && isText(straat, place[0]) && isText(woonplaats, place[1]);
  return isRight ? undefined : `a mark (${text}) over ${JSON.stringify(sent)}`;
}

/** What is sent must be the address with its street, and marked if the page can take all of it. */
async function must(
  page: HostPage,
  number: string,
  place: [straat: string, woonplaats: string],
  { isSplit = false, postcode = '1381AA', read = () => page.submitted() } = {},
): Promise<string | undefined> {
  await page.settled();
  if (page.host.takesOnBlur) {
    await page.leave();
    await page.settled();
  }
  const sent = await read();
  const message = await page.message();
  const at = `${JSON.stringify(sent)} (${message.kind}: ${message.text})`;
  const lie = falseMark(sent, message);
  if (lie) return lie;
  if (
    sent.postcode?.replace(/ /g, '').toUpperCase() !== postcode &&
    !sent.postcode?.includes(' 9 ')
  ) {
    return `another postcode: ${at}`;
  }
  const isPasted = sent.postcode?.includes(' 9 ');
  if (!isPasted && numberOf(sent) !== number) return `another number: ${at}`;
  const isTaken = page.host.lacks !== 'toevoeging' || !isSplit;
  if (!isText(sent.straat, place[0]) || !isText(sent.woonplaats, place[1])) {
    return `no street, or another: ${at}`;
  }
  if (isTaken && message.kind !== 'ok') return `no mark: ${at}`;
  if (!isTaken && message.kind !== 'ask') return `no text: ${at}`;
  return undefined;
}

const b = (name: string): [string, string] => [name, name === 'Dorpsweg' ? 'Dorp' : 'Weesp'];

export const formActions: FormAction[] = [
  {
    name: 'fill',
    async act(page) {
      await page.found();
      return await must(page, '9', b('Buitenveer'));
    },
  },
  {
    name: '9 a in the number',
    async act(page) {
      await page.found('9 a');
      return await must(page, '9 A', b('Buitenkade'), { isSplit: true });
    },
  },
  {
    name: 'another number by keyboard',
    async act(page) {
      await page.found('9 a');
      await page.type('huisnummer', '12');
      return await must(page, '12', b('Achtergracht'));
    },
  },
  {
    name: 'another postcode by keyboard',
    async act(page) {
      await page.found();
      await page.type('postcode', '1234ab');
      return await must(page, '9', b('Dorpsweg'), { postcode: '1234AB' });
    },
  },
  {
    name: 'another toevoeging by keyboard',
    async act(page) {
      if (!(await page.has('toevoeging')) || page.host.lacks === 'toevoeging') {
        await page.found('9 a');
        await page.type('huisnummer', '9 b');
        return await must(page, '9 B', b('Buitenhof'), { isSplit: true });
      }
      await page.found('9 a');
      await page.type('toevoeging', 'b');
      return await must(page, '9 B', b('Buitenhof'));
    },
  },
  {
    name: 'another street by keyboard',
    async act(page) {
      await page.found();
      if (page.host.lacks === 'straat') return undefined;
      await page.type('straat', 'Eigen weg');
      await page.settled();
      const sent = await page.submitted();
      const { kind } = await page.message();
      if (!isText(sent.straat, 'Eigen weg')) return `the street is lost: ${JSON.stringify(sent)}`;
      return kind === 'ok' ? 'a mark over another street' : undefined;
    },
  },
  {
    name: 'a whole address pasted',
    async act(page) {
      const field = page.field('postcode');
      await field.focus();
      await page.page.keyboard.insertText('1381 AA 9 a');
      await page.page.keyboard.press('Tab');
      return await must(page, '9 A', b('Buitenkade'), { isSplit: true });
    },
  },
  {
    name: 'another number by script, with events',
    async act(page) {
      await page.found();
      await page.set('huisnummer', '12', true);
      await page.settled();
      // A page that takes values on blur sends another number than its field shows.
      const held = await page.held();
      const isStale = isText(held.straat, 'Buitenveer');
      return (
        falseMark(held, await page.message()) ?? (isStale ? 'the street of another' : undefined)
      );
    },
  },
  {
    name: 'another number by script, without events',
    async act(page, server) {
      await page.found();
      const before = server.lookups.length;
      await page.set('huisnummer', '12', false);
      await page.settled();
      const lie = falseMark(await page.held(), await page.message());
      return lie ?? (server.lookups.length > before ? 'a lookup without an event' : undefined);
    },
  },
  {
    name: 'another street by script, without events',
    async act(page) {
      await page.found();
      await page.set('straat', 'Eigen weg', false);
      await page.settled();
      const { kind } = await page.message();
      const held = await page.field('straat').evaluate(shownIn);
      if (!isText(held, 'Eigen weg')) return `the street is ${held}`;
      return kind === 'ok' ? 'a mark over another street' : undefined;
    },
  },
  {
    name: 'Back, and Tab',
    async act(page, server) {
      await page.found('9 a');
      const url = page.page.url();
      await page.page.goto(new URL('/other', url).href);
      const before = server.lookups.length;
      await page.page.goBack();
      await page.field('huisnummer').waitFor();
      await page.settled();
      // A browser brings back what fields held, of which the model of a page may know nothing.
      const lie = falseMark(await page.held(), await page.message());
      const back = await page.held();
      await page.field('huisnummer').focus();
      await page.page.keyboard.press('Tab');
      await page.settled();
      const after = await page.held();
      if (server.lookups.length > before) return 'a lookup after Back';
      if (JSON.stringify(after) !== JSON.stringify(back))
        return `Tab changed ${JSON.stringify([back, after])}`;
      return lie ?? falseMark(await page.held(), await page.message());
    },
  },
  {
    name: 'reset',
    async act(page) {
      await page.found('9 a');
      await page.field('huisnummer').evaluate((field) => {
        const { form } = field as unknown as { form?: { reset(): void } };
        (
          form ?? (field as unknown as { closest(name: string): { reset(): void } }).closest('form')
        ).reset();
      });
      await page.settled();
      const lie = falseMark(await page.held(), await page.message());
      if (lie) return lie;
      await page.found();
      // Some frameworks write what they hold into their fields again. Others don't notice a reset,
      // and send what no field shows.
      const { toevoeging = '' } = await page.held();
      const isAsBefore = toevoeging.toLowerCase() === 'a';
      const read = () => page.held();
      return isAsBefore
        ? await must(page, '9 A', b('Buitenkade'), { isSplit: true, read })
        : await must(page, '9', b('Buitenveer'), { read });
    },
  },
  {
    name: 'submit twice',
    async act(page) {
      await page.found('9 a');
      await page.field('huisnummer').evaluate((field) => {
        type Form = {
          requestSubmit(): void;
          addEventListener(type: string, act: (event: Event) => void): void;
        };
        const { form } = field as unknown as { form?: Form };
        const at = form ?? (field as unknown as { closest(name: string): Form }).closest('form');
        at.addEventListener('submit', (event) => event.preventDefault());
        at.requestSubmit();
        at.requestSubmit();
      });
      return await must(page, '9 A', b('Buitenkade'), { isSplit: true });
    },
  },
  {
    name: 'an answer while somebody types the street',
    async act(page) {
      if (page.host.lacks === 'straat') return undefined;
      const { promise: isTyping, resolve: answer } = Promise.withResolvers<void>();
      await page.page.route('**/adres?*', async (route) => {
        await isTyping;
        await route.continue().catch(() => undefined);
      });
      await page.type('postcode', '1381AA');
      await page.type('huisnummer', '9');
      await page.type('straat', 'Eigen weg', answer);
      await page.settled();
      const sent = await page.submitted();
      const { kind } = await page.message();
      if (!isText(sent.straat, 'Eigen weg')) return `the street is lost: ${JSON.stringify(sent)}`;
      return kind === 'ok' ? 'a mark over another street' : undefined;
    },
  },
];

/** What is wrong in a case, `undefined` if all is right. */
async function runCase(
  browser: Browser,
  server: FormServer,
  host: FormHost,
  action: FormAction,
): Promise<string | undefined> {
  const context = await browser.newContext();
  const page = await context.newPage();
  const errors: string[] = [];
  page.on('pageerror', (error) => errors.push(`the page throws: ${error.message}`));
  try {
    await page.goto(`${server.url}/${formHosts.indexOf(host)}/`);
    await page.waitForTimeout(300);
    const at = new HostPage(page, host);
    const { url } = server;
    const own = { ...server, url, lookups: [] as string[] };
    page.on('request', (request) => {
      if (request.url().includes('/adres?')) own.lookups.push(request.url());
    });
    const wrong = await action.act(at, own);
    return wrong ?? errors[0];
  } catch (error) {
    return `${errors[0] ?? ''} ${error instanceof Error ? error.message.split('\n')[0] : error}`.trim();
  } finally {
    await context.close();
  }
}

export type FormCase = { host: FormHost; action: FormAction };

/** Runs several cases at once, since each mostly waits; `done` gets what is wrong in each. */
export async function runCases(
  browser: Browser,
  server: FormServer,
  cases: readonly FormCase[],
  done: (one: FormCase, wrong: string | undefined) => void,
): Promise<void> {
  const left = [...cases];
  const work = async () => {
    for (let next = left.shift(); next; next = left.shift()) {
      done(next, await runCase(browser, server, next.host, next.action));
    }
  };
  await Promise.all(Array.from({ length: 7 }, work));
}
