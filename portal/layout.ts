import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { AccountView } from '../packages/admin/index.ts';
import { type Language, languages, serviceName } from '../packages/ui/language.ts';
import { namedLinks } from '../packages/ui/links.ts';
import type { Html } from '../packages/ui/table.ts';
import { stateTag } from './pages/page-parts.ts';
import { type Action, may, type Page } from './request/page-routes.ts';
import type { Person, PortalRole, PortalSettings } from './request/portal-request.ts';
import type { Text } from './text/en.ts';
import { type Formatter, formatter, texts } from './text/portal-texts.ts';

export type Frame = {
  settings: Pick<PortalSettings, 'company' | 'links' | 'languages'>;
  /** The addresses of the style sheet, the script, the icon and the logo. */
  assets: { style: string; script: string; icon: string; logo?: string };
  language: Language;
  /** The path of this page, for the tabs, and with its query, for the switch of the language. */
  path: string;
  address: string;
  /** Whether this page can be requested again in the other language. */
  canSwitch: boolean;
  person?: Person;
  formField?: Html;
  account?: { id: string; role: PortalRole };
  /** The account that the page is about, as far as this visitor may see it. */
  view?: AccountView | undefined;
  /** How many loads wait for approval, as operators see in the menu. */
  waiting?: number;
};

type Tab = { path: string; name: string; count?: number };

export function document({ title, body }: Page, frame: Frame): Html {
  const { settings, assets, language, address, person, view } = frame;
  const { company } = settings;
  const service = serviceName[language];
  const text = texts[language];
  const others = (settings.languages ?? languages).filter((other) => other !== language);
  const links = namedLinks(settings.links ?? {}, text).map(
    ({ url, name }) => html` <a href="${url}" rel="noopener">${name}</a>`,
  );
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${[title, view?.name ?? frame.account?.id, company ?? service].filter((part) => part !== undefined).join(' - ')}</title>
<link rel="stylesheet" href="${assets.style}">
<meta name="description" content="${title} - ${[company, service].filter(Boolean).join(' - ')}">
<link rel="icon" href="${assets.icon}">
<script src="${assets.script}" defer></script>
</head>
<body class="portal" data-copy="${text.act.copy}" data-copied="${text.act.copied}">
<a class="skip" href="#content">${text.frame.skip}</a>
<header><p><a href="/">${assets.logo ? html`<img src="${assets.logo}" alt="">` : ''}${company ? html`${company} <span>${service}</span>` : service}</a></p>
<div class="links">
${person ? html`<a href="/sessions">${text.signedInAs(person.name)}</a>` : ''}
${frame.canSwitch ? others.map((other) => html`<a href="/language?to=${other}&amp;back=${encodeURIComponent(address)}" lang="${other}" hreflang="${other}">${texts[other].language}</a>`) : ''}
${person ? html`<form method="post" action="/sign-out">${frame.formField}<button class="link">${text.frame.signOut}</button></form>` : ''}
</div></header>
${navigation(frame, text)}
<main id="content" class="page" tabindex="-1">
${view ? accountHead(view, frame) : frame.account ? html`<p class="muted">${text.about.account} ${frame.account.id}</p>` : ''}
<h1>${title}</h1>
${body}
</main>
<footer><span>${[company, service].filter(Boolean).join(' - ')}</span>${person ? html` <a href="/help">${text.help.title}</a>` : ''}${links}</footer>
</body>
</html>`;
}

/** The account of the page: its name, id, state, plan and age, and for operators its details. */
function accountHead(view: AccountView, { account, language }: Frame): Html {
  const { id, name, state, plan, planState, created } = view;
  const text = texts[language];
  const format = formatter(language);
  const details = account?.role === 'operator' ? (['contact', 'note'] as const) : [];
  const shown = details.flatMap((detail) =>
    view[detail] === null ? [] : [html` <span>${text.detailNames[detail]}: ${view[detail]}</span>`],
  );
  return html`<div class="account"><p class="name">${name ?? id}</p>
<p class="about"><code data-copies="${text.about.account}">${id}</code> ${stateTag(state, text)} <span>${text.about.plan} ${plan}</span>${planState === 'inactive' ? html` ${stateTag(planState, text)}` : ''} <span>${text.about.created} ${format.day(created)}</span>${shown}</p></div>`;
}

function navigation({ account, person, path, language, waiting = 0 }: Frame, text: Text): Html {
  const operator: Tab[] = person?.operator
    ? [
        { path: '/operator/home', name: text.tabs.home },
        { path: '/operator/accounts', name: text.operatorTabs.accounts },
        { path: '/operator/plans', name: text.operatorTabs.plans },
        { path: '/operator/register', name: text.operatorTabs.register, count: waiting },
        { path: '/operator/statements', name: text.bill.statements },
        { path: '/operator/sessions', name: text.operatorTabs.sessions },
      ]
    : [];
  const tabs = account ? accountTabs(account, text) : [];
  const listOf = (label: string, all: Tab[]) =>
    all.length > 0 ? tabList(label, all, path, formatter(language)) : '';
  return html`${listOf(text.manage, operator)}${listOf(text.frame.menu, tabs)}`;
}

function accountTabs({ id, role }: NonNullable<Frame['account']>, text: Text): Tab[] {
  const at = `/accounts/${id}`;
  const all: (Tab & { action: Action })[] = [
    { path: at, name: text.tabs.overview, action: 'account.view' },
    { path: `${at}/keys`, name: text.keys, action: 'account.view' },
    { path: `${at}/usage`, name: text.tabs.usage, action: 'usage.view' },
    { path: `${at}/statements`, name: text.bill.statements, action: 'usage.view' },
    { path: `${at}/changes`, name: text.tabs.changes, action: 'audit.view' },
    { path: `${at}/members`, name: text.tabs.members, action: 'member.view' },
    { path: `${at}/api`, name: text.api, action: 'account.view' },
    { path: `${at}/manage`, name: text.manage, action: 'account.manage' },
  ];
  return all.filter(({ action }) => may(role, action));
}

function tabList(label: string, tabs: Tab[], current: string, format: Formatter): Html {
  // On a page below a tab, the tab with the longest path that leads to it.
  const [within] = tabs
    .filter(({ path }) => `${current}/`.startsWith(`${path}/`))
    .toSorted((a, b) => b.path.length - a.path.length);
  const mark = (path: string) =>
    path === within?.path ? html` aria-current="${path === current ? 'page' : 'true'}"` : '';
  return html`<nav class="menu" aria-label="${label}"><ul>
${tabs.map(({ path, name, count }) => html`<li><a href="${path}"${mark(path)}${count ? html` aria-label="${name} ${format.count(count, 'waiting')}"` : ''}>${name}${count ? html` <span class="tag warn">${format.number(count)}</span>` : ''}</a></li>`)}
</ul></nav>`;
}

/**
 * Part of the address of an asset, so that browsers may keep it for a year and still see another
 * version at once.
 */
export function fingerprint(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}
