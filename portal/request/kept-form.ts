import type { Context } from 'hono';
import { localPath, type portalCookies } from './cookies.ts';

/** The values typed in a form that can't be accepted for now, and the form's page. */
type KeptForm = { owner: string; page: string; typed: Record<string, string> };

/** A cookie of a form has to fit in 4,096 bytes, sealed. */
const mostTyped = 2_400;
const keptSeconds = 600;

/** Fields that belong to the page that was sent, or hold a secret: they never come back. */
const notKept = ['token', 'seen', 'once', 'confirm', 'key'];

/**
 * Keeps a form that somebody filled in while their session ended: sealed, in a cookie of their own
 * browser, for ten minutes. Only the same person gets it back, as an unsent form to check and send
 * again. `isPage` tells whether a path leads to a page.
 */
export function keptForms(
  cookies: ReturnType<typeof portalCookies>,
  isPage: (path: string) => boolean,
) {
  /**
   * The page of the form: the page that the browser names, else the path that received the form.
   */
  function pageOf(c: Context): string {
    const referer = URL.parse(c.req.header('referer') ?? '');
    const named = localPath(referer ? referer.pathname + referer.search : '/').replace(
      /(?<=[?&])done=[a-zA-Z]*&?/,
      '',
    );
    return [named, c.req.path].find((path) => isPage(path.split('?', 1)[0] ?? '')) ?? '/';
  }

  return {
    /** Keeps a form, and returns the page where it comes back. */
    async keep(c: Context, form: Readonly<Record<string, string>>): Promise<string> {
      const page = pageOf(c);
      // A key that was pasted into another field is not kept either.
      const typed = Object.entries(form).filter(
        ([name, value]) => !notKept.includes(name) && !/bagadres_/i.test(value),
      );
      const kept: KeptForm = { owner: ownerIn(form), page, typed: Object.fromEntries(typed) };
      if (kept.owner !== '' && Buffer.byteLength(JSON.stringify(kept)) <= mostTyped) {
        await cookies.seal(c, 'form', kept, keptSeconds);
      }
      return page;
    },

    /** Returns the form kept for a person on this page, once. */
    async take(c: Context, subject: string): Promise<KeptForm['typed'] | undefined> {
      if (cookies.read(c, 'form') === undefined) return undefined;
      const kept = (await cookies.unseal(c, 'form')) as KeptForm | undefined;
      const isOwn = kept?.owner === (await cookies.ownerToken(subject));
      if (isOwn && kept.page !== c.req.path + new URL(c.req.url).search) return undefined;
      cookies.remove(c, 'form');
      return isOwn ? kept.typed : undefined;
    },
  };
}

/** The part of the token of a form that says whose it is. */
export const ownerIn = ({ token = '' }: Readonly<Record<string, string>>): string =>
  token.split('.')[1] ?? '';
