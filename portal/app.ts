import { type Context, Hono } from 'hono';
import { html } from 'hono/html';
import { secureHeaders } from 'hono/secure-headers';
import { AdminError } from '../packages/admin/index.ts';
import { copyScript, document, type Frame, fingerprint, styleSheet } from './layout.ts';
import { accountPages } from './pages/account.ts';
import { keyPages } from './pages/keys.ts';
import { memberPages } from './pages/members.ts';
import { operatorPages } from './pages/operator.ts';
import { faultPage } from './pages/parts.ts';
import { planPages } from './pages/plans.ts';
import { registerPages } from './pages/register.ts';
import type { Text } from './text/en.ts';
import { texts } from './text/format.ts';
import { type Attempt, openIdSignIn, portalCookies, sessionSeconds } from './visit/sign-in.ts';
import {
  checkSettings,
  may,
  type Page,
  type PageAnswer,
  type PageRoute,
  type PortalSettings,
  type Session,
  type Tools,
  visits,
} from './visit/visit.ts';

/** Every page behind a sign-in, with the action that it needs. */
export const pageRoutes: readonly PageRoute[] = [
  ...accountPages,
  ...keyPages,
  ...memberPages,
  ...operatorPages,
  ...planPages,
  ...registerPages,
];

/** How long a person may take to sign in at the provider. */
const signInSeconds = 600;

/** The portal. Errors that no visitor caused go to `logError`, with the id that their page shows. */
export function portalApp(tools: Tools, logError: (error: unknown, id: string) => void): Hono {
  const { settings } = tools;
  checkSettings(settings);
  const cookies = portalCookies(settings);
  const signIn = openIdSignIn(settings.signIn, settings.baseUrl);
  const { languageOf, sessionOf, visitOf, roleOf } = visits(tools, cookies);
  const { files, addresses } = assetFiles(settings);
  const app = new Hono();
  app.use(headers(settings));
  app.use(async (c, next) => {
    await next();
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
  });

  function show(c: Context, page: Page, frame: Partial<Frame> = {}) {
    const language = languageOf(c);
    const around = { settings, assets: addresses, language, path: c.req.path, canSwitch: c.req.method === 'GET' };
    c.header('Content-Language', language);
    return c.html(document(page, { ...around, ...frame }), page.status ?? 200);
  }

  const fault = (c: Context, name: Fault, frame: Partial<Frame> = {}) =>
    show(c, faultOf(texts[languageOf(c)], name), frame);

  /** Logs an error of the provider or of the connection to it, and returns no result. */
  const orLogged = <T>(c: Context, work: Promise<T>): Promise<T | undefined> =>
    work.catch((error: unknown) => void logError(error, requestId(c)));

  for (const { path, content, type } of files)
    app.get(path, (c) =>
      c.body(content, 200, { 'Content-Type': type, 'Cache-Control': 'public, max-age=31536000, immutable' }),
    );

  app.get('/language', (c) => {
    const to = c.req.query('to');
    if (to === 'nl' || to === 'en') cookies.write(c, 'language', to, 365 * 86_400);
    const back = c.req.query('back') ?? '/';
    return c.redirect(/^\/(?!\/)[A-Za-z0-9/._-]*$/.test(back) ? back : '/', 303);
  });

  app.get('/sign-in', async (c) => {
    const begun = await orLogged(c, signIn.begin(languageOf(c)));
    if (!begun) return fault(c, 'provider');
    await cookies.seal(c, 'sign-in', { ...begun.attempt }, signInSeconds);
    return c.redirect(begun.url, 303);
  });

  app.get('/callback', async (c) => {
    const attempt = (await cookies.unseal(c, 'sign-in')) as Attempt | undefined;
    cookies.remove(c, 'sign-in');
    // The provider is asked only about an attempt that this browser began.
    if (!attempt || c.req.query('state') !== attempt.state) return fault(c, 'signIn');
    const person = await orLogged(c, signIn.complete(new URL(c.req.url).search.slice(1), attempt));
    if (!person) return fault(c, 'signIn');
    const id = await tools.adminAs('portal').sessions.start(person.subject, sessionSeconds);
    await cookies.seal(c, 'session', { ...person, id }, sessionSeconds);
    return c.redirect('/', 303);
  });

  app.post('/sign-out', async (c) => {
    const session = await sessionOf(c);
    if (session) {
      if (!(await visitOf(c, session))) return fault(c, 'badRequest');
      await tools.adminAs('portal').sessions.end(session.subject, session.id);
    }
    cookies.remove(c, 'session');
    return show(c, signedOut(texts[languageOf(c)], await signIn.signOutUrl()));
  });

  for (const route of pageRoutes)
    app.on(route.method, route.path, async (c) => {
      const session = await sessionOf(c);
      if (session) return page(c, route, session);
      return route.method === 'POST' ? fault(c, 'badRequest') : show(c, welcome(texts[languageOf(c)]));
    });

  async function page(c: Context, route: PageRoute, session: Session): Promise<Response> {
    const visit = await visitOf(c, session);
    if (!visit) return fault(c, 'badRequest', { person: session });
    const frame: Partial<Frame> = { person: session, formField: visit.formField };
    if (route.of === 'service') {
      const isAllowed = route.action === 'home' || (session.operator && may('operator', route.action));
      return isAllowed ? answer(c, await route.handle(visit), frame) : fault(c, 'notFound', frame);
    }
    const account = c.req.param('account') ?? '';
    const role = await roleOf(visit, account);
    if (!role) return fault(c, 'notFound', frame);
    frame.account = { id: account, role };
    if (!may(role, route.action)) return fault(c, 'forbidden', frame);
    return answer(c, await route.handle({ ...visit, account, role }), frame);
  }

  function answer(c: Context, given: PageAnswer, frame: Partial<Frame>): Response | Promise<Response> {
    if ('goTo' in given) return c.redirect(given.goTo, 303);
    if (!('file' in given)) return show(c, given, frame);
    const disposition = `attachment; filename="${given.name}"`;
    return c.body(given.file, 200, { 'Content-Type': given.type, 'Content-Disposition': disposition });
  }

  app.notFound((c) => fault(c, 'notFound'));
  app.onError((error, c) => {
    // Of an account that does not exist only operators get this far.
    if (error instanceof AdminError && ['not_found', 'invalid'].includes(error.code)) return fault(c, 'notFound');
    const id = requestId(c);
    logError(error, id);
    const text = texts[languageOf(c)];
    const { failed, failedText } = text.errors;
    return show(c, faultPage(text, { title: failed, explanation: `${failedText} ${id}`, back: '/', status: 500 }));
  });
  return app;
}

function headers({ baseUrl }: PortalSettings) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
    },
    xFrameOptions: 'DENY',
    // Not `no-referrer`: with that, browsers send forms without their origin.
    referrerPolicy: 'same-origin',
    strictTransportSecurity: baseUrl.startsWith('https://') && 'max-age=63072000; includeSubDomains',
  });
}

/** The files of the portal, at addresses that change with their contents. */
function assetFiles({ colour, logo }: PortalSettings) {
  const file = (name: string, content: string | Uint8Array<ArrayBuffer>, type: string) => ({
    path: `/${fingerprint(content)}/${name}`,
    content,
    type,
  });
  const style = file('portal.css', styleSheet(colour), 'text/css; charset=utf-8');
  const script = file('portal.js', copyScript, 'text/javascript; charset=utf-8');
  const picture = logo && file('logo', logo.bytes, logo.type);
  return {
    files: [style, script, ...(picture ? [picture] : [])],
    addresses: { style: style.path, script: script.path, ...(picture && { logo: picture.path }) },
  };
}

/** The id of a request in the logs of API Gateway. */
function requestId(c: Context): string {
  const { requestContext } = (c.env ?? {}) as { requestContext?: { requestId?: string } };
  return requestContext?.requestId ?? '-';
}

function welcome(text: Text): Page {
  return {
    title: text.welcome,
    body: html`<div class="card"><p>${text.welcomeText}</p><p><a class="button" href="/sign-in">${text.signIn}</a></p></div>`,
  };
}

function signedOut(text: Text, atProvider: string | undefined): Page {
  const there = atProvider ? html`<a class="button plain" href="${atProvider}">${text.signOutThere}</a>` : '';
  return {
    title: text.signedOut,
    body: html`<div class="card"><p>${text.signedOutText}</p><div class="actions"><a class="button" href="/sign-in">${text.signIn}</a>${there}</div></div>`,
  };
}

type Fault = 'badRequest' | 'forbidden' | 'notFound' | 'signIn' | 'provider';
const faultStatus = { badRequest: 400, forbidden: 403, notFound: 404, signIn: 400, provider: 503 } as const;

function faultOf(text: Text, name: Fault): Page {
  const back = name === 'signIn' || name === 'provider' ? '/sign-in' : '/';
  const explanation = text.errors[`${name}Text`];
  return faultPage(text, { title: text.errors[name], explanation, back, status: faultStatus[name] });
}
