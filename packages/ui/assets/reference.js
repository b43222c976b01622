const { search, none } = document.body.dataset;

// The other language opens at the same place.
function keepAnchor() {
  for (const link of document.querySelectorAll('.languages a')) link.hash = location.hash;
}
addEventListener('hashchange', keepAnchor);
keepAnchor();

const folded = (text) => text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
const hasAll = (text, words) => words.every((word) => text.includes(word));

// A search over every heading and row that has an address, for words in any order. What is typed
// stays in the page.
const places = [...document.querySelectorAll('main h2, main h3, main h4, main tr[id]')].map(
  (place) => {
    const title = (place.querySelector('th code') ?? place).textContent;
    const about = place.tagName === 'TR' ? place : (place.closest('.text') ?? place);
    const text = folded(`${about.textContent} ${place.dataset.words ?? ''}`);
    return { title, text, href: place.querySelector('a.anchor').hash };
  },
);
const field = document.createElement('input');
field.type = 'search';
field.placeholder = search;
field.setAttribute('aria-label', search);
field.setAttribute('autocomplete', 'off');
const results = document.createElement('ul');
results.setAttribute('aria-live', 'polite');
results.hidden = true;
const finder = document.createElement('search');
finder.append(field, results);
document.querySelector('header .links').prepend(finder);

function find() {
  const wanted = folded(field.value).split(/\s+/).filter(Boolean);
  results.hidden = wanted.length === 0;
  const inTitle = places.filter(({ title }) => hasAll(folded(title), wanted));
  const inText = places.filter((place) => !inTitle.includes(place) && hasAll(place.text, wanted));
  const found = [...inTitle, ...inText].slice(0, 12).map(({ title, href }) => {
    const link = document.createElement('a');
    link.href = href;
    link.textContent = title;
    return link;
  });
  results.replaceChildren(
    ...(found.length > 0 ? found : [none]).map((content) => {
      const item = document.createElement('li');
      item.append(content);
      return item;
    }),
  );
}
function close() {
  field.value = '';
  find();
}
field.addEventListener('input', find);
finder.addEventListener('keydown', (event) => {
  if (event.key === 'Escape') close();
  if (event.key === 'Enter' && event.target === field) results.querySelector('a')?.click();
});
results.addEventListener('click', close);
document.addEventListener('click', (event) => {
  if (!finder.contains(event.target)) close();
});

// Marks the section that is being read in the contents beside the page.
const sections = [...document.querySelectorAll('main section[id]')];
const links = [...document.querySelectorAll('nav.contents a')];
function markCurrent() {
  const atEnd = innerHeight + scrollY >= document.documentElement.scrollHeight - 2;
  const begun = sections.filter((section) => section.getBoundingClientRect().top < innerHeight / 3);
  const current = (atEnd ? sections : begun).at(-1);
  for (const link of links) {
    if (current && link.hash === `#${current.id}`) link.setAttribute('aria-current', 'location');
    else link.removeAttribute('aria-current');
  }
}
addEventListener('scroll', markCurrent, { passive: true });
requestAnimationFrame(markCurrent);
