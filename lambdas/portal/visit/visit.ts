import type { Context } from 'hono';
import type { html } from 'hono/html';
import type { Admin } from '../../shared/accounts/admin.ts';
import type { Loads } from '../../shared/loads/loads.ts';
import type { Text } from '../text/en.ts';
import type { Formatter, Language } from '../text/format.ts';
import type { Action, Role } from './permissions.ts';
import type { PortalSettings } from './settings.ts';
import type { Person } from './sign-in.ts';

export type Html = ReturnType<typeof html> | string;

/** What every page may use. */
export type Tools = {
  settings: PortalSettings;
  /** The admin module; its audit names `actor`. */
  adminAs: (actor: string) => Admin;
  /** The loads of the register; absent where the loader is not connected. */
  loadsAs?: (actor: string) => Promise<Loads>;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** One request of somebody who signed in. */
export type Visit = {
  c: Context;
  tools: Tools;
  admin: Admin;
  /** Absent where the loader is not connected. */
  loads: (() => Promise<Loads>) | undefined;
  person: Person;
  /** How the admin module may know this person. */
  people: readonly string[];
  language: Language;
  text: Text;
  format: Formatter;
  /** The hidden field that every form must have. */
  formField: Html;
  /** The fields of a form that was sent; the first of each name, without spaces around it. */
  form: Readonly<Record<string, string>>;
};

/** A visit of a page of one account, by somebody who has a role there. */
export type AccountVisit = Visit & { account: string; role: Role };

/** What a page shows; `status` is 200 unless it says otherwise. */
export type Page = { title: string; body: Html; status?: 200 | 400 | 403 | 404 | 409 | 422 | 500 | 503 };

/** A page answers with content, or sends the browser to another page (303), or with a file. */
export type PageAnswer = Page | { goTo: string } | { file: string; type: string; name: string };

type Path = { method: 'GET' | 'POST'; path: string };

/**
 * A page, with the action that somebody must be allowed. `of: 'account'` has `:account` in its path: the action is decided
 * by the role in that account, and nobody else learns whether it exists.
 */
export type PageRoute =
  | (Path & { of: 'account'; action: Action; handle: (visit: AccountVisit) => Promise<PageAnswer> })
  | (Path & { of: 'service'; action: Action | 'home'; handle: (visit: Visit) => Promise<PageAnswer> });
