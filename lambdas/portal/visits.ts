import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { AdminError } from '../shared/accounts/admin-error.ts';
import type { portalCookies } from './cookies.ts';
import { formatter, type Language, preferredLanguage, texts } from './text/format.ts';
import type { Role } from './visit/permissions.ts';
import { type Identity, isOperator, type Person } from './visit/sign-in.ts';
import type { Tools, Visit } from './visit/visit.ts';

export type Session = Person & { id: string };

/** No form of the portal is larger. */
const formBytes = 16 * 1024;

/** Recognises who sends a request, and whether a form is one of ours. */
export function visits(tools: Tools, cookies: ReturnType<typeof portalCookies>) {
  const languageOf = (c: Context): Language =>
    preferredLanguage(cookies.read(c, 'language'), c.req.header('accept-language'));

  /** The fields of a form of ours; `undefined` for one of another site or another session, and for one too large. */
  async function formOf(c: Context, token: string): Promise<Record<string, string> | undefined> {
    if (c.req.header('origin') !== tools.settings.baseUrl) return undefined;
    if (!c.req.header('content-type')?.startsWith('application/x-www-form-urlencoded')) return undefined;
    const body = await c.req.text();
    if (body.length > formBytes) return undefined;
    const fields = [...new URLSearchParams(body)].toReversed().map(([name, value]) => [name, value.trim()] as const);
    const form: Record<string, string> = Object.fromEntries(fields);
    const [given, wanted] = [Buffer.from(form.token ?? ''), Buffer.from(token)];
    return given.length === wanted.length && timingSafeEqual(given, wanted) ? form : undefined;
  }

  return {
    languageOf,

    /** Who is signed in: the cookie says so, and the session has not ended since. */
    async sessionOf(c: Context): Promise<Session | undefined> {
      const session = (await cookies.unseal(c, 'session')) as (Identity & { id: string }) | undefined;
      if (!session) return undefined;
      const isOpen = await tools.adminAs('portal').sessions.isOpen(session.subject, session.id);
      return isOpen ? { ...session, operator: isOperator(session, tools.settings.signIn) } : undefined;
    },

    /** The visit of a session; `undefined` if it brings a form that is not ours. */
    async visitOf(c: Context, { id, ...person }: Session): Promise<Visit | undefined> {
      const token = await cookies.formToken(id);
      const form = c.req.method === 'POST' ? await formOf(c, token) : {};
      if (!form) return undefined;
      const language = languageOf(c);
      const actor = person.email ?? person.subject;
      const { loadsAs } = tools;
      return {
        c,
        tools,
        admin: tools.adminAs(actor),
        loads: loadsAs && (() => loadsAs(actor)),
        person,
        people: person.email === undefined ? [person.subject] : [person.subject, person.email],
        language,
        text: texts[language],
        format: formatter(language),
        formField: html`<input type="hidden" name="token" value="${token}">`,
        form,
      };
    },

    /** What the visitor is to an account; `null` for a stranger, and for an id that no account can have. */
    async roleOf({ admin, people, person }: Visit, account: string): Promise<Role | null> {
      if (person.operator) return 'operator';
      return admin.members.roleIn(account, people).catch((error: unknown) => {
        if (error instanceof AdminError && error.code === 'invalid') return null;
        throw error;
      });
    },
  };
}
