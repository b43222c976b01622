// Runs in the browser, after the page. Without it the page shows the same text.

// A button on each sample within an element that copies it. Without a secure context there is no
// clipboard.
function addCopyButtons(within) {
  if (!navigator.clipboard) return;
  const { copy, copied } = document.body.dataset;
  const samples = [...within.querySelectorAll('figure.sample')].map((figure) => [
    figure.querySelector('code'),
    (button) => figure.querySelector('figcaption').append(button),
  ]);
  // Also a short text beside others, such as an id.
  const texts = [...within.querySelectorAll('[data-copies]')].map((code) => [
    code,
    (button) => code.after(button),
  ]);
  for (const [code, place] of [...samples, ...texts]) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = copy;
    if (code.dataset.copies) {
      button.className = 'copies';
      button.setAttribute('aria-label', `${copy}: ${code.dataset.copies} ${code.textContent}`);
    }
    button.setAttribute('aria-live', 'polite');
    button.addEventListener('click', async () => {
      try {
        await navigator.clipboard.writeText(code.textContent);
        button.textContent = copied;
        setTimeout(() => {
          button.textContent = copy;
        }, 2000);
      } catch {
        getSelection().selectAllChildren(code);
      }
    });
    place(button);
  }
}
addCopyButtons(document);
