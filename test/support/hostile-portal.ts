/**
 * Sends hostile forms and queries to the portal, on a real engine, and prints the work of each as
 * JSON lines, in a process of its own. Its argument is how many of them are sent.
 */
import { isTryPath } from '../../portal/pages/try-page.ts';
import { pageRoutes } from '../../portal/portal-app.ts';
import { type CountedWork, startCounting } from './counted-work.ts';
import { hostileKinds } from './hostile-requests.ts';
import { formsIn, type SentForm, startPortalPages } from './portal-pages.ts';
import { sweep } from './sweep.ts';

export type PortalWork = CountedWork & {
  kind: string;
  bytes: number;
  status: number;
  answerBytes: number;
};

const { service, portal, admin, operator, newAccount } = await startPortalPages();
const account = await newAccount();
const { keyId } = await service.admin.keys.create({ account, label: 'webshop' });
const visitors = { admin, operator };
type Visitor = keyof typeof visitors;
const place: Record<string, string> = { account, key: keyId, plan: 'small' };
const paths = pageRoutes
  .filter(({ method }) => method === 'GET')
  .map(({ path }) => path.replaceAll(/:([a-z]+)/g, (_, name) => place[name] ?? 'none'));

/** What a visitor sends: a form, or the query of a page. */
type Hostile = {
  name: string;
  mostBytes: number;
  send(bytes: number): Promise<{ status: number; body: string }>;
};

/** A query of the API in its raw form, which is also the body of a form. */
const rawKinds = hostileKinds
  .filter(({ name }) => /^query, (?:name|repeated|names|raw)\b/.test(name))
  .map(({ name, mostBytes, make }) => ({
    name: name.replace('query, ', ''),
    mostBytes,
    make: (bytes: number) => make(bytes).url.replace(/^[^?]*\?/, ''),
  }));

/** A text, as the value of a parameter that the API does not know. */
const textKinds = hostileKinds
  .filter(({ name }) => name.startsWith('query, x: '))
  .map(({ name, mostBytes, make }) => ({
    name: name.replace('query, x: ', ''),
    mostBytes,
    make: (bytes: number) =>
      new URLSearchParams(make(bytes).url.replace(/^[^?]*\?/, '')).get('x') ?? '',
  }));

const forms = new Map<string, SentForm & { visitor: Visitor }>();
for (const visitor of ['admin', 'operator'] as const) {
  for (const path of paths) {
    for (const form of formsIn((await visitors[visitor].get(path)).body)) {
      // Whoever signs out, or ends sessions, sends nothing more.
      if (/^\/(?:sign-out|sessions)|revoke|delete|suspend/.test(form.action)) continue;
      // There is no API to try a lookup at.
      if (isTryPath(form.action)) continue;
      forms.set(`${visitor} ${form.action}`, { visitor, ...form });
    }
  }
}

const hostile: Hostile[] = [...forms.values()].flatMap(({ visitor, action, fields }) => {
  const { token, ...own } = fields;
  const sender = visitors[visitor];
  return [
    ...Object.keys(own).flatMap((field) =>
      textKinds.map(({ name, mostBytes, make }) => ({
        name: `${visitor} ${action}, ${field}: ${name}`,
        mostBytes,
        send: (bytes: number) => sender.post(action, { ...own, [field]: make(bytes) }),
      })),
    ),
    ...rawKinds.map(({ name, mostBytes, make }) => ({
      name: `${visitor} ${action}, fields: ${name}`,
      mostBytes,
      send: (bytes: number) =>
        sender.post(action, Object.fromEntries(new URLSearchParams(make(bytes)))),
    })),
  ];
});
const pages: Hostile[] = rawKinds.flatMap(({ name, mostBytes, make }) =>
  paths.map((path) => ({
    name: `operator ${path}?${name}`,
    mostBytes,
    send: (bytes: number) => operator.get(`${path}?${make(bytes)}`),
  })),
);

const { countOf, stop } = await startCounting(/\/(?:portal|packages|core)\/[^?]*\.ts$/);
const [, , count = '1000'] = process.argv;
const most = Number(count);
const each = [...sweep(hostile, most, most), ...sweep(pages, most / 2, most / 2)];
for (const { name, mostBytes, send } of each) {
  // What the first of a kind loads is no work of a request.
  await send(mostBytes / 4);
  for (const bytes of [mostBytes / 2, mostBytes]) {
    let answer = { status: 0, body: '' };
    const counted = await countOf(async () => {
      answer = await send(bytes);
    });
    const { status, body } = answer;
    const row: PortalWork = {
      kind: name,
      bytes,
      status,
      answerBytes: Buffer.byteLength(body),
      ...counted,
    };
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}
stop();
for (const { error } of portal.logged) process.stderr.write(`${String(error)}\n`);
await service.stop();
