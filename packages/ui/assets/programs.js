// Runs in the browser, after the page. Without it each visit begins with the first language.

// The language of the programs that was chosen last stays chosen in this browser, by its name.
try {
  const inputs = [...document.querySelectorAll('input[name="program"]')];
  const nameOf = (input) => input.labels[0].textContent;
  const chosen = inputs.find((input) => nameOf(input) === localStorage.getItem('program'));
  if (chosen) chosen.checked = true;
  for (const input of inputs) {
    input.addEventListener('change', () => localStorage.setItem('program', nameOf(input)));
  }
} catch {
  // The browser keeps nothing for this page.
}
