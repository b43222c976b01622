// Completes the form as far as the register knows the address. It only ever adds: whatever goes wrong, people can type.
const at = (id) => document.getElementById(id);
const [postcode, huisnummer, toevoeging, straat, woonplaats] = [
  'postcode',
  'huisnummer',
  'toevoeging',
  'straat',
  'woonplaats',
].map(at);
const [list, choice, free, message, candidates] = ['bestaand', 'keuze', 'vrij', 'bericht', 'kandidaten'].map(at);
const wait = 300;
let latest = 0;
let timer;

// The number first: the toevoeging is chosen from those that exist, so nobody has to guess how the register spells it.
for (const field of [postcode, huisnummer]) {
  field.addEventListener('input', () => {
    clearTimeout(timer);
    offerToevoegingen([]);
    toevoeging.value = '';
    timer = setTimeout(lookUp, wait);
  });
}
toevoeging.addEventListener('change', lookUp);
list.addEventListener('change', () => {
  toevoeging.value = list.value;
  lookUp();
});

async function lookUp() {
  const current = ++latest;
  if (!postcode.value.trim() || !huisnummer.value.trim()) return;
  const query = new URLSearchParams({
    postcode: postcode.value,
    huisnummer: huisnummer.value,
    toevoeging: toevoeging.value,
  });
  const answer = await fetch(`/adres?${query}`)
    .then((response) => response.json())
    .catch(() => ({ status: 'unavailable' }));
  // An answer to what was typed before is of no use.
  if (current === latest) show(answer);
}

// What was said before stays until now: a page that moves while somebody clicks takes the click.
function show({ status, address, candidates: places = [], toevoegingen = [], errors = [] }) {
  say('');
  offerCandidates(places);
  if (status === 'unavailable') {
    offerToevoegingen([]);
    return say('We kunnen het adres nu niet opzoeken. Vul de straat en de woonplaats zelf in.');
  }
  if (status === 'invalid') return explain(errors);
  offerToevoegingen(toevoegingen);
  if (status === 'ok') return fill(address);
  fill({ straat: '', woonplaats: '' });
  if (status === 'ambiguous') return;
  if (toevoegingen.length > 0) return say('Kies de toevoeging die bij dit huisnummer hoort.');
  say('We kennen dit adres niet. Controleer de postcode en het huisnummer, of vul het adres zelf in.');
}

function fill(place) {
  straat.value = place.straat;
  woonplaats.value = place.woonplaats;
}

function offerToevoegingen(existing) {
  const hasChoice = existing.length > 1 || (existing.length === 1 && existing[0] !== null);
  choice.hidden = !hasChoice;
  free.hidden = hasChoice;
  if (!hasChoice) return;
  const chosen = toevoeging.value.replaceAll(' ', '').toUpperCase();
  const options = existing.map((one) => new Option(one ?? 'geen', one ?? '', false, (one ?? '') === chosen));
  const isKnown = existing.some((one) => (one ?? '') === chosen);
  list.replaceChildren(...(isKnown ? options : [new Option('Kies ...', chosen, true, true), ...options]));
}

function offerCandidates(places) {
  candidates.hidden = places.length === 0;
  const [legend] = candidates.children;
  const choices = places.map((place) => {
    const label = document.createElement('label');
    const radio = Object.assign(document.createElement('input'), { type: 'radio', name: 'kandidaat' });
    radio.addEventListener('change', () => fill(place));
    label.append(radio, ` ${place.straat}, ${place.woonplaats}`);
    return label;
  });
  candidates.replaceChildren(legend, ...choices);
}

const texts = {
  postcode: 'Controleer de postcode: vier cijfers en twee letters, zoals 1012 JS.',
  huisnummer: 'Controleer het huisnummer: alleen cijfers. De rest hoort bij de toevoeging.',
  toevoeging: 'Controleer de toevoeging: hoogstens vijf letters en cijfers.',
};

/** Never corrects on its own: `12A` may be a typing error, so it asks. */
function explain(errors) {
  const [{ parameter, suggestion } = {}] = errors;
  if (!suggestion) return say(texts[parameter] ?? 'Controleer het adres.');
  const { postcode: code = postcode.value, huisnummer: number = huisnummer.value } = suggestion;
  const addition = suggestion.toevoeging ?? toevoeging.value;
  say(`Bedoelt u ${[code, number, addition].filter(Boolean).join(' ')}?`);
  const button = Object.assign(document.createElement('button'), { type: 'button', textContent: 'Ja' });
  button.addEventListener('click', () => {
    [postcode.value, huisnummer.value, toevoeging.value] = [code, number, addition];
    lookUp();
    (free.hidden ? list : toevoeging).focus();
  });
  message.append(button);
}

function say(text) {
  message.textContent = text;
}
