import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { because as browserBecause, browserForTests } from '../../support/browser.ts';
import { missingBrowser } from '../../support/chromium.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { installTools } from '../../support/install-tools.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { isFullSweep } from '../../support/sweep.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const folder = path('../../../node_modules/.cache/form-frameworks');
/** The frameworks are installed when a full sweep needs them. */
const isHere =
  isFullSweep && missingBrowser === undefined && (await installTools(path('frameworks'), folder));
const inFrameworks = isHere ? it : it.skip;
const because = isHere
  ? ''
  : browserBecause ||
    ` (skipped: ${isFullSweep ? 'the npm registry does not answer' : 'only in a full sweep'})`;

const fields = ['naam', 'postcode', 'huisnummer', 'toevoeging', 'straat', 'woonplaats'];
const place = { straat: 'Damrak', woonplaats: 'Amsterdam' };

/** The route of the page: number 24 has toevoegingen, number 147 and number 14 with 7 have none. */
function answer(query: URLSearchParams) {
  const address = [query.get('huisnummer'), query.get('toevoeging')].join(' ').trim();
  const toevoegingen =
    { '24': [null, 'A', 'B'], '147': [null], '14': [null, '7'] }[address.split(' ')[0] ?? ''] ?? [];
  const exists = ['24', '24 A', '24 B', '147', '14', '14 7'].includes(address);
  return exists
    ? { status: 'ok', address: place, toevoegingen }
    : { status: 'not_found', toevoegingen };
}

const react = (binding: string) => `
  import { createElement as make, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  const fields = ${JSON.stringify(fields)};
  function Form() {
    const [form, setForm] = useState(Object.fromEntries(fields.map((name) => [name, ''])));
    const input = (name) => make('label', { key: name }, name, make('input', { name, ${binding} }));
    return make('form', { onSubmit: (event) => { event.preventDefault(); order(form); } },
      make('bag-adres-form', { lookup: '/adres' }, fields.map(input)), make('button', null, 'Bestel'));
  }
  createRoot(document.body.appendChild(document.createElement('main'))).render(make(Form));`;

const vue = (model: string) => `
  import { createApp, reactive } from 'vue/dist/vue.esm-bundler.js';
  const app = createApp({
    setup: () => ({ form: reactive(Object.fromEntries(${JSON.stringify(fields)}.map((name) => [name, '']))), order }),
    template: \`<form @submit.prevent="order(form)"><bag-adres-form lookup="/adres">${fields
      .map((name) => `<label>${name}<input name="${name}" ${model}="form.${name}"></label>`)
      .join('')}</bag-adres-form><button>Bestel</button></form>\`,
  });
  app.config.compilerOptions.isCustomElement = (tag) => tag === 'bag-adres-form';
  app.mount(document.body.appendChild(document.createElement('main')));`;

const knockout = (binding: string) => `
  import ko from 'knockout';
  const form = Object.fromEntries(${JSON.stringify(fields)}.map((name) => [name, ko.observable('')]));
  document.body.innerHTML = \`<form data-bind="submit: send"><bag-adres-form lookup="/adres">${fields
    .map((name) => `<label>${name}<input name="${name}" data-bind="${binding}: ${name}"></label>`)
    .join('')}</bag-adres-form><button>Bestel</button></form>\`;
  ko.applyBindings({ ...form, send: () => order(ko.toJS(form)) });`;

const plain = `
  document.body.innerHTML = \`<form><bag-adres-form lookup="/adres">${fields
    .map((name) => `<label>${name}<input name="${name}"></label>`)
    .join('')}</bag-adres-form><button>Bestel</button></form>\`;
  document.forms[0].onsubmit = (event) => { event.preventDefault(); order(Object.fromEntries(new FormData(event.target))); };`;

const pages: Record<string, string> = {
  'React, with a state that the whole form shares': react(
    'value: form[name], onChange: ({ target }) => setForm({ ...form, [target.name]: target.value })',
  ),
  'React, with values that are taken when a field is left': react(
    'defaultValue: "", onBlur: ({ target }) => setForm((last) => ({ ...last, [target.name]: target.value }))',
  ),
  'Vue, with v-model': vue('v-model'),
  'Vue, with v-model.lazy': vue('v-model.lazy'),
  'Knockout, with textInput': knockout('textInput'),
  'Knockout, with value': knockout('value'),
  'no framework': plain,
};

const chromium = browserForTests();
const ordered: string[] = [];
const server = startForTests(() =>
  startHttpServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const name = Object.keys(pages)[Number(pathname.slice(1))] ?? '';
    response.setHeader('Content-Type', 'text/html; charset=utf-8');
    if (request.method === 'POST') {
      ordered.push(await text(request));
      response.end();
    } else if (pathname === '/adres') response.end(JSON.stringify(answer(searchParams)));
    else if (pathname === '/bag-adres-form.js') {
      response.setHeader('Content-Type', 'text/javascript');
      response.end(readFileSync(path('../../../packages/form/bag-adres-form.js')));
    } else {
      const contents = `const order = (form) => fetch('/', { method: 'POST', body: JSON.stringify(form) });${pages[name] ?? ''}`;
      const { outputFiles } = await build({
        stdin: { contents, resolveDir: folder },
        bundle: true,
        write: false,
        format: 'esm',
        define: { 'process.env.NODE_ENV': '"production"' },
        logLevel: 'silent',
      });
      const script = (outputFiles[0]?.text ?? '').replaceAll('</script', '<\\/script');
      response.end(`<!doctype html><html lang="nl"><title>${name}</title><body>
      <script type="module">${script}</script><script type="module" src="/bag-adres-form.js"></script>`);
    }
  }),
);

async function type(page: Page, values: Record<string, string>): Promise<void> {
  for (const [name, value] of Object.entries(values)) {
    await page.locator(`[name=${name}]`).fill(value);
    await page.keyboard.press('Tab');
  }
}

/**
 * Types in a field beside the address, so that everything is rendered again, and sends the form.
 */
async function order(page: Page): Promise<Record<string, string>> {
  await page.getByRole('status').getByText('Damrak').waitFor();
  await page.locator('[name=naam]').fill('Kim');
  await page.locator('[name=naam]').pressSequentially(' Klant');
  const shown = await page
    .locator('input')
    .evaluateAll((inputs) =>
      Object.fromEntries(
        (inputs as { name: string; value: string }[]).map(({ name, value }) => [name, value]),
      ),
    );
  const sent = page.waitForRequest((request) => request.method() === 'POST');
  await page.getByRole('button', { name: 'Bestel' }).click();
  const order = JSON.parse((await sent).postData() ?? '');
  expect(order).toEqual(shown);
  return order;
}

describe.each(Object.keys(pages))('a form in %s', (name) => {
  inFrameworks(
    `sends what it shows: what was filled in, chosen from the list, or read from the number${because}`,
    async () => {
      const page = await chromium.browser?.newPage();
      if (!page) throw new Error('there is a browser');
      const at = `${server.url}/${Object.keys(pages).indexOf(name)}`;
      const address = { naam: 'Kim Klant', postcode: '1012RJ', ...place };

      await page.goto(at);
      await type(page, { postcode: '1012RJ', huisnummer: '147' });
      expect(await order(page)).toEqual({ ...address, huisnummer: '147', toevoeging: '' });

      await page.goto(at);
      await type(page, { postcode: '1012RJ', huisnummer: '24' });
      await page.getByRole('status').getByText('Damrak 24,').waitFor();
      const addition = page.getByRole('combobox');
      await addition.focus();
      await addition.press('ArrowDown');
      await addition.press('ArrowDown');
      await addition.press('Enter');
      await page.getByRole('status').getByText('Damrak 24 A,').waitFor();
      expect(await order(page)).toEqual({ ...address, huisnummer: '24', toevoeging: 'A' });

      await page.goto(at);
      await type(page, { postcode: '1012RJ', huisnummer: '14 7' });
      expect(await order(page)).toEqual({ ...address, huisnummer: '14', toevoeging: '7' });
      await page.close();
    },
  );
});
