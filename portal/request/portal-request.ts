import type { Context } from 'hono';
import { html } from 'hono/html';
import type { AccountView, Admin, Role } from '../../packages/admin/index.ts';
import type { Loads } from '../../packages/admin/loads.ts';
import type { Statements } from '../../packages/admin/statements.ts';
import { type Language, languageFor } from '../../packages/ui/language.ts';
import type { OperatorLinks } from '../../packages/ui/links.ts';
import type { Html } from '../../packages/ui/table.ts';
import type { Text } from '../text/en.ts';
import { type Formatter, formatter, texts } from '../text/portal-texts.ts';
import { type CookieSettings, isSame, type portalCookies } from './cookies.ts';
import { type Identity, operatorStatus } from './identity.ts';
import { ownerIn } from './kept-form.ts';
import type { Rates } from './rates.ts';
import { type Shared, sharedBy } from './shared.ts';
import { isLoopback, type SignInSettings } from './sign-in.ts';

/** Who is signed in, and whether the configuration, as it is now, makes this person an operator. */
export type Person = Omit<Identity, 'operatorClaim'> & { operator: boolean };

/**
 * The role of a signed-in person for an account: a member's role, or operator of the whole service.
 */
export type PortalRole = Role | 'operator';

/** The suffix of an operator's name in the audit. */
export const operatorSuffix = ' (operator)';

export type PortalSettings = CookieSettings & {
  /** The address API, as customers call it. */
  apiUrl: string;
  /** The name of the operator, before the service's name. */
  company?: string | undefined;
  /** `#1d4ed8` */
  colour: string;
  links?: OperatorLinks;
  /**
   * The languages on offer, the first for browsers without a matching preference; all by default.
   */
  languages?: readonly Language[] | undefined;
  logo?: { type: 'image/svg+xml' | 'image/png'; bytes: Uint8Array<ArrayBuffer> } | undefined;
  signIn: SignInSettings;
  /** Whether addresses have their objects, which a lookup can then include. */
  objecten?: boolean | undefined;
  /** On one machine only: the account of `npm start`, and its key, which the page to try has. */
  demo?: { account: string; key: string } | undefined;
};

/** Refuses settings that let others read cookies in transit. */
export function checkSettings({ baseUrl, signIn }: PortalSettings): void {
  for (const url of [baseUrl, signIn.issuer]) {
    if (!url.startsWith('https://') && !isLoopback(url)) {
      throw new Error(
        `${url} is not an https address. The portal and its OpenID provider need TLS.`,
      );
    }
  }
}

export type Tools = {
  settings: PortalSettings;
  /** The admin module; its audit names `actor`. */
  adminAs: (actor: string) => Admin;
  /** The loads of the register; absent if the loader is not connected. */
  loadsAs?: (actor: string) => Promise<Loads>;
  /** The statements of closed months; absent where their bucket is not connected. */
  statements?: () => Promise<Statements>;
  /** Milliseconds since 1970. */
  now: () => number;
  /** How many requests visitors may send; the default is for people. */
  rates?: Rates;
  /** How many accounts one file of usage has. */
  accountsPerFile?: number;
  /** How long a visitor waits at most. */
  deadlineMilliseconds?: { page: number; form: number };
};

/** One request of a signed-in person. */
export type PortalRequest = {
  /** The path of the page, its values for `:account` and other parameters, and its query. */
  path: string;
  params: Readonly<Record<string, string>>;
  query: Readonly<Record<string, string>>;
  tools: Tools;
  admin: Admin;
  /** Absent if the loader is not connected. */
  loads: (() => Promise<Loads>) | undefined;
  shared: Shared;
  person: Person;
  /** The identities that can make this person a member. */
  people: readonly string[];
  language: Language;
  text: Text;
  format: Formatter;
  /** The fault in the form that was sent; set while the form is shown again. */
  fault?: { field: string; message: string };
  /** Set while a form shows earlier input: its fields then also show their current values. */
  comesBack?: boolean;
  /** The hidden field that every form must have. */
  formField: Html;
  session: string;
  /**
   * The fields of a form that was sent; the first of each name, without spaces around it except in
   * `person`.
   */
  form: Readonly<Record<string, string>>;
};

/**
 * A request to a page of one account, by a person who has a role there; `view` is the account, read
 * once.
 */
export type AccountRequest = PortalRequest & {
  account: string;
  role: PortalRole;
  view: () => Promise<AccountView>;
};

/** A session; if it `isStale`, the provider has to confirm it first. */
export type Session = { id: string; person: Person; people: readonly string[]; isStale: boolean };

/** The ids that an account can have. */
const accountIds = /^[a-z0-9][\w.-]{0,31}$/i;

/** No form of the portal is larger. */
const formBytes = 16 * 1024;

/** Recognises who sends a request, and whether a form is one of ours. */
export function portalRequests(tools: Tools, cookies: ReturnType<typeof portalCookies>) {
  const shared = sharedBy(tools);
  const languageOf = (c: Context): Language =>
    languageFor(
      cookies.read(c, 'language'),
      c.req.header('accept-language'),
      tools.settings.languages,
      'nl',
    );

  /**
   * The fields of a form that this site sent; `undefined` for one of another site, and for one too
   * large.
   */
  async function formOf(c: Context): Promise<Record<string, string> | undefined> {
    if (c.req.header('origin') !== tools.settings.baseUrl) return undefined;
    if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) {
      return undefined;
    }
    const body = await c.req.text();
    if (body.length > formBytes) return undefined;
    // A space around an identity may make another one of it.
    const read = (name: string, value: string) => (name === 'person' ? value : value.trim());
    const fields = [...new URLSearchParams(body)]
      .toReversed()
      .map(([name, value]) => [name, read(name, value)] as const);
    return Object.fromEntries(fields);
  }

  return {
    languageOf,

    /**
     * Who is signed in: the browser has an id, and the table who that is, unless the session has
     * ended.
     */
    async sessionOf(c: Context): Promise<Session | undefined> {
      const id = await cookies.readSession(c);
      const session = id === undefined ? null : await tools.adminAs('portal').sessions.find(id);
      if (!session) return undefined;
      const { person: subject, people, name, claims, confirmed } = session;
      const email = people.find((person) => person !== subject);
      const evidence = { email, operatorClaim: claims.operator, confirmed };
      const sent = { now: tools.now(), isForm: c.req.method === 'POST' };
      const status = operatorStatus(evidence, tools.settings.signIn, sent);
      const person = {
        subject,
        name,
        operator: status === 'yes',
        ...(email !== undefined && { email }),
        ...(claims.email_fault &&
          ({ emailFault: claims.email_fault === 'form' ? 'form' : 'unverified' } as const)),
      };
      return { id: session.id, person, people, isStale: status === 'stale' };
    },

    formOf,

    /**
     * Whose form it is: of this `session`, of another session of the same `person`, or of somebody
     * else.
     */
    async senderOf(
      { token = '' }: PortalRequest['form'],
      { id, person }: Session,
    ): Promise<'session' | 'person' | 'other'> {
      const expected = await cookies.formToken(id, person.subject);
      if (isSame(token, expected)) return 'session';
      return isSame(ownerIn({ token }), ownerIn({ token: expected })) ? 'person' : 'other';
    },

    /**
     * The request of a session, with the fields of its form, or the fields that come back to a
     * page.
     */
    async requestOf(
      c: Context,
      { id, person, people }: Session,
      form: PortalRequest['form'] = {},
    ): Promise<PortalRequest> {
      const token = await cookies.formToken(id, person.subject);
      const language = languageOf(c);
      const actor = `${person.email ?? person.subject}${person.operator ? operatorSuffix : ''}`;
      const { loadsAs } = tools;
      return {
        path: c.req.path,
        params: c.req.param() as Record<string, string>,
        query: c.req.query(),
        tools,
        admin: tools.adminAs(actor),
        loads: loadsAs && (() => loadsAs(actor)),
        shared,
        person,
        people,
        session: id,
        language,
        text: texts[language],
        format: formatter(language),
        formField: html`<input type="hidden" name="token" value="${token}">`,
        form,
      };
    },

    /**
     * The visitor's role for an account; `null` for a stranger, and for an id that no account can
     * have.
     */
    async roleOf(
      { admin, people, person }: PortalRequest,
      account: string,
    ): Promise<PortalRole | null> {
      if (!accountIds.test(account)) return null;
      return person.operator ? 'operator' : admin.members.roleIn(account, people);
    },
  };
}
