import { html } from 'hono/html';
import type { Text } from '../text/en.ts';
import type { Page } from '../visit/visit.ts';
import { faultPage } from './parts.ts';

/** Whom the portal does not know. */
export function welcome(text: Text): Page {
  return {
    title: text.welcome,
    body: html`<div class="card"><p>${text.welcomeText}</p><p><a class="button" href="/sign-in">${text.signIn}</a></p></div>`,
  };
}

/** After the end of a session; `atProvider` is where the one of the provider ends. */
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
