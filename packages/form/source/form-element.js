import { asked, checked, decide, found, holdsSame, names, tidy } from './address-in-fields.ts';
import { css, pageCss } from './form-styles.js';
import { texts } from './form-texts.js';

/**
 * Milliseconds. `settle`: until a framework rendered what a field got. `late`: until a field keeps
 * what was moved into it.
 */
const settle = 20;
const glance = 500;
const pause = 600;
const slow = 1_000;
const late = 1_200;
const patience = 4_000;

const styled = new WeakSet();

/** The setter of the field's class: the one that React puts on a field hides the change from it. */
function setterOf(field) {
  for (let at = Object.getPrototypeOf(field); at; at = Object.getPrototypeOf(at)) {
    const set = Object.getOwnPropertyDescriptor(at, 'value')?.set;
    if (set) return set;
  }
  return undefined;
}

/** On a server it is only a name. */
export class BagAdresForm extends (globalThis.HTMLElement ?? Object) {
  static formAssociated = true;

  #internals = this.attachInternals?.();
  #life;
  #timers = {};
  #state = {};
  #wrote = {};
  #tried = new Set();
  #known = new Map();
  #asking = new Set();
  #shown = '';
  #marks = [];
  #isWriting = false;
  #isPutting = false;

  connectedCallback() {
    this.#life = new AbortController();
    const { signal } = this.#life;
    if (!this.shadowRoot) {
      const box = this.#make('section', { part: 'message', dir: 'ltr', class: 'hint' });
      box.append(this.#make('p', { role: 'status', tabindex: '-1' }), this.#make('div'));
      const place = this.#make('slot', { name: 'place' });
      this.attachShadow({ mode: 'open' }).append(this.#make('slot'), box, place);
    }
    const root = this.getRootNode();
    this.#style(root);
    for (const type of ['input', 'change', 'focusin', 'focusout', 'reset', 'submit']) {
      root.addEventListener(type, this, { signal, capture: true });
    }
    this.ownerDocument.defaultView?.addEventListener('pageshow', this, { signal });
    this.#soon();
  }

  disconnectedCallback() {
    this.#life.abort();
    for (const name in this.#timers) clearTimeout(this.#timers[name]);
    this.#state.isReady = false;
    this.#mark();
    this.#shown = '';
  }

  /** What it wrote and knew, when a browser brings back what the fields held. */
  formStateRestoreCallback(state, mode) {
    if (mode !== 'restore') return;
    const { wrote = {}, known = [] } = JSON.parse(state);
    this.#wrote = wrote;
    this.#known = new Map(known);
    this.#soon();
  }

  handleEvent(event) {
    if (this.#isPutting) return;
    const { type, target, isTrusted } = event;
    const name = names.find((candidate) => target === this.#field(candidate));
    const isAsked = asked.includes(name) || target === this.#country();
    const isChange = type === 'input' || type === 'change';
    const state = this.#state;
    if (name && isChange && isTrusted) {
      // From now on it is theirs.
      delete this.#wrote[name];
      if (isAsked) delete this.#wrote.toevoeging?.from;
    }
    if (isAsked && isChange) state.touched = true;
    if (isAsked && type === 'focusin') state.hasPaused = false;
    if (isAsked && type === 'input') {
      state.isReady = false;
      // Once in a field: slow typing would ask for each digit.
      if (!state.hasPaused) {
        this.#in('pause', pause, () => {
          state.isReady = true;
          state.hasPaused = this.#look().key !== '';
        });
      }
    } else if (isAsked && type !== 'focusin') {
      state.isReady = true;
      state.failed = undefined;
      // Tries again what failed, and nothing that nobody touched.
      if (state.touched !== undefined) state.touched = true;
    }
    if (type === 'reset') {
      this.#in('reset', 0, () => {
        if (!event.defaultPrevented && this.#isFormOf(target)) this.#forget();
        this.#look();
      });
    } else if (type === 'submit' || type === 'pageshow') this.#look(false);
    this.#soon();
  }

  formDisabledCallback() {
    this.#soon();
  }

  #soon() {
    this.#in('look', 0, () => this.#look());
  }

  #forget() {
    this.#state = {};
    this.#wrote = {};
    this.#tried.clear();
    this.#save();
  }

  /** Everything follows from what the fields hold now. */
  #look(mayWrite = true) {
    const idle = { key: '', kind: 'hint', say: [] };
    if (!this.isConnected || this.#isWriting) return idle;
    const values = Object.fromEntries(names.map((name) => [name, this.#value(name)]));
    const isHere = values.postcode !== undefined && values.huisnummer !== undefined;
    const active = this.getRootNode().activeElement;
    const state = this.#state;
    const step = isHere
      ? decide({
          ...state,
          values,
          wrote: this.#wrote,
          tried: this.#tried,
          asking: this.#asking,
          known: this.#known,
          busy: names.find((name) => active && this.#field(name) === active),
          isForeign: !/^(nld?|nederland|(the )?netherlands|)$/i.test(this.#country()?.value ?? ''),
        })
      : idle;
    const { key, write, ask, wrong } = step;
    if (write) {
      if (mayWrite) this.#write([write]);
      else if (this.#box().className === 'ok') this.#show(idle);
      return step;
    }
    if (state.touched === true) state.touched = key;
    state.complained = wrong;
    for (const tried of this.#tried) if (!tried.startsWith(`${key}|`)) this.#tried.delete(tried);
    this.#show(step);
    if (ask) this.#ask(ask, key);
    if (step.kind !== 'hint' || this.#wrote.toevoeging?.from) {
      this.#in('glance', glance, () => this.#look());
    }
    return step;
  }

  /** One field after the other. The first that does not take its value ends it. */
  async #write(writes) {
    this.#isWriting = true;
    if (this.#box().className === 'ok') this.#show({ kind: 'hint', say: [] });
    for (const write of writes) if (!(await this.#fill(write))) break;
    this.#isWriting = false;
    this.#save();
    this.#look();
  }

  /** Whether the field, read after its page has rendered, holds the value. */
  async #fill({ name, value, at, id, from }) {
    const field = this.#field(name);
    const before = field?.value;
    if (!field || holdsSame(this.#value(name), value)) return true;
    const last = this.#wrote[name];
    const mine = { value, at, from, before };
    this.#wrote[name] = mine;
    this.#tried.add(id);
    this.#put(field, value);
    await new Promise((done) => setTimeout(done, settle));
    const now = this.#field(name);
    // Somebody typed there meanwhile, or took it away.
    if (!this.isConnected || !now || this.#wrote[name] !== mine) return false;
    const isTaken = holdsSame(this.#value(name), value) && !now.validity?.patternMismatch;
    if (isTaken) {
      mine.value = this.#value(name);
      // Whoever is in the field types over it.
      if (value && now === this.getRootNode().activeElement) now.select?.();
      if (from) this.#in('late', late, () => delete this.#wrote.toevoeging?.from);
    } else {
      this.#wrote[name] = last;
      if (now.value !== before) this.#put(now, before);
    }
    return isTaken;
  }

  async #ask(query, key) {
    this.#asking.add(query);
    const state = this.#state;
    state.isSlow = false;
    this.#in('slow', slow, () => {
      state.isSlow = this.#asking.size > 0;
      this.#look();
    });
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(), patience);
    let answer = { status: 'unavailable' };
    try {
      const url = new URL(this.getAttribute('lookup') ?? '/adres', this.ownerDocument.baseURI);
      for (const [name, value] of new URLSearchParams(query)) url.searchParams.set(name, value);
      answer = await (await fetch(url, { signal: stop.signal })).json();
    } catch {
      // No connection, too late, or no JSON.
    }
    clearTimeout(timer);
    this.#asking.delete(query);
    const right = checked(answer);
    if (right) this.#known.set(query, right);
    else state.failed = key;
    this.#save();
    if (!this.isConnected) return;
    this.dispatchEvent(new CustomEvent('bag-adres', { bubbles: true, detail: answer }));
    this.#soon();
  }

  #show({ kind, say, line = '', choices = [], list, wrong }) {
    const lang = this.#language();
    const lines = say.map((sentence) => this.#say(sentence));
    const labels = choices.map(({ label }) =>
      label === undefined ? this.#say(['take']) : label || this.#say(['none']),
    );
    const shown = JSON.stringify([kind, line, lines, labels, choices, wrong, lang]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    this.#mark(wrong && this.#field(wrong), lines[0]);
    const box = this.#box();
    const [message, answers] = box.children;
    box.className = kind;
    box.lang = lang;
    message.replaceChildren(
      line && this.#make('b', { lang: 'nl' }, line),
      ...lines.map((line) => this.#make('span', {}, line)),
    );
    const pick = (index) => {
      if (this.#isWriting) return;
      message.focus();
      this.#tried.clear();
      Object.assign(this.#state, { touched: true, isReady: true, failed: undefined });
      this.#write(choices[index].writes);
    };
    const title = list && choices.length > 0 ? this.#say([list]) : '';
    answers.replaceChildren(title);
    if (choices.length > 6) {
      const select = this.#make('select', { 'aria-label': title || this.#say(['choose']) });
      select.append(new Option(this.#say(['choose'])), ...labels.map((label) => new Option(label)));
      // The arrow keys pass by others.
      select.onchange = () => this.#in('pick', pause, () => pick(select.selectedIndex - 1));
      answers.append(select);
      return;
    }
    for (const [index, label] of labels.entries()) {
      const button = this.#make('button', { type: 'button' }, label);
      button.onclick = () => pick(index);
      answers.append(button);
    }
  }

  /** Ties a message to its field without a node in the page, and puts back what the page had. */
  #mark(field, text) {
    for (const [marked, name, own, theirs] of this.#marks) {
      if (marked.getAttribute(name) !== own) continue;
      if (theirs === null) marked.removeAttribute(name);
      else marked.setAttribute(name, theirs);
    }
    this.#marks = [];
    if (!field) return;
    for (const [name, own] of Object.entries({
      'aria-invalid': 'true',
      'aria-description': text,
    })) {
      this.#marks.push([field, name, own, field.getAttribute(name)]);
      field.setAttribute(name, own);
    }
  }

  /** Sheets of this document, which no policy forbids; else an element. */
  #style(root) {
    const sheet = (text) => {
      const made = new this.ownerDocument.defaultView.CSSStyleSheet();
      made.replaceSync(text);
      return made;
    };
    const shadow = this.shadowRoot;
    try {
      shadow.adoptedStyleSheets = [sheet(css)];
      if (!styled.has(root)) root.adoptedStyleSheets.push(sheet(pageCss));
      styled.add(root);
    } catch {
      if (!shadow.querySelector('style')) shadow.append(this.#make('style', {}, css));
    }
  }

  #in(name, ms, act) {
    clearTimeout(this.#timers[name]);
    this.#timers[name] = setTimeout(act, ms);
  }

  /** Comes back with what the fields held, and sends nothing. */
  #save() {
    const state = JSON.stringify({ wrote: this.#wrote, known: [...this.#known] });
    this.#internals?.setFormValue?.(null, state);
  }

  /** Made without HTML, which the policy of a page may forbid. */
  #make(tag, attributes, ...content) {
    const made = this.ownerDocument.createElement(tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    made.append(...content);
    return made;
  }

  #box() {
    return this.shadowRoot.querySelector('section');
  }

  /** A field that the form would send: a disabled one is none. */
  #field(name) {
    if (this.matches(':disabled')) return undefined;
    const fields = this.querySelectorAll(`[data-adres="${name}"], [name="${name}"]`);
    return [...fields].find(
      (element) =>
        'value' in element &&
        !element.matches(':disabled') &&
        element.closest(this.localName) === this,
    );
  }

  #value(name) {
    const field = this.#field(name);
    // An option shows its text.
    const option = found.includes(name) && field?.value && field.selectedOptions?.[0];
    return field && tidy(option ? option.text : field.value);
  }

  /** Behaves as if somebody had typed the value and left the field, for whatever is bound to it. */
  #put(field, value) {
    const options = [...(field.options ?? [])];
    const option = options.find(
      (candidate) => holdsSame(candidate.value, value) || holdsSame(candidate.text, value),
    );
    const text = options.length > 0 ? option?.value : value;
    if (text === undefined || (field.maxLength >= 0 && text.length > field.maxLength)) return;
    const set = setterOf(field);
    if (set) set.call(field, text);
    else field.value = text;
    const bubbles = { bubbles: true, composed: true };
    this.#isPutting = true;
    field.dispatchEvent(
      new InputEvent('input', { ...bubbles, inputType: 'insertReplacementText', data: text }),
    );
    field.dispatchEvent(new Event('change', bubbles));
    if (field !== this.getRootNode().activeElement) {
      field.dispatchEvent(new FocusEvent('blur', { composed: true }));
      field.dispatchEvent(new FocusEvent('focusout', bubbles));
    }
    this.#isPutting = false;
  }

  #isFormOf(form) {
    return form.contains(this) || this.#field('postcode')?.form === form;
  }

  #country() {
    const name = this.getAttribute('country-field');
    const form = this.#internals?.form ?? this.closest('form');
    return name && (form?.elements[name] ?? this.ownerDocument.getElementById(name));
  }

  #language() {
    const [language] = (this.closest('[lang]')?.lang ?? '').toLowerCase().split('-');
    return language in texts ? language : 'nl';
  }

  #say([name, ...values]) {
    const text = this.texts?.[name] ?? texts[this.#language()][name];
    return text.replace(/\{\}/g, () => values.shift() ?? '');
  }
}

/** Before any page sets it, so that frameworks set a property and no attribute. */
BagAdresForm.prototype.texts = {};

if (globalThis.customElements && !customElements.get('bag-adres-form')) {
  customElements.define('bag-adres-form', BagAdresForm);
}
