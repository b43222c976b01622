// Runs in the browser, after the page. Without it the page shows the same text.

// A button on each sample that copies it. Without a secure context there is no clipboard.
if (navigator.clipboard) {
  const { copy, copied } = document.body.dataset;
  for (const figure of document.querySelectorAll('figure.sample')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = copy;
    button.addEventListener('click', async () => {
      await navigator.clipboard.writeText(figure.querySelector('code').textContent);
      button.textContent = copied;
      setTimeout(() => {
        button.textContent = copy;
      }, 2000);
    });
    figure.querySelector('figcaption').append(button);
  }
}

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
markCurrent();
