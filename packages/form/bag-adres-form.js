/**
 * <bag-adres-form lookup="/adres"> completes the address in its fields, by a route of the page's
 * own server.
 */

const asked = ['postcode', 'huisnummer', 'toevoeging'];
const found = ['straat', 'woonplaats', 'gemeente'];

const texts = {
  nl: {
    postcode: 'Postcode',
    huisnummer: 'Huisnummer',
    toevoeging: 'Toevoeging',
    straat: 'Straat',
    woonplaats: 'Woonplaats',
    hint: 'Vul de postcode en het huisnummer in. Wij zoeken de straat en de woonplaats erbij.',
    none: 'geen',
    several: 'Er zijn meer adressen met dit nummer. Welk is het?',
    needsToevoeging: 'Bij dit huisnummer hoort een toevoeging: {}.',
    unknownToevoeging: 'Toevoeging {} staat hier niet in het register.',
    notFound:
      'Dit adres staat niet in het register. Controleer het, of vul de straat en de woonplaats zelf in.',
    slow: 'We zoeken het adres op ...',
    unavailable: 'We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.',
    differs: 'Volgens het register is dit {}.',
    take: 'Overnemen',
    yes: 'Ja',
    own: 'Klopt niet? Zelf invullen',
    'wrong-postcode': 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
    'wrong-huisnummer':
      'Controleer het huisnummer: een getal van 1 tot 99999. De toevoeging staat ernaast.',
  },
  en: {
    postcode: 'Postcode',
    huisnummer: 'House number',
    toevoeging: 'Addition',
    straat: 'Street',
    woonplaats: 'Town',
    hint: 'Type the postcode and the house number. We look up the street and the town.',
    none: 'none',
    several: 'There are several addresses with this number. Which one is it?',
    needsToevoeging: 'This house number has an addition: {}.',
    unknownToevoeging: "The register doesn't have addition {} here.",
    notFound:
      "The register doesn't have this address. Check it, or type the street and the town yourself.",
    slow: 'Looking up the address ...',
    unavailable: "We can't look up the address now. Type the street and the town yourself.",
    differs: 'According to the register this is {}.',
    take: 'Use it',
    yes: 'Yes',
    own: 'Not right? Type it yourself',
    'wrong-postcode': 'Check the postcode: four digits and two letters, such as 1012 JS.',
    'wrong-huisnummer':
      'Check the house number: a number from 1 to 99999. The addition is beside it.',
  },
};

/** Towns whose name in the register (2026) people don't use. */
const townNames = { DENHAAG: 'SGRAVENHAGE', THEHAGUE: 'SGRAVENHAGE', DENBOSCH: 'SHERTOGENBOSCH' };

/** Milliseconds. */
const pause = 600;
const slow = 1_000;
const patience = 4_000;

/** Made without HTML, which the policy of a page may forbid. */
function make(tag, attributes, ...content) {
  const made = document.createElement(tag);
  for (const name in attributes) made.setAttribute(name, attributes[name]);
  made.append(...content);
  return made;
}

const tidy = (text = '') => text.replace(/[\s\u200b]+/g, ' ').trim();
const plain = (text = '') =>
  text
    .normalize('NFD')
    .replace(/[^a-z0-9]/gi, '')
    .toUpperCase();

/** The number that a text begins with, and what follows it: 14 and 7 for `14 7`, never 147. */
function split(text) {
  const [, number, rest = ''] = /^0*([1-9]\d{0,4})(?!\d)[\s\-–—/.,]*(.*)$/.exec(text) ?? [];
  return { number, rest };
}

/**
 * A toevoeging that the register may have; `undefined` for any other, such as `A/B`, `1 2` or
 * `tweehoog`.
 */
function registerForm(text) {
  const isOne = /^[a-z0-9 .-]*$/i.test(text) && !/\d[ .-]+\d|[a-z] ?- ?[a-z]/i.test(text);
  return isOne && plain(text).length < 6 ? plain(text) : undefined;
}

/** The answer of the route, if it is one. */
function checked(answer) {
  const { status, address, candidates, toevoegingen = [] } = answer ?? {};
  const places = { ok: [address], ambiguous: candidates, not_found: [], invalid: [] }[status];
  const isPlace = (place) =>
    typeof place?.straat === 'string' && typeof place.woonplaats === 'string';
  const isRight = Array.isArray(places) && places.every(isPlace) && Array.isArray(toevoegingen);
  if (!isRight) return { status: 'unavailable' };
  const named = places.map((one) => ({ ...one, gemeente: String(one.gemeente?.naam ?? '') }));
  return { ...answer, places: named, toevoegingen: toevoegingen.map((one) => one && String(one)) };
}

/** In the colours of the page, light or dark. */
const vars = `
  --accent: color-mix(in srgb, var(--bag-adres-colour, #0a5cab) 72%, currentColor);
  --bad: color-mix(in srgb, #d01b1b 68%, currentColor);
  --line: 1px solid color-mix(in srgb, currentColor 45%, transparent);
  --round: var(--bag-adres-radius, 0.4rem);`;

const shadowCss = `
  :host { ${vars} display: grid; position: relative; gap: 1rem; line-height: 1.5; }
  p { position: relative; box-sizing: border-box; display: grid; align-content: center; margin: 0; padding: 0.5rem 0.875rem; min-height: clamp(6.75rem, 26.5rem - 68vw, 13rem); border-radius: var(--round); background: color-mix(in srgb, var(--tone, currentColor) 7%, transparent); overflow-wrap: anywhere; }
  .ok { --tone: color-mix(in srgb, #0b8043 72%, currentColor); --icon: '✓'; }
  .ask { --tone: var(--accent); --icon: '?'; }
  .wrong { --tone: var(--bad); --icon: '!'; }
  p:not(.hint) { padding-inline-start: 3rem; }
  p:not(.hint)::before { content: var(--icon); position: absolute; inset-inline-start: 0.75rem; top: calc(50% - 0.75rem); width: 1.25rem; border: 2px solid; border-radius: 50%; color: var(--tone); font-weight: 700; line-height: 1.25rem; text-align: center; }
  div { display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; }
  button { min-height: 2rem; padding: 0; border: 0; background: none; color: var(--accent); font: inherit; text-align: start; text-decoration: underline; cursor: pointer; }
  .pill { padding: 0 0.75rem; border: 1px solid; border-radius: var(--round); text-decoration: none; }`;

/** For the fields that it makes, and the list that a field refers to. */
const pageCss = `
  :where(bag-adres-form:has(> .bag-adres-row)) { max-width: 36rem; font-family: system-ui, sans-serif; }
  .bag-adres-row { ${vars} display: grid; grid-template-columns: repeat(auto-fit, minmax(6.75rem, 1fr)); gap: 0.75rem; font-weight: 600; }
  .bag-adres-row[slot] { grid-template-columns: repeat(auto-fit, minmax(min(13rem, 100%), 1fr)); }
  .bag-adres-row input, .bag-adres-row ~ button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: 0.5rem 0.75rem; border: var(--line); border-radius: var(--round, 0.4rem); background: Field; color: inherit; font: inherit; }
  .bag-adres-row input { margin-top: 0.25rem; font-weight: 400; }
  .bag-adres-row [aria-invalid] { border: 2px solid var(--bad); }
  .bag-adres-row ~ button { border: 0; background: var(--bag-adres-colour, #0a5cab); color: #fff; font-weight: 600; cursor: pointer; }
  .bag-adres-list { ${vars} position: absolute; z-index: 9; box-sizing: border-box; overflow: auto; max-height: 16rem; padding: 0.25rem; border: var(--line); border-radius: var(--round); background: Canvas; color: CanvasText; box-shadow: 0 0.5rem 1.5rem #0003; }
  .bag-adres-list > * { padding: 0.5rem 0.625rem; cursor: pointer; }
  .bag-adres-list > :hover, .bag-adres-list > [aria-selected='true'] { outline: 2px solid var(--accent); outline-offset: -2px; }`;

const [shadowSheet, pageSheet] = [shadowCss, pageCss].map((css) => {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(css);
  return sheet;
});
let count = 0;

class BagAdresForm extends HTMLElement {
  static formAssociated = true;

  #internals = this.attachInternals();
  #root = this.attachShadow({ mode: 'open' });
  #message = make('p', { part: 'message', role: 'status', dir: 'ltr' });
  #note = make('div', { id: `bag-adres-note-${++count}`, slot: 'place', hidden: '' });
  #list = make('div', {
    id: `bag-adres-list-${count}`,
    slot: 'place',
    hidden: '',
    role: 'listbox',
    class: 'bag-adres-list',
  });
  /** Where somebody typed a street or a town. Other values are old once the number changes. */
  #typedIn = new Set();
  #known = new Map();
  /** The address of the latest lookup, `''` once it changed. */
  #current = '';
  /** The lookup whose answer is not too late. */
  #turn = {};
  #timer = 0;
  #hasPaused = false;
  #isPutting = false;
  #isDisabled = false;
  #moved = '';
  #wrong = '';
  #described = '';
  #toevoegingen = [];
  #active = -1;
  #own = {};

  set texts(own) {
    this.#own = own;
  }

  connectedCallback() {
    const { adoptedStyleSheets } = this.getRootNode();
    if (!adoptedStyleSheets.includes(pageSheet)) adoptedStyleSheets.push(pageSheet);
    if (this.#message.isConnected) return;
    this.#root.adoptedStyleSheets = [shadowSheet];
    this.#root.append(make('slot'), this.#message, make('slot', { name: 'place' }));
    if (document.readyState === 'loading')
      document.addEventListener('DOMContentLoaded', () => this.#begin());
    else this.#begin();
  }

  #begin() {
    const { texts: own } = this;
    delete this.texts;
    if (own) this.texts = own;
    if (!this.#field('postcode')) this.#makeFields();
    this.#clear();
    this.#current = this.#key();
    for (const type of ['input', 'change', 'focusin', 'focusout', 'keydown'])
      this.addEventListener(type, this);
    if (this.matches(':disabled')) this.formDisabledCallback(true);
    this.getRootNode().addEventListener('change', ({ target }) => {
      if (target !== this.#countryField()) return;
      this.#forget();
      this.#lookUp();
    });
  }

  handleEvent(event) {
    const { type, target } = event;
    const name = [...asked, ...found].find((one) => target === this.#field(one));
    if (!name || this.#isPutting) return;
    const isToevoeging = name === 'toevoeging';
    if (type === 'input') this.#typed(name);
    else if (type === 'change') this.#left(name);
    else if (type === 'focusin') this.#hasPaused = false;
    else if (type === 'keydown' && isToevoeging) this.#pressed(event);
    if (isToevoeging && type === 'focusout') this.#close();
    if (type === 'focusout' && asked.includes(name) && !this.#wrong) this.#lookUp();
    if (isToevoeging && ['focusin', 'input'].includes(type)) this.#open();
  }

  formResetCallback() {
    this.#typedIn.clear();
    this.#forget();
  }

  formDisabledCallback(isDisabled) {
    this.#isDisabled = isDisabled;
    this.#cancel();
    this.#clear();
    for (const input of this.querySelectorAll('.bag-adres-row input')) input.disabled = isDisabled;
  }

  #forget() {
    this.#cancel();
    this.#unfill();
    this.#offer([]);
    this.#clear();
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#turn = {};
    this.#current = '';
  }

  #typed(name) {
    if (found.includes(name)) this.#typedIn.add(name);
    if (!asked.includes(name) || !this.#isActive()) return;
    // `14 7` that becomes 147 has no toevoeging 7 any more.
    if (name === 'huisnummer' && this.#moved) this.#put('toevoeging', '');
    if (name !== 'postcode') this.#moved = '';
    if (this.#key() === this.#current) return;
    this.#cancel();
    this.#unfill();
    if (name !== 'toevoeging') this.#offer([]);
    if (!this.#wrong || (this.#value(this.#wrong) && this.#isRight(this.#wrong))) this.#clear();
    // Once in a field: slow typing would ask for each digit.
    if (this.#hasPaused) return;
    this.#timer = setTimeout(() => {
      this.#hasPaused = this.#asked() !== undefined;
      this.#lookUp();
    }, pause);
  }

  #left(name) {
    if (!asked.includes(name) || !this.#isActive()) return;
    if (!this.#isRight(name)) return this.#complain(name);
    // The rest moves into a field of its own, to be seen and changed.
    const { number, rest } = split(this.#value('huisnummer'));
    if (name === 'huisnummer' && rest && this.#field('toevoeging')) {
      this.#moved = this.#value('toevoeging') || rest;
      this.#put('huisnummer', number);
      this.#put('toevoeging', this.#moved);
      if (!this.#asked() && !this.#wrong)
        this.#say('hint', [this.#numberText(number, this.#moved)]);
    }
    this.#lookUp();
  }

  async #lookUp() {
    const address = this.#asked();
    if (!address || !this.#isActive()) return;
    const key = this.#key();
    if (key === this.#current) return;
    this.#cancel();
    this.#unfill();
    this.#current = key;
    const turn = this.#turn;
    this.#timer = setTimeout(() => this.#say('hint', [this.#text('slow')]), slow);
    const answer = await this.#find(address);
    if (turn !== this.#turn) return;
    clearTimeout(this.#timer);
    this.#show(answer, address);
    this.dispatchEvent(new CustomEvent('bag-adres', { bubbles: true, detail: answer }));
  }

  /** By at most two requests. `near` is the number's own answer, if its toevoeging is unknown. */
  async #find({ toevoeging, ...number }) {
    const at = JSON.stringify(number);
    const ask = (one) => {
      const query = String(new URLSearchParams({ ...number, toevoeging: one ?? '' }));
      const answer = this.#known.get(query) ?? this.#request(query);
      this.#known.set(query, answer);
      if (!this.#known.has(at)) this.#known.set(at, answer);
      return answer;
    };
    const form = registerForm(toevoeging);
    // A list of 400 may not have all.
    const list = (await this.#known.get(at))?.toevoegingen ?? [];
    const mayExist = list.length === 0 || list.length > 399 || list.includes(form || null);
    const answer = mayExist
      ? await ask(form)
      : { status: 'not_found', places: [], toevoegingen: list };
    const { status, places, toevoegingen } = answer;
    if (!places) this.#known.clear();
    if (!places || status === 'invalid') return answer;
    const isFound = places.length > 0;
    if (isFound && form !== undefined) return answer;
    if (!isFound && (toevoegingen.length === 0 || !toevoeging)) return answer;
    const near = isFound ? answer : await ask(toevoegingen[0]);
    return { ...answer, status: 'not_found', near };
  }

  async #request(query) {
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), patience);
    const sent = fetch(`${this.getAttribute('lookup') ?? '/adres'}?${query}`, {
      signal: stop.signal,
    });
    const answer = checked(await sent.then((response) => response.json()).catch(() => null));
    clearTimeout(timer);
    return answer;
  }

  #show({ status, places, toevoegingen, errors, near }, { toevoeging }) {
    if (status === 'unavailable') {
      this.#current = '';
      return this.#say('wrong', [this.#text('unavailable')]);
    }
    if (status === 'invalid')
      return this.#complain(errors?.[0]?.parameter === 'postcode' ? 'postcode' : 'huisnummer');
    this.#offer(toevoegingen);
    const others = toevoegingen.filter(Boolean);
    const few = others.slice(0, 5).join(', ') + (others.length > 5 ? ', …' : '');
    if (status !== 'not_found') return this.#fill(places, [], false);
    if (toevoegingen.length === 0) return this.#say('wrong', [this.#text('notFound')]);
    const note = toevoeging
      ? this.#text('unknownToevoeging', toevoeging)
      : this.#text('needsToevoeging', few);
    if (near?.places?.length > 0) this.#fill(near.places, [note], true);
    else this.#say('ask', [note]);
    this.#open();
  }

  #fill([place, ...more], notes, isAsked) {
    const lineOf = ({ straat, woonplaats }) => `${straat}, ${woonplaats}`;
    const accept = (one, names) => {
      this.#take(one, names);
      this.#say('ok', [this.#line(one), ...notes]);
    };
    const question = (text, places, name = '') =>
      this.#say(
        'ask',
        [text, ...notes],
        places.map((one) => [name || lineOf(one), () => accept(one, found)]),
      );
    if (more.length > 0) return question(this.#text('several'), [place, ...more]);
    const typed = found.filter((name) => this.#typedIn.has(name) && this.#value(name));
    const other = typed.filter((name) => plain(this.#value(name)) !== plain(place[name]));
    const isTown =
      String(other) === 'woonplaats' &&
      townNames[plain(this.#value('woonplaats'))] === plain(place.woonplaats);
    const differs = isTown ? place.woonplaats : lineOf(place);
    if (isTown || other.length === 0)
      accept(
        place,
        found.filter((name) => !typed.includes(name)),
      );
    if (other.length > 0) question(this.#text('differs', differs), [place], this.#text('take'));
    else if (isAsked) question(this.#line(place, '?'), [place], this.#text('yes'));
  }

  #take(place, names) {
    for (const name of names) {
      this.#put(name, place[name]);
      this.#typedIn.delete(name);
    }
  }

  #unfill() {
    for (const name of found) if (!this.#typedIn.has(name)) this.#put(name, '');
  }

  #numberText(number, toevoeging) {
    return `${number}, ${this.#text('toevoeging').toLowerCase()} ${toevoeging}`;
  }

  #line({ straat, woonplaats }, end = '') {
    const { postcode, huisnummer, toevoeging } = this.#asked();
    const isRead = toevoeging && (this.#moved || split(this.#value('huisnummer')).rest);
    const number = isRead
      ? this.#numberText(huisnummer, toevoeging)
      : `${huisnummer} ${toevoeging}`.trim();
    const line = `${straat} ${number}, ${postcode.slice(0, 4)} ${postcode.slice(4)} ${woonplaats}${end}`;
    return make('b', { lang: 'nl' }, line);
  }

  #offer(toevoegingen) {
    const isList = toevoegingen.some(Boolean);
    this.#toevoegingen = isList ? toevoegingen : [];
    this.#mark({
      role: isList && 'combobox',
      'aria-autocomplete': isList && 'list',
      'aria-controls': isList && this.#list.id,
    });
    this.#close();
  }

  #open(isAsked) {
    const field = this.#field('toevoeging');
    const typed = registerForm(this.#value('toevoeging'));
    const all = this.#toevoegingen;
    if (all.length === 0 || !field?.matches(':focus') || (all.includes(typed) && !isAsked))
      return this.#close();
    const fitting = all.filter((one) => one?.startsWith(typed));
    const options = (typed && !isAsked && fitting.length > 0 ? fitting : all).map((one, index) => {
      const option = make(
        'div',
        { role: 'option', id: `${this.#list.id}-${index}` },
        one ?? this.#text('none'),
      );
      option.onpointerdown = () => false;
      option.onclick = () => this.#choose(one ?? '');
      return option;
    });
    this.#list.replaceChildren(...options);
    this.#list.ariaLabel = this.#text('toevoeging');
    this.append(this.#list);
    this.#list.hidden = false;
    const box = field.getBoundingClientRect();
    const { left, top } = this.getBoundingClientRect();
    this.#list.style.cssText = `left:${box.left - left}px;top:${box.bottom - top}px;width:${box.width}px`;
    this.#mark({ 'aria-expanded': 'true' });
    this.#activate(-1);
  }

  #close() {
    this.#list.hidden = true;
    this.#mark({
      'aria-expanded': this.#toevoegingen.length > 0 && 'false',
      'aria-activedescendant': false,
    });
  }

  #mark(attributes, field = this.#field('toevoeging')) {
    for (const name in attributes) {
      if (attributes[name]) field?.setAttribute(name, attributes[name]);
      else field?.removeAttribute(name);
    }
  }

  #activate(index) {
    this.#active = index;
    const options = [...this.#list.children];
    for (const one of options) one.setAttribute('aria-selected', String(one === options[index]));
    options[index]?.scrollIntoView({ block: 'nearest' });
    this.#mark({ 'aria-activedescendant': options[index]?.id });
  }

  #pressed(event) {
    const { key } = event;
    const step = { ArrowDown: 1, ArrowUp: -1 }[key];
    if (step && this.#toevoegingen.length > 0) {
      if (this.#list.hidden) this.#open(true);
      const { length } = this.#list.children;
      this.#activate((Math.max(this.#active, step < 0 ? 0 : -1) + step + length) % length);
    } else if (this.#list.hidden) return;
    else if (key === 'Escape') this.#close();
    else if (key === 'Enter' && this.#active >= 0) this.#list.children[this.#active].click();
    else return;
    event.preventDefault();
  }

  #choose(toevoeging) {
    this.#moved = '';
    this.#put('toevoeging', toevoeging);
    this.#close();
    this.#lookUp();
  }

  #complain(name) {
    this.#cancel();
    const text = this.#text(`wrong-${name}`);
    this.#say('wrong', [text]);
    this.#wrong = name;
    const field = this.#field(name);
    this.#described = field?.getAttribute('aria-describedby') ?? '';
    this.#note.textContent = text;
    this.append(this.#note);
    this.#mark(
      { 'aria-invalid': 'true', 'aria-describedby': `${this.#described} ${this.#note.id}`.trim() },
      field,
    );
  }

  #clear() {
    this.#say('hint', [this.#asked() || !this.#isActive() ? '' : this.#text('hint')]);
  }

  #say(kind, lines, answers = []) {
    if (this.#wrong)
      this.#mark(
        { 'aria-invalid': false, 'aria-describedby': this.#described },
        this.#field(this.#wrong),
      );
    this.#wrong = '';
    const own = () => {
      this.#unfill();
      this.#say('hint', []);
    };
    const hasOwn = kind === 'ok' || (kind === 'ask' && answers.length === 1);
    const buttons = [...answers, ...(hasOwn ? [[this.#text('own'), own]] : [])].map(
      ([label, onClick]) => {
        const button = make(
          'button',
          { type: 'button', class: onClick === own ? '' : 'pill' },
          label,
        );
        button.onclick = () => {
          onClick();
          this.#field('straat')?.focus();
        };
        return button;
      },
    );
    this.#message.className = kind;
    this.#message.lang = this.#language();
    this.#message.replaceChildren(
      ...lines.map((line) => make('span', {}, line)),
      make('div', {}, ...buttons),
    );
  }

  #makeFields() {
    for (const child of this.children) child.slot ||= 'place';
    const rows = [
      make('div', { class: 'bag-adres-row' }),
      make('div', { class: 'bag-adres-row', slot: 'place' }),
    ];
    for (const name of [...asked, 'straat', 'woonplaats']) {
      const autocomplete = { postcode: 'postal-code', woonplaats: 'address-level2' }[name] ?? 'off';
      const input = make('input', { name, autocomplete });
      input.required = name !== 'toevoeging';
      rows[Number(found.includes(name))].append(
        make('label', { lang: this.#language(), dir: 'ltr' }, this.#text(name), input),
      );
    }
    this.prepend(...rows);
  }

  #isActive() {
    const country = this.#countryField()?.value ?? '';
    return !this.#isDisabled && /^(nld?|nederland|(the )?netherlands|)$/i.test(country);
  }

  #countryField() {
    const name = this.getAttribute('country-field');
    return name && (this.#internals.form?.elements[name] ?? document.getElementById(name));
  }

  #field(name) {
    return name ? this.querySelector(`[data-adres="${name}"], [name="${name}"]`) : null;
  }

  #value(name) {
    return tidy(this.#field(name)?.value);
  }

  /** Behaves as if somebody had typed the value and left the field, for whatever is bound to it. */
  #put(name, value) {
    const field = this.#field(name);
    if (!field || field.value === value) return;
    // The setter that React puts on a field hides the change from it.
    Object.getOwnPropertyDescriptor(Object.getPrototypeOf(field), 'value')?.set?.call(field, value);
    this.#isPutting = true;
    const bubbles = { bubbles: true, composed: true };
    field.dispatchEvent(
      new InputEvent('input', { ...bubbles, inputType: 'insertReplacementText', data: value }),
    );
    field.dispatchEvent(new Event('change', bubbles));
    if (!field.matches(':focus')) {
      field.dispatchEvent(new FocusEvent('blur', { composed: true }));
      field.dispatchEvent(new FocusEvent('focusout', bubbles));
    }
    this.#isPutting = false;
  }

  #isRight(name) {
    const [postcode, typed, own] = asked.map((one) => this.#value(one));
    const { number, rest } = split(typed);
    if (name === 'postcode') return /^([1-9]\d{3} ?[A-Z]{2})?$/i.test(postcode);
    return (
      name !== 'huisnummer' || !typed || (number && (!rest || !own || plain(own) === plain(rest)))
    );
  }

  #asked() {
    const [postcode, number, own] = asked.map((name) => this.#value(name));
    const { number: huisnummer, rest } = split(number);
    if (!postcode || !huisnummer || !this.#isRight('postcode') || !this.#isRight('huisnummer'))
      return undefined;
    const toevoeging = [own, rest].find((text) => /[\p{L}\p{N}\ufffd]/u.test(text)) ?? '';
    return { postcode: plain(postcode), huisnummer, toevoeging };
  }

  #key() {
    const { postcode, huisnummer, toevoeging } = this.#asked() ?? {};
    if (!postcode) return asked.map((name) => this.#value(name)).join();
    return [postcode, huisnummer, registerForm(toevoeging) ?? toevoeging].join();
  }

  #language() {
    const [language] = (this.closest('[lang]')?.lang ?? '').toLowerCase().split('-');
    return language in texts ? language : 'nl';
  }

  #text(name, ...values) {
    return (this.#own[name] ?? texts[this.#language()][name]).replace(
      /\{\}/g,
      () => values.shift() ?? '',
    );
  }
}

customElements.define('bag-adres-form', BagAdresForm);
