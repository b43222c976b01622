// Runs in the browser, after the page. Without it the page shows the same text.

// A button on each sample that copies it. Without a secure context there is no clipboard.
if (navigator.clipboard) {
  const { copy, copied } = document.body.dataset;
  for (const figure of document.querySelectorAll('figure.sample')) {
    const button = document.createElement('button');
    const code = figure.querySelector('code');
    button.type = 'button';
    button.textContent = copy;
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
    figure.querySelector('figcaption').append(button);
  }
}
