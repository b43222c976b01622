import { html } from 'hono/html';
import type { Page, PageRoute, Visit } from '../visit/visit.ts';

/** What a customer's people have to know, in their language: the texts have it. */
export const helpPages: readonly PageRoute[] = [
  { of: 'service', method: 'GET', path: '/help', action: 'home', handle: async (visit) => helpPage(visit) },
];

function helpPage({ text }: Visit): Page {
  const { title, sections } = text.help;
  const cards = sections.map(({ name, sentences, terms = [] }) => {
    const list = terms.map(([term, meaning]) => html`<div><dt>${term}</dt><dd>${meaning}</dd></div>`);
    return html`<div class="card"><h2>${name}</h2>${sentences.map((one) => html`<p>${one}</p>`)}${list.length > 0 ? html`<dl class="terms">${list}</dl>` : ''}</div>`;
  });
  return { title, body: html`${cards}` };
}
