// Runs in the browser, after the page. Without it the form is sent as any other is.

// Sends a form from within its page, which shows the answer: the field that it keeps, a key, stays
// as it was typed, in the memory of this page.
addEventListener('submit', async (event) => {
  const form = event.target;
  const { keeps, failed } = form.dataset;
  if (keeps === undefined) return;
  event.preventDefault();
  const main = form.closest('main');
  // One at a time, however often the button is pressed.
  if (main.ariaBusy === 'true') return;
  main.ariaBusy = 'true';
  const typed = form.elements[keeps].value;
  let answer;
  try {
    const response = await fetch(form.action, {
      method: 'POST',
      body: new URLSearchParams(new FormData(form)),
      signal: AbortSignal.timeout(30_000),
    });
    const page = new DOMParser().parseFromString(await response.text(), 'text/html');
    answer = page.querySelector('main');
    if (answer) document.title = page.title;
  } catch {
    // There is no connection, or nothing answered in time.
  }
  if (!answer) {
    answer = main.cloneNode(true);
    for (const old of answer.querySelectorAll('[role="status"], [role="alert"]')) old.remove();
    const note = document.createElement('p');
    note.className = 'note bad';
    note.role = 'alert';
    note.textContent = failed;
    answer.querySelector('h1').after(note);
  }
  answer.removeAttribute('aria-busy');
  main.replaceWith(answer);
  const field = answer.querySelector(`#${keeps}`);
  if (field) field.value = typed;
  addCopyButtons(answer);
  const news = answer.querySelector('[role="status"], [role="alert"]') ?? answer;
  news.tabIndex = -1;
  news.focus();
});
