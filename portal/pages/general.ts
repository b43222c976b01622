import { html } from 'hono/html';
import type { Text } from '../text/en.ts';
import { ofService, type Page, type PageRoute, type Visit } from '../visit/visit.ts';
import { faultPage } from './parts.ts';

/** What a customer's people have to know, in their language: the texts have it. */
export const helpPages: readonly PageRoute[] = [ofService('GET', '/help', 'home', helpPage)];

function helpPage({ text }: Visit): Page {
  const { title, sections } = text.help;
  const cards = sections.map(({ name, sentences, terms = [] }) => {
    const list = terms.map(([term, meaning]) => html`<div><dt>${term}</dt><dd>${meaning}</dd></div>`);
    return html`<div class="card"><h2>${name}</h2>${sentences.map((one) => html`<p>${one}</p>`)}${list.length > 0 ? html`<dl class="terms">${list}</dl>` : ''}</div>`;
  });
  return { title, body: html`${cards}` };
}

/** The first page of a visitor who has not signed in. */
export function welcome(text: Text): Page {
  return {
    title: text.welcome,
    body: html`<div class="card"><p>${text.welcomeText}</p><p><a class="button" href="/sign-in">${text.signIn}</a></p></div>`,
  };
}

/** The page after a session; `atProvider` is where the session of the provider ends. */
export function signedOut(text: Text, atProvider: string | undefined): Page {
  const there = atProvider ? html`<a class="button plain" href="${atProvider}">${text.signOutThere}</a>` : '';
  return {
    title: text.signedOut,
    body: html`<div class="card"><p>${text.signedOutText}</p><div class="actions"><a class="button" href="/sign-in">${text.signIn}</a>${there}</div></div>`,
  };
}

const faultStatus = {
  badRequest: 400,
  confirm: 403,
  forbidden: 403,
  notFound: 404,
  signIn: 400,
  identity: 400,
  provider: 503,
  slow: 503,
  tooMany: 429,
} as const;
export type PageFault = keyof typeof faultStatus;

/** What went wrong before a page could be shown, and where to go on. */
export function faultOf(text: Text, name: PageFault): Page {
  const back = ['signIn', 'identity', 'provider', 'confirm'].includes(name) ? '/sign-in' : '/';
  const explanation = text.errors[`${name}Text`];
  return faultPage(text, { title: text.errors[name], explanation, back, status: faultStatus[name] });
}
