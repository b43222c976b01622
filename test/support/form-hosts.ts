import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { installTools } from './install-tools.ts';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const folder = path('../../node_modules/.cache/form-frameworks');

/** Installs the frameworks of the hosts; whether the registry or npm's cache had them. */
export const installFrameworks = () => installTools(path('../packages/form/frameworks'), folder);

export const fieldNames = [
  'naam',
  'postcode',
  'huisnummer',
  'toevoeging',
  'straat',
  'woonplaats',
] as const;
const list = JSON.stringify(fieldNames);

/** A kind of page that has the form element. */
export type FormHost = {
  name: string;
  /** Whether it needs a framework. */
  needs?: 'framework';
  /** The contents of `body`. */
  body?: string;
  /** The module of the page, before or after the script of the element. */
  script?: string;
  /** A module whose packages are bundled. */
  bundled?: string;
  /** A Svelte component, bundled. */
  svelte?: string;
  headers?: Record<string, string>;
  /** What its toevoeging does not take from a script. */
  lacks?: 'toevoeging' | 'straat';
  /** Whether its fields have no elements of HTML, so that nothing comes back on Back. */
  isOwn?: boolean;
  /** Whether it takes a value when its field is left, as whoever sends the form leaves it. */
  takesOnBlur?: boolean;
  /** The element is in an `iframe`. */
  isFramed?: boolean;
};

type Field = (name: string) => string;
const input: Field = (name) => `<label>${name} <input name="${name}"></label>`;
const form = (field: Field = input, attributes = '', before = '') =>
  `<form>${before}<bag-adres-form lookup="/adres" ${attributes}>${fieldNames.map(field).join('')}</bag-adres-form><button>Bestel</button></form>`;
const instead =
  (name: string, html: string): Field =>
  (one) =>
    one === name ? html : input(one);
const moduleTag = '<script type="module" src="/bag-adres-form.js"></script>';
/** Sends what a page that keeps the values itself would send. */
const keep = (values: string) => `window.submitted = () => ({ ...${values} });`;

const react = (state: string, props: string) => `
  import { createElement as make, StrictMode, useState } from 'react';
  import { createRoot } from 'react-dom/client';
  const names = ${list};
  function Form() {
    ${state}
    const input = (name) => make('label', { key: name }, name, make('input', { name, ${props} }));
    return make('form', { onSubmit: (event) => event.preventDefault() },
      make('bag-adres-form', { lookup: '/adres' }, names.map(input)), make('button', null, 'Bestel'));
  }
  createRoot(document.querySelector('main')).render(make(StrictMode, null, make(Form)));`;
const each = `
    const all = Object.fromEntries(names.map((name) => [name, useState('')]));
    window.submitted = () => Object.fromEntries(names.map((name) => [name, all[name][0]]));`;
const shared = `
    const [form, setForm] = useState(Object.fromEntries(names.map((name) => [name, ''])));
    ${keep('form')}`;

const vue = (model: string) => `
  import { createApp, reactive } from 'vue/dist/vue.esm-bundler.js';
  const form = reactive(Object.fromEntries(${list}.map((name) => [name, ''])));
  ${keep('form')}
  const app = createApp({ setup: () => ({ form }), template: \`<form @submit.prevent><bag-adres-form lookup="/adres">${fieldNames
    .map((name) => `<label>${name}<input name="${name}" ${model}="form.${name}"></label>`)
    .join('')}</bag-adres-form><button>Bestel</button></form>\` });
  app.config.compilerOptions.isCustomElement = (tag) => tag === 'bag-adres-form';
  app.mount('main');`;

const knockout = (binding: string) => `
  import ko from 'knockout';
  const form = Object.fromEntries(${list}.map((name) => [name, ko.observable('')]));
  window.submitted = () => ko.toJS(form);
  document.querySelector('main').innerHTML = \`<form data-bind="submit: () => false"><bag-adres-form lookup="/adres">${fieldNames
    .map((name) => `<label>${name}<input name="${name}" data-bind="${binding}: ${name}"></label>`)
    .join('')}</bag-adres-form><button>Bestel</button></form>\`;
  ko.applyBindings(form);`;

const svelte = `
  <script>
    let form = $state(Object.fromEntries(${list}.map((name) => [name, ''])));
    window.submitted = () => ({ ...$state.snapshot(form) });
  </script>
  <form onsubmit={(event) => event.preventDefault()}><bag-adres-form lookup="/adres">
    {#each ${list.replaceAll('"', "'")} as name (name)}<label>{name}<input {name} bind:value={form[name]}></label>{/each}
  </bag-adres-form><button>Bestel</button></form>`;

/** Elements of the page that inherit the accessor `value`, with an input in a shadow root. */
const ownFields = `
  class Base extends HTMLElement {
    get value() { return this.shadowRoot.querySelector('input').value; }
    set value(text) { this.shadowRoot.querySelector('input').value = text; this.keep(); }
  }
  class MyInput extends Base {
    static formAssociated = true;
    internals = this.attachInternals();
    constructor() {
      super();
      this.attachShadow({ mode: 'open', delegatesFocus: true }).append(document.createElement('input'));
      this.shadowRoot.addEventListener('input', () => this.keep());
    }
    keep() { this.internals.setFormValue(this.value); }
    formResetCallback() { this.value = ''; }
  }
  customElements.define('my-input', MyInput);`;

const mask = (name: string, act: string, type = 'input') =>
  `document.querySelector('[name=${name}]').addEventListener('${type}', ({ target }) => { ${act} });`;

/** Runs once the page is there: what a page does to the element in its life. */
const later = (act: string) => `
  const element = document.querySelector('bag-adres-form');
  await customElements.whenDefined('bag-adres-form');
  await new Promise((done) => setTimeout(done, 50));
  ${act}
  await new Promise((done) => setTimeout(done, 50));`;

const strict =
  "default-src 'none'; script-src 'self'; connect-src 'self'; form-action 'self'; require-trusted-types-for 'script'; trusted-types 'none'";

export const formHosts: FormHost[] = [
  { name: 'own fields', body: form() },
  {
    name: 'fields by data-adres',
    body: form((name) => `<label>${name} <input name="${name}" data-adres="${name}"></label>`),
  },
  {
    name: 'React, a state for each field',
    needs: 'framework',
    bundled: react(
      each,
      'value: all[name][0], onChange: ({ target }) => all[name][1](target.value)',
    ),
  },
  {
    name: 'React, one shared state',
    needs: 'framework',
    bundled: react(
      shared,
      'value: form[name], onChange: ({ target }) => setForm({ ...form, [target.name]: target.value })',
    ),
  },
  {
    name: 'React, values taken on blur',
    needs: 'framework',
    takesOnBlur: true,
    bundled: react(
      shared,
      'defaultValue: "", onBlur: ({ target }) => setForm((last) => ({ ...last, [target.name]: target.value }))',
    ),
  },
  { name: 'Vue, v-model', needs: 'framework', bundled: vue('v-model') },
  { name: 'Vue, v-model.lazy', needs: 'framework', bundled: vue('v-model.lazy') },
  { name: 'Svelte, bind:value', needs: 'framework', svelte },
  { name: 'Knockout, textInput', needs: 'framework', bundled: knockout('textInput') },
  { name: 'Knockout, value', needs: 'framework', bundled: knockout('value') },
  {
    name: 'Alpine, x-model',
    needs: 'framework',
    bundled: `
      import Alpine from 'alpinejs';
      document.querySelector('main').innerHTML = \`<form x-data="form" x-on:submit.prevent><bag-adres-form lookup="/adres">${fieldNames
        .map((name) => `<label>${name}<input name="${name}" x-model="${name}"></label>`)
        .join('')}</bag-adres-form><button>Bestel</button></form>\`;
      Alpine.data('form', () => ({ ...Object.fromEntries(${list}.map((name) => [name, ''])), init() {
        window.submitted = () => Object.fromEntries(${list}.map((name) => [name, this[name]])); } }));
      Alpine.start();`,
  },
  {
    name: 'jQuery, which triggers change',
    needs: 'framework',
    body: form(),
    bundled: `
      import $ from 'jquery';
      window.setByPage = (name, value) => $('[name=' + name + ']').val(value).trigger('input').trigger('change');
      $('form').on('submit', (event) => event.preventDefault());`,
  },
  {
    name: 'htmx, which swaps the fields',
    needs: 'framework',
    body: `<form hx-post="/echo" hx-trigger="change from:[name=naam]" hx-target="find .swapped" hx-swap="innerHTML"><bag-adres-form lookup="/adres"><div class="swapped">${fieldNames.map(input).join('')}</div></bag-adres-form><button>Bestel</button></form>`,
    bundled: `import htmx from 'htmx.org'; htmx.config.includeIndicatorStyles = false; document.forms[0].onsubmit = () => false;`,
  },
  {
    name: 'own elements with an inherited accessor',
    isOwn: true,
    body: form((name) => `<label>${name} <my-input name="${name}"></my-input></label>`),
    script: ownFields,
  },
  {
    name: 'a select of toevoegingen',
    body: form(
      instead(
        'toevoeging',
        '<label>toevoeging <select name="toevoeging"><option value="">geen</option><option>A</option><option>B</option></select></label>',
      ),
    ),
  },
  {
    name: 'a select without the toevoeging',
    lacks: 'toevoeging',
    body: form(
      instead(
        'toevoeging',
        '<label>toevoeging <select name="toevoeging"><option value="">geen</option><option>bis</option></select></label>',
      ),
    ),
  },
  {
    name: 'a select of streets',
    body: form(
      instead(
        'straat',
        `<label>straat <select name="straat"><option value=""></option>${['Buitenveer', 'Buitenkade', 'Buitenhof', 'Achtergracht', 'Dorpsweg', 'Eigen weg'].map((name, index) => `<option value="${index}">${name}</option>`).join('')}</select></label>`,
      ),
    ),
    script:
      "window.submitted = () => { const all = Object.fromEntries(new FormData(document.forms[0])); const { text } = document.querySelector('select').selectedOptions[0]; return { ...all, straat: text }; };",
  },
  {
    name: 'a toevoeging of digits, by a mask',
    lacks: 'toevoeging',
    body: form(),
    script: mask('toevoeging', "target.value = target.value.replace(/\\D/g, '');"),
  },
  {
    name: 'a toevoeging of digits, by type',
    lacks: 'toevoeging',
    body: form(
      instead('toevoeging', '<label>toevoeging <input type="number" name="toevoeging"></label>'),
    ),
  },
  {
    name: 'a toevoeging of digits, by pattern',
    lacks: 'toevoeging',
    body: form(
      instead('toevoeging', '<label>toevoeging <input pattern="[0-9]*" name="toevoeging"></label>'),
    ),
  },
  {
    name: 'a toevoeging of no characters, by maxlength',
    lacks: 'toevoeging',
    body: form(
      instead('toevoeging', '<label>toevoeging <input maxlength="0" name="toevoeging"></label>'),
    ),
  },
  {
    name: 'a toevoeging that empties itself late',
    lacks: 'toevoeging',
    body: form(),
    script: mask(
      'toevoeging',
      "setTimeout(() => { target.value = target.value.replace(/\\D/g, ''); }, 200);",
    ),
  },
  {
    name: 'masks that write in capitals',
    body: form(),
    script: ['toevoeging', 'straat', 'woonplaats', 'postcode']
      .map((name) => mask(name, 'target.value = target.value.toUpperCase();'))
      .join(''),
  },
  {
    name: 'a mask on blur that puts a space into the postcode',
    body: form(),
    script: mask(
      'postcode',
      "target.value = target.value.replace(/^(\\d{4}) ?([a-z]{2})$/i, '$1 $2').toUpperCase();",
      'blur',
    ),
  },
  { name: 'no toevoeging', body: form((name) => (name === 'toevoeging' ? '' : input(name))) },
  {
    name: 'a street that may not be edited',
    lacks: 'straat',
    body: form(instead('straat', '<label>straat <input readonly name="straat"></label>')),
  },
  {
    name: 'fields that are their own form by form=',
    body: `<form id="order"></form><bag-adres-form lookup="/adres">${fieldNames
      .map((name) => `<label>${name} <input form="order" name="${name}"></label>`)
      .join('')}</bag-adres-form><button form="order">Bestel</button>`,
  },
  {
    name: 'in a shadow root',
    script: `
      const host = document.createElement('div');
      host.attachShadow({ mode: 'open' }).innerHTML = \`${form()}\`;
      document.querySelector('main').append(host);
      window.submitted = () => Object.fromEntries(new FormData(host.shadowRoot.querySelector('form')));`,
  },
  { name: 'in a frame', isFramed: true, body: form() },
  {
    name: 'in another document',
    isFramed: true,
    body: form(),
    script: later(`
      const frame = document.createElement('iframe');
      document.querySelector('main').append(frame);
      frame.contentDocument.body.append(document.querySelector('form'));`),
  },
  {
    name: 'inserted later',
    script: later(`document.querySelector('main').innerHTML = \`${form()}\`;`),
  },
  {
    name: 'moved',
    body: `${form()}<div></div>`,
    script: later("document.querySelector('div').append(document.forms[0]);"),
  },
  {
    name: 'removed, and inserted again',
    body: form(),
    script: later(`
      const parent = element.parentNode;
      element.remove();
      await new Promise((done) => setTimeout(done, 100));
      parent.prepend(element);`),
  },
  {
    name: 'cloned',
    body: form(),
    script: later('document.forms[0].replaceWith(document.forms[0].cloneNode(true));'),
  },
  {
    name: 'defined twice',
    body: form(),
    script: "await import('/bag-adres-form.js?again');",
  },
  {
    name: 'disabled at first',
    body: `<form><fieldset disabled><bag-adres-form lookup="/adres">${fieldNames.map(input).join('')}</bag-adres-form></fieldset><button>Bestel</button></form>`,
    script: later("document.querySelector('fieldset').disabled = false;"),
  },
  {
    name: 'without constructable style sheets',
    body: `<script>delete window.CSSStyleSheet.prototype.replaceSync;</script>${form()}`,
  },
  { name: 'under a strict policy', body: form(), headers: { 'Content-Security-Policy': strict } },
  {
    name: 'one in another',
    body: `<form><bag-adres-form lookup="/adres">${form().replace(/<\/?form>/g, '')}</bag-adres-form></form>`,
  },
  { name: 'two in a page', body: `${form()}${form().replace('<form>', '<form id="second">')}` },
  {
    name: 'a lookup with a query',
    body: form(input).replace('lookup="/adres"', 'lookup="/adres?shop=1"'),
  },
  {
    name: 'React, rendered on a server',
    needs: 'framework',
    bundled: `
      import { createElement as make } from 'react';
      import { hydrateRoot } from 'react-dom/client';
      const input = (name) => make('label', { key: name }, name, make('input', { name, defaultValue: '' }));
      const form = make('form', { onSubmit: (event) => event.preventDefault() }, make('bag-adres-form', { lookup: '/adres' }, ${list}.map(input)), make('button', null, 'Bestel'));
      hydrateRoot(document.querySelector('main'), form, { onRecoverableError: (error) => { window.hydration = String(error); } });
      window.submitted = () => ({ ...Object.fromEntries(new FormData(document.forms[0])), ...(window.hydration ? { naam: window.hydration } : {}) });`,
  },
];

const installed = (name: string) => createRequire(`${folder}/package.json`)(name);

/** The markup that a server renders for hydration. */
async function rendered(): Promise<string> {
  const { createElement: make } = installed('react');
  const { renderToString } = installed('react-dom/server');
  const field = (name: string) =>
    make('label', { key: name }, name, make('input', { name, defaultValue: '' }));
  const element = make('bag-adres-form', { lookup: '/adres' }, fieldNames.map(field));
  return renderToString(make('form', {}, element, make('button', null, 'Bestel')));
}

async function bundle({ bundled = '', svelte: component }: FormHost): Promise<string> {
  let contents = bundled;
  if (component) {
    const { compile } = installed('svelte/compiler');
    const { js } = compile(component, { generate: 'client', name: 'Form' });
    contents = `${js.code}\nimport { mount as mountForm } from 'svelte';\nmountForm(Form, { target: document.querySelector('main') });`;
  }
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder },
    bundle: true,
    write: false,
    format: 'esm',
    conditions: ['browser', 'development'],
    define: { 'process.env.NODE_ENV': '"development"' },
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

/** The files of a host: its page, and its script. */
export async function pageOf(host: FormHost): Promise<{ page: string; script: string }> {
  const isHydrated = host.name === 'React, rendered on a server';
  const body = isHydrated ? await rendered() : (host.body ?? '');
  const head = `<!doctype html><html lang="nl"><meta charset="utf-8"><title>${host.name}</title><body>`;
  const page = `${head}<main>${body}</main><script type="module" src="page.js"></script>${moduleTag}`;
  const isBundled = host.bundled !== undefined || host.svelte !== undefined;
  const script = isBundled ? await bundle(host) : (host.script ?? '');
  return { page, script };
}
