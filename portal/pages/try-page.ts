import { html } from 'hono/html';
import * as z from 'zod/mini';
import { checkboxes, field } from '../../packages/ui/form-fields.ts';
import type { Html } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  may,
  type Page,
  type PageAnswer,
  serviceRoutes,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
import { curlLine, lookupUrl } from './account-page.ts';
import { faulty, postForm } from './page-form.ts';
import { accountList, codeBlock, instantOf } from './page-parts.ts';

/**
 * Looks up one address with the visitor's own key. The portal calls the API, because no browser
 * may (decision 0195). The key is used once: it is not stored, and no page, address or log has it.
 */
export const tryPages = [
  ...serviceRoutes({ 'GET /try': ['home', chooseAccount] }),
  ...accountRoutes({
    'GET /api/try': ['account.view', tryPage],
    'POST /api/try': ['account.view', tryLookup],
  }),
];

export const tryPath = (account: string) => `/accounts/${account}/api/try`;

/** The page whose script sends its form. */
export const isTryPath = (path: string) => /^\/accounts\/[^/]+\/api\/try$/.test(path);

/** The reference links here, as it knows no account. */
async function chooseAccount({ admin, people, text }: PortalRequest): Promise<PageAnswer> {
  const accounts = await admin.members.accountsOf(people);
  const [first, ...others] = accounts.filter(({ role }) => may(role, 'account.view'));
  if (!first) return { goTo: '/' };
  if (others.length === 0) return { goTo: tryPath(first.account) };
  return {
    title: text.yourAccounts,
    body: accountList([first, ...others], ({ account }) => tryPath(account)),
  };
}

const responseMilliseconds = 8_000;

/** The parameters that are typed; the first two begin with a test address. */
const parameters = { postcode: '9999SD', huisnummer: '1', toevoeging: '' };

const checkboxOf = (name: string) => `include-${name}`;

type IncludeChoice = keyof PortalRequest['text']['includes'];

function offeredBy({ text, tools }: PortalRequest): IncludeChoice[] {
  const names = Object.keys(text.includes) as IncludeChoice[];
  return names.filter((name) => name !== 'objecten' || tools.settings.objecten);
}

function tryPage(request: AccountRequest): Page {
  const { account, text, tools } = request;
  const { demo } = tools.settings;
  // A key, wherever it was pasted, does not come back.
  const { key: _key, ...form } = { ...request.form, ...typedIn(request) };
  const shown = { ...request, form };
  const isDemo = demo?.account === account;
  const key = field(shown, {
    name: 'key',
    label: text.call.apiKey,
    hint: isDemo ? text.tryDemoKey : text.tryKey,
    required: true,
    ...(isDemo && { value: demo.key }),
  });
  const inputs = Object.entries(parameters).map(([name, value]) =>
    field(shown, { name, label: name, value }),
  );
  const includes = checkboxes(shown, {
    legend: text.tryInclude,
    options: offeredBy(request).map((name) => [checkboxOf(name), text.includes[name]]),
  });
  const fields = html`${key}<div class="fields">${inputs}</div>${includes}`;
  const sent = postForm(request, tryPath(account), fields, {
    label: text.call.tryIt,
    inPlace: { keeps: 'key', failed: text.trySendFailed },
  });
  return {
    title: text.call.tryIt,
    body: html`<div class="card"><p>${text.tryText}</p>${sent}</div>`,
  };
}

/** The values typed for the parameters, without any key, which would be sent in an address. */
function typedIn({ form }: PortalRequest): Record<string, string> {
  const typed = Object.keys(parameters).flatMap((name) => {
    const value = form[name];
    return value === undefined ? [] : [[name, /bagadres_/i.test(value) ? '' : value]];
  });
  return Object.fromEntries(typed);
}

async function tryLookup(request: AccountRequest): Promise<Page> {
  const { form, text, tools } = request;
  const { key = '' } = form;
  if (!/^[!-~]+$/.test(key)) {
    return faulty(request, { field: 'key', message: text.errors.wholeKey }, tryPage);
  }
  const { apiUrl } = tools.settings;
  const include = offeredBy(request).filter((name) => form[checkboxOf(name)] !== undefined);
  const query = Object.entries({ ...typedIn(request), include: include.join(',') }).filter(
    ([, value]) => value !== '',
  );
  const answer = await responseTo(lookupUrl(apiUrl, query), key).catch(() => undefined);
  if (!answer) {
    const { title, body } = tryPage(request);
    return {
      title,
      status: 503,
      body: html`<p class="note bad" role="alert">${text.tryFailed}</p>${body}`,
    };
  }
  const { says, kind, wrong } = meaningOf(request, answer);
  const { title, body } = tryPage({ ...request, ...(wrong && { fault: wrong }) });
  const call = codeBlock(text.call.request, curlLine(apiUrl, 'YOUR_KEY', query), 'curl');
  const response = codeBlock(text.call.answer, answer.lines.join('\n'), 'answer');
  return {
    title,
    body: html`<div class="card" role="status"><div class="note ${kind}">${says}</div>${call}${response}</div>${body}`,
  };
}

const shownHeaders = [
  'Dataset-Date',
  'RateLimit-Policy',
  'RateLimit',
  'Retry-After',
  'X-Request-Id',
];

type TriedAnswer = {
  status: number;
  retryAfter: number;
  body: unknown;
  /** The status, the headers that say something of the lookup, and the body. */
  lines: string[];
};

/** Redirects are not followed, with a key. */
async function responseTo(url: string, key: string): Promise<TriedAnswer> {
  const signal = AbortSignal.timeout(responseMilliseconds);
  const response = await fetch(url, { headers: { 'X-API-Key': key }, redirect: 'error', signal });
  const { status, headers } = response;
  const shown = shownHeaders.flatMap((name) => {
    const value = headers.get(name);
    return value === null ? [] : [`${name}: ${value}`];
  });
  const text = await response.text();
  const body = parsed(text);
  return {
    status,
    retryAfter: Number(headers.get('Retry-After') ?? 0),
    body,
    lines: [
      `HTTP ${status}`,
      ...shown,
      '',
      // A page of a proxy; its beginning says which.
      body === undefined ? text.slice(0, 1_000) : JSON.stringify(body, null, 2),
    ],
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const placeSchema = z.object({ straat: z.string(), woonplaats: z.string() });
const outcomeSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok'), address: placeSchema }),
  z.object({ status: z.literal('not_found'), toevoegingen: z.array(z.nullable(z.string())) }),
  z.object({ status: z.literal('ambiguous'), candidates: z.array(placeSchema) }),
]);
const faultSchema = z.object({
  parameter: z.optional(z.string()),
  code: z.string(),
  detail: z.string(),
  suggestion: z.optional(z.record(z.string(), z.string())),
});
const problemSchema = z.object({
  type: z._default(z.string(), ''),
  errors: z._default(z.array(faultSchema), []),
  violated_windows: z._default(z.array(z.string()), []),
});
type TriedProblem = z.infer<typeof problemSchema>;

/** The sentence for a person about a response, and the field of the form that is wrong. */
type TriedMeaning = { says: Html; kind: 'good' | 'warn' | 'bad'; wrong?: PortalRequest['fault'] };

function meaningOf(request: AccountRequest, answer: TriedAnswer): TriedMeaning {
  const { text, tools } = request;
  const { tried } = text;
  const { status, body } = answer;
  const bad = (says: Html): TriedMeaning => ({ says, kind: 'bad' });
  if (status === 200) {
    const { data } = outcomeSchema.safeParse(body);
    return data ? outcomeOf(request, data) : bad(tried.other(String(status)));
  }
  const problem = problemSchema.safeParse(body).data ?? problemSchema.parse({});
  if (status === 401) {
    return { ...bad(tried.wrongKey), wrong: { field: 'key', message: tried.wrongKey } };
  }
  if (status === 403) {
    return bad(
      problem.type.endsWith('/plan-inactive') ? text.planInactiveText : text.suspendedText,
    );
  }
  if (status === 404) return bad(tried.noApi(tools.settings.apiUrl));
  if (status === 422 && problem.errors.length > 0) return faultsOf(request, problem);
  if (status === 429) {
    const limits = problem.violated_windows.map((name) => limitNamed(request, name)).join(', ');
    const what = limits === '' ? tried.busy : tried.limits(limits);
    return bad(html`${what} ${againIn(request, answer.retryAfter)}`);
  }
  return bad(tried.other(String(status)));
}

function outcomeOf({ text }: PortalRequest, outcome: z.infer<typeof outcomeSchema>): TriedMeaning {
  const { tried } = text;
  const placeText = ({ straat, woonplaats }: z.infer<typeof placeSchema>) =>
    `${straat}, ${woonplaats}`;
  if (outcome.status === 'ok') {
    return { says: tried.found(placeText(outcome.address)), kind: 'good' };
  }
  if (outcome.status === 'ambiguous') {
    const places = outcome.candidates.map(placeText).join('; ');
    return { says: tried.ambiguous(places), kind: 'warn' };
  }
  const existing = outcome.toevoegingen.map((toevoeging) => toevoeging ?? tried.bare).join(', ');
  const says = existing === '' ? tried.notFound : `${tried.notFound} ${tried.existing(existing)}`;
  return { says, kind: 'warn' };
}

/** The limit of a window, or of a key, as a sentence names it. */
function limitNamed({ text }: PortalRequest, name: string): string {
  const { windows } = text;
  if (Object.hasOwn(windows, name)) return windows[name as keyof typeof windows].toLowerCase();
  return name === 'key-day' ? text.tried.ofKey : name;
}

/** When a request can succeed: after some seconds, or from a time on. */
function againIn(request: PortalRequest, seconds: number): Html {
  const { text, format, tools } = request;
  if (seconds <= 120) return text.tried.againIn(format.count(Math.max(1, seconds), 'second'));
  const at = new Date(tools.now() + seconds * 1000).toISOString();
  return html`${text.tried.againFrom} ${instantOf(request, at)}.`;
}

/**
 * Every fault of the input: the input that the API suggests, else its sentence, which is in
 * English, and the explanation in the reference in the language of the page.
 */
function faultsOf(
  { text, language, tools }: PortalRequest,
  { errors }: TriedProblem,
): TriedMeaning {
  const { tried } = text;
  const items = errors.map(({ parameter = '', code, detail, suggestion = {} }) => {
    const suggested = Object.entries(suggestion).map(([name, value]) => `${name}=${value}`);
    const meaning =
      suggested.length > 0
        ? tried.suggested(suggested.join(' '))
        : html`<span lang="en">${detail}</span>`;
    const explained = `${tools.settings.apiUrl}/docs?lang=${language}#error-${code}`;
    return html`<li><strong>${parameter}</strong>: ${meaning} <a href="${explained}" rel="noopener">${tried.explained}</a></li>`;
  });
  const field = errors[0]?.parameter ?? '';
  const wrong = Object.hasOwn(parameters, field) && { field, message: tried.invalidHere };
  return {
    says: html`<p>${tried.invalid}</p><ul>${items}</ul>`,
    kind: 'bad',
    ...(wrong && { wrong }),
  };
}
