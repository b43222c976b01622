import type { Html } from '../../packages/ui/table.ts';
import type { AccountRequest, PortalRequest, PortalRole } from './portal-request.ts';

/**
 * The permissions of pages and actions, decided only here; a member has a role in that account
 * only.
 */
export const permissions = {
  'account.view': ['viewer', 'admin', 'operator'],
  'audit.view': ['viewer', 'admin', 'operator'],
  'usage.view': ['finance', 'viewer', 'admin', 'operator'],
  'account.leave': ['finance', 'viewer', 'admin'],
  'key.change': ['admin', 'operator'],
  'member.view': ['admin', 'operator'],
  'member.change': ['admin', 'operator'],
  'account.manage': ['operator'],
  'operator.view': ['operator'],
  'plan.change': ['operator'],
  'load.approve': ['operator'],
  'session.end': ['operator'],
} satisfies Record<string, readonly PortalRole[]>;

export type Action = keyof typeof permissions;

export function may(role: PortalRole, action: Action): boolean {
  const allowed: readonly PortalRole[] = permissions[action];
  return allowed.includes(role);
}

/** The content of a page; `status` is 200 by default. */
export type Page = {
  title: string;
  body: Html;
  status?: 200 | 400 | 403 | 404 | 409 | 422 | 429 | 500 | 503;
};

/** A page answers with content, or sends the browser to another page (303), or with a file. */
export type PageAnswer = Page | { goTo: string } | { file: string; type: string; name: string };

type Handle<V> = (request: V) => PageAnswer | Promise<PageAnswer>;
type Verb = 'GET' | 'POST';
type Path = { method: Verb; path: string };

/** A page, with the action that it requires permission for. */
export type PageRoute =
  | (Path & { of: 'account'; action: Action; handle: Handle<AccountRequest> })
  | (Path & { of: 'service'; action: Action | 'home'; handle: Handle<PortalRequest> });

/** Pages by their verb and path, `GET /keys`, with the action that each requires permission for. */
type Pages<A extends Action | 'home', V> = Readonly<Record<string, readonly [A, Handle<V>]>>;

/**
 * Pages of one account: permission depends on the role in it, and no one else learns whether it
 * exists.
 */
export const accountRoutes = (pages: Pages<Action, AccountRequest>): PageRoute[] =>
  routesOf(pages).map(([{ method, path }, action, handle]) => {
    return { of: 'account', method, path: `/accounts/:account${path}`, action, handle };
  });

/** Pages of the whole service; `home` needs no permission. */
export const serviceRoutes = (pages: Pages<Action | 'home', PortalRequest>): PageRoute[] =>
  routesOf(pages).map(([at, action, handle]) => ({ of: 'service', ...at, action, handle }));

function routesOf<A extends Action | 'home', V>(pages: Pages<A, V>) {
  return Object.entries(pages).map(([name, [action, handle]]) => {
    const [method = '', path = ''] = name.split(' ');
    return [{ method: method as Verb, path }, action, handle] as const;
  });
}

/** Thrown to answer with another page than the requested page, whose remaining work is skipped. */
export class OtherPage extends Error {
  readonly page: Page;
  constructor(page: Page) {
    super(page.title);
    this.page = page;
  }
}
