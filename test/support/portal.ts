import { createAdmin } from '../../packages/admin/admin.ts';
import { portalApp } from '../../portal/portal-app.ts';
import { portalCookies, sessionSeconds } from '../../portal/request/cookies.ts';
import type { PortalSettings, Tools } from '../../portal/request/portal-request.ts';
import { type startAddressService, testTables } from './address-service.ts';

const baseUrl = 'https://portal.example.nl';
const sessionSecret = async () => 'a secret of the tests, which is long enough';

export const portalSettings: PortalSettings = {
  baseUrl,
  apiUrl: 'https://adres.example.nl',
  company: 'Example <b>BV</b>',
  colour: '#ffd400',
  signIn: {
    issuer: 'https://login.example.nl',
    clientId: 'portal',
    subjectClaim: 'sub',
    clientSecret: async () => 'x',
    operators: ['lijst@operator.nl'],
    operatorClaim: { name: 'groups', value: 'operators' },
  },
  sessionSecret,
};

/** The claim of `signedIn({ operator: true })`. */
const operatorClaim = 'groups=operators';

const unlimited = { perSecond: 1e6, burst: 1e6 };

/**
 * The portal on a real engine. Whoever a test names is signed in: the provider has a test of its
 * own.
 */
export function createTestPortal(
  { client }: Pick<Awaited<ReturnType<typeof startAddressService>>, 'client'>,
  tools: Partial<Tools> = {},
) {
  const adminAs = (actor: string) => createAdmin({ client, table: testTables.accounts, actor });
  const logged: { error: unknown; id: string; provider?: string }[] = [];
  const app = portalApp(
    {
      settings: portalSettings,
      adminAs,
      now: Date.now,
      rates: { callback: unlimited, session: unlimited },
      ...tools,
    },
    (error, id, provider) =>
      logged.push({ error, id, ...(provider !== undefined && { provider }) }),
  );
  const cookies = portalCookies(tools.settings ?? portalSettings);

  /** Signs a person in and returns what their browser can do. */
  async function signedIn(
    {
      operator = false,
      ...person
    }: { subject: string; name?: string; email?: string; operator?: boolean },
    language: 'nl' | 'en' = 'en',
  ) {
    const { subject, email, name = email ?? subject } = person;
    const id = await adminAs('test').sessions.start(subject, sessionSeconds, {
      people: email === undefined ? [] : [email],
      name,
      browser: 'Mozilla/5.0 (X11; Linux x86_64) Chrome/150.0',
      claims: operator ? { operator: operatorClaim } : {},
    });
    const cookie = await sessionCookie(id);
    const token = await cookies.formToken(id, subject);
    const headers = { cookie, 'accept-language': language };
    return {
      id,
      cookie,
      token,
      get: async (path: string) => read(await app.request(path, { headers })),
      post: async (
        path: string,
        form: Record<string, string> = {},
        over: Record<string, string> = {},
      ) =>
        read(
          await app.request(path, {
            method: 'POST',
            headers: {
              ...headers,
              origin: baseUrl,
              'content-type': 'application/x-www-form-urlencoded',
              ...over,
            },
            body: new URLSearchParams({ token, ...form }).toString(),
          }),
        ),
    };
  }

  /** The cookie of a session, as a sign-in sets it. */
  async function sessionCookie(id: string): Promise<string> {
    let cookie = '';
    const context = { header: (_name: string, value: string) => (cookie = value) };
    await cookies.writeSession(context as never, id);
    return cookie.split(';', 1)[0] ?? '';
  }

  return { app, adminAs, signedIn, logged };
}

async function read(response: Response) {
  const { status, headers } = response;
  return { status, headers, location: headers.get('location'), body: await response.text() };
}
