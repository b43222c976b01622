import { startAddressService } from './address-service.ts';
import { htmlText } from './html-text.ts';
import { createTestPortal } from './portal.ts';

/**
 * A portal on a real engine with two plans, an administrator of accounts that tests make, and an
 * operator.
 */
export async function startPortalPages() {
  const service = await startAddressService();
  const portal = createTestPortal(service);
  await service.admin.plans.put({ code: 'small', limits: { minute: 10, day: 1000 } });
  await service.admin.plans.put({ code: 'large', limits: { day: 5000, month: null } });
  const admin = await portal.signedIn({
    subject: 'sub:a',
    email: 'admin@own.nl',
    name: 'Ann <i>Admin</i>',
  });
  const operator = await portal.signedIn({
    subject: 'sub:o',
    email: 'olaf@operator.nl',
    operator: true,
  });
  let accounts = 0;
  return {
    service,
    portal,
    admin,
    operator,
    /** An account of its own, of which `admin` is an administrator. */
    async newAccount(): Promise<string> {
      const id = `pages-${++accounts}`;
      await service.admin.accounts.create({ id, plan: 'small' });
      await service.admin.members.add({ account: id, person: 'admin@own.nl', role: 'admin' });
      return id;
    },
  };
}

/** The API key that a page shows; empty if it shows none. */
export const keyIn = (html: string) => /bagadres_[\w.-]+_[0-9A-Za-z]{43}/.exec(html)?.[0] ?? '';

/** The value of a field of a form. */
export const fieldIn = (html: string, name: string) =>
  new RegExp(`name="${name}"(?: type="\\w+")? value="([^"]*)"`)
    .exec(html)?.[1]
    ?.replaceAll('&quot;', '"') ?? '';

/** A form that a page sends, with the values of its fields. */
export type SentForm = { action: string; fields: Record<string, string> };

export function formsIn(html: string): SentForm[] {
  const forms = html.matchAll(/<form method="post" action="([^"]+)"[^>]*>(.*?)<\/form>/gs);
  return [...forms].map(([, action = '', inner = '']) => {
    const inputs = inner.matchAll(
      /<(?:input|select)[^>]* name="([^"]+)"(?:[^>]* value="([^"]*)")?/g,
    );
    const fields = Object.fromEntries(
      [...inputs].map(([, name = '', value = '']) => [name, htmlText(value)]),
    );
    return { action, fields };
  });
}
