// Runs in the browser. The renderer has no console to try requests with, so it never asks for a key.
const main = document.getElementById('reference');

// Makes code samples that overflow scrollable with the keyboard.
new MutationObserver(() => {
  for (const program of main.querySelectorAll('pre:not([tabindex])')) program.tabIndex = 0;
}).observe(main, { childList: true, subtree: true });

globalThis.Redoc.init(
  '/v1/openapi.json',
  {
    expandResponses: '200',
    hideSchemaPattern: true,
    jsonSamplesExpandLevel: 'all',
    nativeScrollbars: true,
    requiredPropsFirst: true,
    theme: { typography: { fontFamily: 'system-ui, sans-serif', headings: { fontFamily: 'system-ui, sans-serif' } } },
  },
  main,
);
