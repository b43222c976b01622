import { html } from 'hono/html';
import type { Html } from '../../packages/ui/table.ts';
import { type Page, serviceRoutes } from '../request/page-routes.ts';
import type { PortalRequest } from '../request/portal-request.ts';
import type { Text } from '../text/en.ts';
import { faultPage } from './page-parts.ts';

/** Help for a customer's people, in their language; the content is in the texts. */
export const helpPages = serviceRoutes({ 'GET /help': ['home', helpPage] });

function helpPage({ text }: PortalRequest): Page {
  const { title, topics } = text.help;
  const list = topics.map((topic) => {
    const [name = '', ...meaning] = topic.split(': ');
    return html`<div><dt>${name}</dt><dd>${meaning.join(': ')}</dd></div>`;
  });
  return { title, body: html`<div class="card"><dl class="terms">${list}</dl></div>` };
}

/** The page for visitors who have not signed in; signing in leads to the requested page. */
export function welcome(text: Text, back: string): Page {
  return { title: text.welcome, body: signInCard(text, text.welcomeText, back) };
}

/** The answer to a form whose session has ended: it comes back on the page `back`. */
export function signInAgain(text: Text, back: string): Page {
  return {
    title: text.signInAgain,
    status: 403,
    body: signInCard(text, text.signInAgainText, back),
  };
}

function signInCard(text: Text, explanation: string, back: string): Html {
  const address = back === '/' ? '/sign-in' : `/sign-in?back=${encodeURIComponent(back)}`;
  return html`<div class="card"><p>${explanation}</p><p><a class="button" href="${address}">${text.frame.signIn}</a></p></div>`;
}

/** A page whose form has come back with the typed values. */
export function keptNote(page: Page, text: Text): Page {
  return { ...page, body: html`<p class="note" role="status">${text.kept}</p>${page.body}` };
}

/** The page after a session; `atProvider` ends the session at the provider. */
export function signedOut(text: Text, atProvider: string | undefined): Page {
  const there = atProvider
    ? html`<a class="button plain" href="${atProvider}">${text.signOutThere}</a>`
    : '';
  return {
    title: text.signedOut,
    body: html`<div class="card"><p>${text.signedOutText}</p><div class="actions"><a class="button" href="/sign-in">${text.frame.signIn}</a>${there}</div></div>`,
  };
}

const faultStatus = {
  badRequest: 400,
  forbidden: 403,
  notFound: 404,
  signIn: 400,
  identity: 400,
  provider: 503,
  slow: 503,
  tooMany: 429,
} as const;
export type PageFault = keyof typeof faultStatus;

/** The page for a fault before the requested page could be shown, with a way to continue. */
export function faultOf(text: Text, name: PageFault): Page {
  const back = ['signIn', 'identity', 'provider'].includes(name) ? '/sign-in' : '/';
  const explanation = text.errors[`${name}Text`];
  return faultPage(text, {
    title: text.errors[name],
    explanation,
    back,
    status: faultStatus[name],
  });
}
