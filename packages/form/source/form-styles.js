/** In the colours of the page, light or dark. */
export const css = `
  :host { --accent: color-mix(in srgb, var(--bag-adres-colour, #0a5cab) 72%, currentColor); display: grid; gap: 1rem; line-height: 1.5; }
  slot { display: flex; flex-wrap: wrap; gap: 0.75rem; }
  ::slotted(*) { flex: 1 1 100%; min-width: 0; }
  ::slotted(label) { flex: 1 1 6.75rem; font-weight: 600; }
  ::slotted(label[slot]) { flex-basis: 13rem; }
  section { position: relative; box-sizing: border-box; display: grid; align-content: center; gap: 0.25rem; padding: 0.5rem 0.875rem; min-height: clamp(6.75rem, 26.5rem - 68vw, 13rem); border-radius: var(--bag-adres-radius, 0.4rem); background: color-mix(in srgb, var(--tone, currentColor) 7%, transparent); overflow-wrap: anywhere; }
  p { margin: 0; outline: 0; }
  b, span { display: block; }
  .ok { --tone: color-mix(in srgb, #0b8043 72%, currentColor); --icon: '✓'; }
  .ask { --tone: var(--accent); --icon: '?'; }
  .wrong { --tone: color-mix(in srgb, #d01b1b 68%, currentColor); --icon: '!'; }
  section:not(.hint) { padding-inline-start: 3rem; }
  section:not(.hint)::before { content: var(--icon); position: absolute; inset-inline-start: 0.75rem; top: calc(50% - 0.75rem); width: 1.25rem; border: 2px solid; border-radius: 50%; color: var(--tone); font-weight: 700; line-height: 1.25rem; text-align: center; }
  div { display: flex; flex-wrap: wrap; align-items: center; gap: 0.25rem 0.5rem; }
  button, select { min-height: 2rem; padding: 0 0.75rem; border: 1px solid; border-radius: var(--bag-adres-radius, 0.4rem); background: none; color: var(--accent); font: inherit; cursor: pointer; }`;

/** For plain labelled fields in the element, weaker than any rule of the page. */
export const pageCss = `
  :where(bag-adres-form:has(> label)) { max-width: 36rem; font-family: system-ui, sans-serif; }
  :where(bag-adres-form > button) { min-height: 2.75rem; border: 0; border-radius: 0.4rem; background: var(--bag-adres-colour, #0a5cab); color: #fff; font: inherit; font-weight: 600; cursor: pointer; }
  :where(bag-adres-form > label > input) { box-sizing: border-box; width: 100%; min-height: 2.75rem; margin-top: 0.25rem; padding: 0.5rem 0.75rem; border: 1px solid color-mix(in srgb, currentColor 45%, transparent); border-radius: 0.4rem; background: Field; color: inherit; font: inherit; font-weight: 400; }
  :where(bag-adres-form > label > [aria-invalid='true']) { border: 2px solid #d01b1b; }`;
