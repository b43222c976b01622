import { type Context, Hono } from 'hono';
import {
  defaultIsContentTypeBinary,
  handle,
  type LambdaContext,
  type LambdaEvent,
} from 'hono/aws-lambda';
import { compress } from 'hono/compress';
import { secureHeaders } from 'hono/secure-headers';
import { type AccountView, AdminError } from '../packages/admin/index.ts';
import { iconUrl, readAsset, styleSheet } from '../packages/ui/assets.ts';
import { excelType } from '../packages/ui/csv.ts';
import { type Language, languageIn } from '../packages/ui/language.ts';
import { document, type Frame, fingerprint } from './layout.ts';
import { accountPages } from './pages/account-page.ts';
import { findKeyPages } from './pages/find-key-page.ts';
import {
  faultOf,
  helpPages,
  keptNote,
  type PageFault,
  signedOut,
  signInAgain,
  welcome,
} from './pages/general-pages.ts';
import { homePages } from './pages/home-page.ts';
import { keyPages } from './pages/keys-page.ts';
import { memberPages } from './pages/members-page.ts';
import { operatorPages } from './pages/operator-page.ts';
import { faultPage, invalidPage, notFoundPage } from './pages/page-parts.ts';
import { planPages } from './pages/plans-page.ts';
import { registerPages } from './pages/register-page.ts';
import { sessionPages } from './pages/sessions-page.ts';
import { statementPages } from './pages/statements-page.ts';
import { isTryPath, tryPages } from './pages/try-page.ts';
import { usagePages } from './pages/usage-page.ts';
import { cached } from './request/cached.ts';
import { localPath, portalCookies, sessionSeconds } from './request/cookies.ts';
import { deadlineMilliseconds, within } from './request/deadline.ts';
import { type Identity, UnusableIdentity } from './request/identity.ts';
import { keptForms } from './request/kept-form.ts';
import {
  may,
  OtherPage,
  type Page,
  type PageAnswer,
  type PageRoute,
} from './request/page-routes.ts';
import {
  checkSettings,
  type PortalRequest,
  type PortalSettings,
  portalRequests,
  type Session,
  type Tools,
} from './request/portal-request.ts';
import { createRateLimit, defaultRates, networkOf } from './request/rates.ts';
import { type Attempt, faultOfProvider, openIdSignIn } from './request/sign-in.ts';
import { providerFault } from './stack/portal-names.ts';
import { texts } from './text/portal-texts.ts';

/** Every page behind a sign-in, with the action that it needs. */
export const pageRoutes: readonly PageRoute[] = [
  ...accountPages,
  ...findKeyPages,
  ...helpPages,
  ...homePages,
  ...keyPages,
  ...memberPages,
  ...operatorPages,
  ...planPages,
  ...registerPages,
  ...sessionPages,
  ...statementPages,
  ...tryPages,
  ...usagePages,
];

const addressOf = (c: Context): string => c.req.path + new URL(c.req.url).search;

/** How long a person may take to sign in at the provider. */
const signInSeconds = 600;

/** `provider` is set when the OpenID provider let nobody through: its code, or `unreachable`. */
type LogError = (error: unknown, id: string, provider?: string) => void;

/**
 * The portal. Errors that no visitor caused go to `logError`, with the id that their page shows.
 */
export function portalApp(tools: Tools, logError: LogError): Hono {
  const { settings } = tools;
  checkSettings(settings);
  const { files, addresses } = assetFiles(settings);
  const parts = partsOf(tools, logError, addresses);
  const { cookies, languageOf, show, fault, noAccount } = parts;
  const deadline = tools.deadlineMilliseconds ?? deadlineMilliseconds;
  const app = new Hono();
  const plainHeaders = headers(settings);
  const sendingHeaders = headers(settings, { connectSrc: ["'self'"] });
  app.use(compressed(), (c, next) =>
    (isTryPath(c.req.path) ? sendingHeaders : plainHeaders)(c, next),
  );
  app.use(async (c, next) => {
    await next();
    if (!c.res.headers.has('cache-control')) c.header('Cache-Control', 'no-store');
  });
  app.use(async (c, next) => {
    const answered = await within(
      c.req.method === 'POST' ? deadline.form : deadline.page,
      next().then(() => true),
    );
    if (answered) return;
    logError(new Error('A page took too long.'), requestId(c));
    return fault(c, 'slow');
  });
  for (const { path, content, type } of files) {
    app.get(path, (c) =>
      c.body(content, 200, {
        'Content-Type': type,
        'Cache-Control': 'public, max-age=31536000, immutable',
      }),
    );
  }
  app.get('/language', (c) => {
    const to = languageIn(c.req.query('to'));
    if (to) cookies.write(c, 'language', to, 365 * 86_400);
    return c.redirect(localPath(c.req.query('back')), 303);
  });
  addSignIn(app, parts);
  addPages(app, parts);
  app.notFound((c) => fault(c, 'notFound'));
  app.onError((error, c) => {
    const text = texts[languageOf(c)];
    if (error instanceof AdminError && error.code === 'invalid') {
      return show(c, invalidPage(text, '/', text.errors.other));
    }
    if (error instanceof AdminError && error.code === 'not_found') {
      // Only operators get this far about an account that does not exist.
      const [, account] = /^\/accounts\/([^/]+)/.exec(c.req.path) ?? [];
      const isAbout = account !== undefined && error.subject === 'account';
      return isAbout ? noAccount(c, account) : fault(c, 'notFound');
    }
    const id = requestId(c);
    logError(error, id);
    const { failed: title, failedText } = text.errors;
    return show(
      c,
      faultPage(text, { title, explanation: `${failedText} ${id}`, back: '/', status: 500 }),
    );
  });
  return app;
}

export function portalHandler(app: Hono) {
  // Sent as text, the file would lose the byte order mark that tells Excel to read UTF-8.
  const isContentTypeBinary = (type: string) =>
    type === excelType || defaultIsContentTypeBinary(type);
  const answer = handle(app, { isContentTypeBinary });
  return (event: GatewayEvent, context?: LambdaContext) => answer(inUrl(event), context);
}

/** An event of payload format 2.0. */
export type GatewayEvent = Extract<LambdaEvent, { rawPath: string }>;

/**
 * Escapes the path of an event, which API Gateway has decoded: Hono parses it as a URL, and would
 * read `/accounts/X#y` as `/accounts/X`. A `..`, which a URL can't hold escaped, becomes a name
 * that matches nothing.
 */
function inUrl(event: GatewayEvent): GatewayEvent {
  const path = encodeURI(event.rawPath).replace(/[?#]/g, encodeURIComponent);
  return { ...event, rawPath: path.replace(/(?<=\/)\.{1,2}(?=\/|$)/g, '%25') };
}

function partsOf(tools: Tools, logError: LogError, assets: Frame['assets']) {
  const cookies = portalCookies(tools.settings);
  const request = portalRequests(tools, cookies);
  const take = createRateLimit(tools.rates ?? defaultRates, tools.now);
  return {
    tools,
    logError,
    cookies,
    take,
    ...request,
    ...answersOf(tools.settings, assets, request.languageOf),
  };
}

type Parts = ReturnType<typeof partsOf>;

/** How a page, or a fault that has one, becomes a response. */
function answersOf(
  settings: PortalSettings,
  assets: Frame['assets'],
  languageOf: (c: Context) => Language,
) {
  function show(c: Context, page: Page, frame: Partial<Frame> = {}) {
    const language = languageOf(c);
    const canSwitch = c.req.method === 'GET';
    const common = {
      settings,
      assets,
      language,
      path: c.req.path,
      address: addressOf(c),
      canSwitch,
    };
    c.header('Content-Language', language);
    return c.html(document(page, { ...common, ...frame }), page.status ?? 200);
  }

  const fault = (c: Context, name: PageFault, frame: Partial<Frame> = {}) =>
    show(c, faultOf(texts[languageOf(c)], name), frame);

  /** An account that does not exist, or that this visitor may not know of. */
  function noAccount(c: Context, account: string, frame: Partial<Frame> = {}) {
    const text = texts[languageOf(c)];
    return show(c, notFoundPage(text, '/', text.noSuchAccount(account)), frame);
  }

  function tooMany(c: Context, waitSeconds: number): Response | Promise<Response> {
    c.header('Retry-After', String(waitSeconds));
    return fault(c, 'tooMany');
  }

  return { show, fault, noAccount, tooMany };
}

function addSignIn(app: Hono, parts: Parts): void {
  const {
    tools,
    logError,
    cookies,
    take,
    languageOf,
    sessionOf,
    formOf,
    senderOf,
    show,
    fault,
    tooMany,
  } = parts;
  const signIn = openIdSignIn(tools.settings.signIn, tools.settings.baseUrl);

  app.get('/sign-in', async (c) => {
    const begun = await signIn
      .begin(languageOf(c), localPath(c.req.query('back')))
      .catch((error: unknown) => void logError(error, requestId(c), providerFault.unreachable));
    if (!begun) return fault(c, 'provider');
    await cookies.seal(c, 'sign-in', { ...begun.attempt }, signInSeconds);
    return c.redirect(begun.url, 303);
  });

  app.get('/callback', async (c) => {
    const attempt = (await cookies.unseal(c, 'sign-in')) as Attempt | undefined;
    // The provider is asked only about an attempt that this browser began.
    if (!attempt || c.req.query('state') !== attempt.state) {
      cookies.remove(c, 'sign-in');
      return fault(c, 'signIn');
    }
    const wait = take('callback', networkOf(sourceOf(c)));
    if (wait > 0) return tooMany(c, wait);
    cookies.remove(c, 'sign-in');
    try {
      const identity = await signIn.complete(new URL(c.req.url).search.slice(1), attempt);
      await beginSession(c, identity);
    } catch (error) {
      const provider = faultOfProvider(error);
      logError(error, requestId(c), provider);
      const { name, message } = error instanceof Error ? error : { name: 'unknown', message: '' };
      const isUnusable = error instanceof UnusableIdentity;
      await tools
        .adminAs('portal')
        .sessions.refuse({ reason: name, identity: isUnusable ? message : '-' });
      if (isUnusable) return fault(c, 'identity');
      // Not the visitor's fault: the alarms count it.
      return fault(c, provider === undefined ? 'signIn' : 'provider');
    }
    return c.redirect(attempt.back, 303);
  });

  /**
   * The session of this browser goes on if the provider confirms who has it; any other sign-in
   * replaces it.
   */
  async function beginSession(c: Context, identity: Identity): Promise<void> {
    const { subject, email, emailFault, name, operatorClaim } = identity;
    const { sessions } = tools.adminAs('portal');
    const claims = {
      ...(operatorClaim && { operator: operatorClaim }),
      ...(emailFault && { email_fault: emailFault }),
    };
    const browser = c.req.header('user-agent');
    const details = { people: email === undefined ? [] : [email], name, browser, claims };
    const current = await sessionOf(c);
    if (current?.isStale && (await sessions.confirm(current.id, subject, details))) return;
    if (current) await sessions.end(current.person.subject, current.id);
    await cookies.writeSession(c, await sessions.start(subject, sessionSeconds, details));
  }

  app.post('/sign-out', async (c) => {
    const session = await sessionOf(c);
    if (session) {
      const form = await formOf(c);
      if (!form || (await senderOf(form, session)) === 'other') return fault(c, 'badRequest');
      await tools.adminAs('portal').sessions.end(session.person.subject, session.id);
    }
    cookies.remove(c, 'session');
    return show(c, signedOut(texts[languageOf(c)], await signIn.signOutUrl()));
  });
}

/** Whether a page can be opened at a path. */
function isPage(path: string): boolean {
  const isAt = (pattern: string) =>
    new RegExp(`^${pattern.replaceAll(/:[a-z]+/g, '[^/]+')}$`).test(path);
  return pageRoutes.some((route) => route.method === 'GET' && isAt(route.path));
}

/** How many loads wait, for the menu of operators: it keeps no page from being shown. */
async function waitingFor({ person, shared }: PortalRequest): Promise<number> {
  if (!person.operator) return 0;
  const waiting = await within(1000, shared.waiting()).catch(() => undefined);
  return waiting?.length ?? 0;
}

function addPages(app: Hono, parts: Parts): void {
  const {
    cookies,
    take,
    languageOf,
    sessionOf,
    formOf,
    senderOf,
    requestOf,
    roleOf,
    show,
    fault,
    noAccount,
    tooMany,
  } = parts;
  const { keep, take: takeBack } = keptForms(cookies, isPage);
  for (const route of pageRoutes) {
    app.on(route.method, route.path, async (c) => {
      const id = await cookies.readSession(c);
      const wait = id === undefined ? 0 : take('session', id);
      if (wait > 0) return tooMany(c, wait);
      const session = await sessionOf(c);
      if (route.method === 'POST') return send(c, route, session);
      if (!session) return show(c, welcome(texts[languageOf(c)], addressOf(c)));
      // Only the provider, which remembers who signed in, knows whether a claim still makes this
      // person an operator.
      if (session.isStale) {
        return c.redirect(`/sign-in?back=${encodeURIComponent(addressOf(c))}`, 303);
      }
      const typed = await takeBack(c, session.person.subject);
      const request = await requestOf(c, session, typed);
      return page(c, route, typed ? { ...request, comesBack: true } : request);
    });
  }

  /**
   * A form of this site without a session of now is not refused: it comes back after signing in.
   */
  async function send(
    c: Context,
    route: PageRoute,
    session: Session | undefined,
  ): Promise<Response> {
    const person = session && { person: session.person };
    const form = await formOf(c);
    if (!form) return fault(c, 'badRequest', person);
    const sender = session && (await senderOf(form, session));
    if (!session || session.isStale) {
      return show(c, signInAgain(texts[languageOf(c)], await keep(c, form)), person);
    }
    if (sender === 'person') return c.redirect(await keep(c, form), 303);
    if (sender === 'other') return fault(c, 'badRequest', person);
    return page(c, route, await requestOf(c, session, form));
  }

  async function page(c: Context, route: PageRoute, request: PortalRequest): Promise<Response> {
    const { person } = request;
    const frame: Partial<Frame> = { person, formField: request.formField };
    if (route.of === 'service') {
      const isAllowed =
        route.action === 'home' || (person.operator && may('operator', route.action));
      return isAllowed
        ? answer(c, request, () => route.handle(request), frame)
        : fault(c, 'notFound', frame);
    }
    const account = c.req.param('account') ?? '';
    const role = await roleOf(request, account);
    if (!role) return noAccount(c, account, frame);
    frame.account = { id: account, role };
    if (!may(role, route.action)) return fault(c, 'forbidden', frame);
    const view = cached(() => request.admin.accounts.show(account), {
      milliseconds: Number.POSITIVE_INFINITY,
    });
    return answer(c, request, () => route.handle({ ...request, account, role, view }), frame, view);
  }

  async function answer(
    c: Context,
    request: PortalRequest,
    work: () => PageAnswer | Promise<PageAnswer>,
    frame: Partial<Frame>,
    viewed?: () => Promise<AccountView>,
  ): Promise<Response> {
    const { comesBack, text } = request;
    const given = await (async () => work())().catch((error: unknown) => {
      if (error instanceof OtherPage) return error.page;
      throw error;
    });
    if ('goTo' in given) return c.redirect(given.goTo, 303);
    if (!('file' in given)) {
      const [waiting, view] = await Promise.all([waitingFor(request), viewed?.()]);
      return show(c, comesBack ? keptNote(given, text) : given, { ...frame, waiting, view });
    }
    const disposition = `attachment; filename="${given.name}"`;
    return c.body(given.file, 200, {
      'Content-Type': given.type,
      'Content-Disposition': disposition,
    });
  }
}

/**
 * Compresses pages, files and assets for browsers that read it. No other site learns a token from
 * their size: requests that it makes have no cookie (`SameSite=Lax`).
 */
const compressed = () => compress({ encoding: 'gzip', contentTypeFilter: /^(text\/|image\/svg)/ });

function headers({ baseUrl }: PortalSettings, sources: { connectSrc?: string[] } = {}) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      styleSrc: ["'self'"],
      scriptSrc: ["'self'"],
      imgSrc: ["'self'", 'data:'],
      formAction: ["'self'"],
      frameAncestors: ["'none'"],
      baseUri: ["'none'"],
      ...sources,
    },
    xFrameOptions: 'DENY',
    // Not `no-referrer`: with that, browsers send forms without their origin.
    referrerPolicy: 'same-origin',
    strictTransportSecurity:
      baseUrl.startsWith('https://') && 'max-age=63072000; includeSubDomains',
  });
}

/** Presses the button of a page that goes on by itself. */
const goOnScript = "document.querySelector('button[data-go-on]')?.click();\n";

/** Requests a page again that lacks a figure, while somebody sees it who is not typing. */
const comesAgainScript = `if (document.querySelector('[data-comes-again]'))
  setInterval(() => {
    const isTyping = document.activeElement?.closest('form');
    if (document.visibilityState === 'visible' && !isTyping) location.reload();
  }, 3000);
`;

/** Closes a menu of actions by a click elsewhere or the Escape key. */
const menuScript = `for (const kind of ['click', 'keydown'])
  addEventListener(kind, ({ key, target }) => {
    for (const menu of document.querySelectorAll('.more[open]'))
      if (key === 'Escape' || (!key && !menu.contains(target))) menu.open = false;
  });
`;

/** The files of the portal, at addresses that change with their contents. */
function assetFiles({ colour, logo }: PortalSettings) {
  const file = (name: string, content: string | Uint8Array<ArrayBuffer>, type: string) => ({
    path: `/assets/${fingerprint(content)}/${name}`,
    content,
    type,
  });
  const style = file('portal.css', styleSheet(colour), 'text/css; charset=utf-8');
  const assets = (['copy.js', 'programs.js', 'chart.js', 'send.js'] as const).map(readAsset);
  const scripts = goOnScript + comesAgainScript + menuScript + assets.join('');
  const script = file('portal.js', scripts, 'text/javascript; charset=utf-8');
  const picture = logo && file('logo', logo.bytes, logo.type);
  return {
    files: [style, script, ...(picture ? [picture] : [])],
    addresses: {
      style: style.path,
      script: script.path,
      icon: picture?.path ?? iconUrl({ colour }),
      ...(picture && { logo: picture.path }),
    },
  };
}

/** What API Gateway says of a request. */
function contextOf(c: Context) {
  type Known = { requestContext?: { requestId?: string; http?: { sourceIp?: string } } };
  return ((c.env ?? {}) as Known).requestContext;
}

/** The id of a request in the logs of API Gateway. */
const requestId = (c: Context): string => contextOf(c)?.requestId ?? '-';

/**
 * The IP address that connected to API Gateway. Not `X-Forwarded-For`, which a visitor can write.
 */
const sourceOf = (c: Context): string => contextOf(c)?.http?.sourceIp ?? '';
