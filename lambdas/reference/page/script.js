// Runs in the browser: adds a button to each sample that copies it. Without a secure context there is no clipboard.
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
