/**
 * <bag-adres-form lookup="/adres">: completes the address in the fields inside it. It asks a route of the page's own
 * server (see `routes`), never the service itself, and only ever adds: whatever goes wrong, people can type.
 */

const asked = ['postcode', 'huisnummer', 'toevoeging'];
/** A page may have a field for the gemeente; the others are what an address needs. */
const found = ['straat', 'woonplaats', 'gemeente'];

/** What it says, by language. `{}` is where a value goes. */
const texts = {
  nl: {
    postcode: 'Postcode',
    huisnummer: 'Huisnummer',
    toevoeging: 'Toevoeging (niet verplicht)',
    straat: 'Straat',
    woonplaats: 'Woonplaats',
    list: 'Toevoegingen bij dit huisnummer',
    none: 'geen',
    choose: 'Kies ...',
    which: 'Welk adres is het?',
    several: 'Er zijn meer adressen met dit nummer. Kies er een.',
    needsToevoeging: 'Kies de toevoeging die bij dit huisnummer hoort.',
    unknownToevoeging: 'Toevoeging {} is hier niet bekend. Kies er een uit de lijst, of vul het adres zelf in.',
    notFound: 'We kennen dit adres niet. Controleer de postcode en het huisnummer, of vul het adres zelf in.',
    slow: 'We zoeken het adres op ...',
    unavailable: 'We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.',
    differs: 'Volgens het register is dit {}.',
    take: 'Overnemen',
    filled: 'Ingevuld: {}.',
    meant: 'Bedoelt u {}?',
    yes: 'Ja',
    wrongPostcode: 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
    wrongHuisnummer: 'Controleer het huisnummer: alleen cijfers. De rest hoort bij de toevoeging.',
    wrongToevoeging: 'Controleer de toevoeging: hoogstens vijf letters en cijfers.',
  },
  en: {
    postcode: 'Postcode',
    huisnummer: 'House number',
    toevoeging: 'Addition (optional)',
    straat: 'Street',
    woonplaats: 'Town',
    list: 'Additions at this house number',
    none: 'none',
    choose: 'Choose ...',
    which: 'Which address is it?',
    several: 'There are several addresses with this number. Choose one.',
    needsToevoeging: 'Choose the addition that belongs to this house number.',
    unknownToevoeging: 'Addition {} is not known here. Choose one from the list, or type the address yourself.',
    notFound: "We don't know this address. Check the postcode and the house number, or type the address yourself.",
    slow: 'Looking up the address ...',
    unavailable: "We can't look up the address now. Type the street and the town yourself.",
    differs: 'According to the register this is {}.',
    take: 'Use it',
    filled: 'Filled in: {}.',
    meant: 'Did you mean {}?',
    yes: 'Yes',
    wrongPostcode: 'Check the postcode: four digits and two letters, such as 1012 JS.',
    wrongHuisnummer: 'Check the house number: digits only. The rest belongs in the addition.',
    wrongToevoeging: 'Check the addition: at most five letters and digits.',
  },
};

/** While somebody types. Leaving a field asks at once. */
const pause = 500;
/** When it says that it is still looking. */
const slow = 1_000;
/** A form must work without the answer, so nothing waits longer for it. */
const patience = 4_000;

/** Made without HTML, which the policy of a page may forbid. */
function make(tag, attributes = {}, ...content) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...content);
  return made;
}

/** What goes into the fields. Throws when an answer has no names. */
function placeOf({ straat, woonplaats, gemeente }) {
  if (typeof straat !== 'string' || typeof woonplaats !== 'string') throw new TypeError('The answer has no names.');
  return { straat, woonplaats, gemeente: gemeente?.naam ?? '' };
}

const lineOf = ({ straat, woonplaats }) => `${straat}, ${woonplaats}`;

const sheet = () => {
  const made = new CSSStyleSheet();
  made.replaceSync(`
    :host { display: grid; gap: var(--bag-adres-gap, 1rem); }
    [hidden] { display: none !important; }
    fieldset { margin: 0; padding: 0; border: 0; }
    legend, label.list { font-weight: 600; }
    fieldset label { display: block; padding: 0.25rem 0; }
    select, button { font: inherit; min-height: 2.5rem; padding: 0.25rem 0.75rem; }
    select { display: block; width: 100%; font-weight: 400; }
    p { box-sizing: border-box; margin: 0; min-height: var(--bag-adres-message-height, 4.5rem); }
    p:not(:empty, .quiet) { padding: 0.75rem; border-inline-start: 4px solid var(--bag-adres-colour, #0b4f8a); background: var(--bag-adres-message-background, #f4f6f8); color: var(--bag-adres-message-colour, #1f2933); }
    p button { margin-inline-start: 0.5rem; }
    .quiet span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); }`);
  return made;
};

class BagAdresForm extends HTMLElement {
  static formAssociated = true;

  #internals = this.attachInternals();
  #root = this.attachShadow({ mode: 'open' });
  /** What this element filled in, and so may clear. */
  #filled = {};
  #answers = new Map();
  /** The address of the latest lookup, or `''` once something changed after it. */
  #current = '';
  #stop = new AbortController();
  #timer = 0;
  #isPutting = false;
  #own = {};

  /** Texts that replace those of the language, by the names in `texts`. */
  set texts(own) {
    this.#own = own;
  }

  connectedCallback() {
    if (this.#root.childElementCount > 0) return;
    this.#root.adoptedStyleSheets = [sheet()];
    this.#root.append(
      make('slot'),
      make('label', { class: 'list', part: 'list', hidden: '' }, make('span'), make('select', { part: 'select' })),
      make('fieldset', { part: 'choices', hidden: '' }, make('legend'), make('div')),
      make('p', { part: 'message', role: 'status' }),
      make('slot', { name: 'place' }),
    );
    // The parser may not have reached the fields yet.
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', () => this.#begin());
    else this.#begin();
  }

  #begin() {
    // Set before the script was there, they hide the setter.
    const { texts: own } = this;
    delete this.texts;
    if (own) this.texts = own;
    if (!this.#field('postcode')) this.#makeFields();
    this.addEventListener('input', ({ target }) => this.#typed(target));
    this.addEventListener('change', ({ target }) => this.#left(target));
    const list = this.#part('select');
    list.addEventListener('change', () => {
      this.#put('toevoeging', list.value);
      this.#lookUp();
    });
  }

  /** The browser goes back to a page: what this element had filled in is still its own. */
  formStateRestoreCallback(state) {
    Object.assign(this.#filled, JSON.parse(state));
  }

  formResetCallback() {
    this.#cancel();
    this.#unfill();
    this.#clearHelp();
  }

  /** What is in the shadow of this element is not disabled with the fieldset around it. */
  formDisabledCallback(isDisabled) {
    this.#cancel();
    for (const control of this.#root.querySelectorAll('select, fieldset, button')) control.disabled = isDisabled;
  }

  #cancel() {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#current = '';
  }

  #typed(target) {
    if (this.#isPutting || !asked.some((name) => target === this.#field(name))) return;
    // A space more or less is still the same address.
    if (this.#key() === this.#current) return;
    this.#cancel();
    // A street that belongs to another number must not stay beside this one.
    this.#unfill();
    this.#clearHelp();
    this.#timer = setTimeout(() => this.#lookUp(), pause);
  }

  #left(target) {
    if (!asked.some((name) => target === this.#field(name))) return;
    const isPostcode = target === this.#field('postcode');
    if (isPostcode && target.value.trim() && !this.#isComplete()) this.#say(this.#text('wrongPostcode'));
    else this.#lookUp();
  }

  async #lookUp() {
    if (!this.#isComplete() || !this.#value('huisnummer') || this.#key() === this.#current) return;
    this.#cancel();
    this.#unfill();
    this.#current = this.#key();
    this.#stop = new AbortController();
    const { signal } = this.#stop;
    this.#timer = setTimeout(() => this.#say(this.#text('slow')), slow);
    let answer = await this.#ask(this.#asked(), signal);
    // An answer to what was typed before is of no use.
    if (signal.aborted) return;
    clearTimeout(this.#timer);
    try {
      await this.#show(answer, signal);
    } catch {
      // No answer of the service.
      answer = { status: 'unavailable' };
      this.#show(answer, signal);
    }
    if (signal.aborted) return;
    this.dispatchEvent(new CustomEvent('bag-adres', { bubbles: true, detail: answer }));
  }

  /** Each address is asked for once, unless there was no answer. */
  async #ask(address, signal) {
    const query = String(new URLSearchParams(address));
    const known = this.#answers.get(query);
    if (known) return known;
    try {
      const url = new URL(this.getAttribute('lookup') ?? '/adres', document.baseURI);
      url.search = query;
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(patience)]) });
      const answer = await response.json();
      if (['ok', 'not_found', 'ambiguous', 'invalid'].includes(answer.status)) {
        this.#answers.set(query, answer);
        return answer;
      }
    } catch {
      // Too late, no connection, or no JSON: people type.
    }
    return { status: 'unavailable' };
  }

  async #show({ status, address, candidates = [], toevoegingen = [], errors = [] }, signal) {
    this.#clearHelp();
    const typed = this.#value('toevoeging');
    if (status === 'invalid') return this.#explain(errors[0] ?? {}, signal);
    if (status === 'unavailable') return this.#say(this.#text('unavailable'));
    this.#offerToevoegingen(toevoegingen);
    if (status === 'ok') return this.#fill(placeOf(address));
    if (status === 'ambiguous') return this.#offerCandidates(candidates.map(placeOf));
    if (toevoegingen.length === 0) return this.#say(this.#text('notFound'));
    this.#say(typed ? this.#text('unknownToevoeging', typed) : this.#text('needsToevoeging'));
  }

  /** Fills in what is empty or its own. What somebody typed stays, and is asked about where the register differs. */
  #fill(place) {
    const typed = found.filter((name) => this.#value(name) !== '' && this.#field(name).value !== this.#filled[name]);
    const same = (name) => !place[name] || this.#value(name).toLowerCase() === place[name].toLowerCase();
    if (typed.every(same)) {
      return this.#take(
        place,
        found.filter((name) => !typed.includes(name)),
      );
    }
    this.#question(this.#text('differs', lineOf(place)), this.#text('take'), () => {
      this.#take(place, found);
      this.#field('straat')?.focus();
    });
  }

  #take(place, which) {
    for (const name of which) this.#put(name, place[name]);
    this.#remember({ ...this.#filled, ...Object.fromEntries(which.map((name) => [name, place[name]])) });
    // Those who see the fields see it there.
    this.#say(make('span', {}, this.#text('filled', lineOf(place))));
    this.#part('message').className = 'quiet';
  }

  #unfill() {
    for (const name of found) {
      if (this.#filled[name] && this.#field(name)?.value === this.#filled[name]) this.#put(name, '');
    }
    this.#remember({});
  }

  #remember(filled) {
    this.#filled = filled;
    // It sends nothing of its own: the fields are the form's. Its state is for a page that comes back.
    this.#internals.setFormValue(null, JSON.stringify(filled));
  }

  /** Never corrects on its own: `12A` may be a typing error, so it asks. */
  async #explain({ parameter = '', suggestion = null }, signal) {
    if (parameter === 'toevoeging') {
      const bare = await this.#ask({ ...this.#asked(), toevoeging: '' }, signal);
      if (signal.aborted) return;
      const existing = bare.toevoegingen ?? [];
      this.#offerToevoegingen(existing);
      if (existing.length > 0 && !existing.includes(suggestion?.toevoeging?.toUpperCase() ?? null)) {
        return this.#say(this.#text('unknownToevoeging', this.#value('toevoeging')));
      }
    }
    if (!suggestion) {
      const wrong = { postcode: 'wrongPostcode', huisnummer: 'wrongHuisnummer', toevoeging: 'wrongToevoeging' };
      return this.#say(this.#text(wrong[parameter] ?? 'notFound'));
    }
    const meant = { ...this.#asked(), ...suggestion };
    const shown = asked.map((name) => meant[name]).filter(Boolean);
    this.#question(this.#text('meant', shown.join(' ')), this.#text('yes'), () => {
      for (const name of asked) this.#put(name, String(meant[name] ?? ''));
      this.#field('toevoeging')?.focus();
      this.#lookUp();
    });
  }

  #offerToevoegingen(existing) {
    const label = this.#part('list');
    label.hidden = existing.length === 0 || (existing.length === 1 && existing[0] === null);
    const chosen = this.#asked().toevoeging.toUpperCase();
    const options = existing.map(
      (one) => new Option(one ?? this.#text('none'), one ?? '', false, (one ?? '') === chosen),
    );
    const isKnown = existing.some((one) => (one ?? '') === chosen);
    label.firstElementChild.textContent = this.#text('list');
    const choose = Object.assign(new Option(this.#text('choose'), '', true, true), { disabled: true });
    this.#part('select').replaceChildren(...(isKnown ? options : [choose, ...options]));
  }

  #offerCandidates(places) {
    const choices = this.#part('choices');
    const [legend, box] = choices.children;
    legend.textContent = this.#text('which');
    const labels = places.map((place) => {
      const radio = make('input', { type: 'radio', name: 'candidate' });
      radio.addEventListener('change', () => this.#take(place, found));
      return make('label', {}, radio, ` ${lineOf(place)}`);
    });
    box.replaceChildren(...labels);
    choices.hidden = false;
    this.#say(this.#text('several'));
  }

  #question(question, answer, onAnswer) {
    const button = make('button', { type: 'button', part: 'answer' }, answer);
    button.addEventListener('click', onAnswer);
    this.#say(question, button);
  }

  #clearHelp() {
    this.#part('list').hidden = true;
    this.#part('choices').hidden = true;
    this.#say();
  }

  #say(...content) {
    const message = this.#part('message');
    message.className = '';
    message.replaceChildren(...content);
  }

  #makeFields() {
    const hints = { postcode: 'postal-code', straat: 'off', woonplaats: 'address-level2' };
    for (const name of [...asked, 'straat', 'woonplaats']) {
      const input = make('input', { name, autocomplete: hints[name] ?? 'off' });
      input.required = name !== 'toevoeging';
      this.append(make('label', found.includes(name) ? { slot: 'place' } : {}, this.#text(name), ' ', input));
    }
  }

  #field(name) {
    return this.querySelector(`[data-adres="${name}"], [name="${name}"]`);
  }

  /** Without the spaces around it, which nobody means. */
  #value(name) {
    return this.#field(name)?.value.trim() ?? '';
  }

  /** Tells the page, as typing does, and not itself. */
  #put(name, value) {
    const field = this.#field(name);
    if (!field || field.value === value) return;
    field.value = value;
    this.#isPutting = true;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    this.#isPutting = false;
  }

  /** In one form, so that another way to type it is no other lookup. Copied text has spaces of all kinds. */
  #asked() {
    const [postcode, huisnummer, toevoeging] = asked.map((name) => this.#value(name).replace(/\s/g, ''));
    return { postcode: postcode.toUpperCase(), huisnummer, toevoeging };
  }

  #key() {
    return JSON.stringify(this.#asked());
  }

  /** Whether the postcode is one; anything else would be a lookup for nothing. */
  #isComplete() {
    return /^[1-9]\d{3}[A-Z]{2}$/.test(this.#asked().postcode);
  }

  #part(name) {
    return this.#root.querySelector(`[part="${name}"]`);
  }

  #text(name, value = '') {
    const language = (this.closest('[lang]')?.lang ?? 'nl').slice(0, 2);
    return ({ ...(texts[language] ?? texts.nl), ...this.#own }[name] ?? name).replace('{}', () => value);
  }
}

customElements.define('bag-adres-form', BagAdresForm);
