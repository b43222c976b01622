import { html } from 'hono/html';
import type { Text } from './text/en.ts';
import { type Language, texts } from './text/format.ts';
import { type Action, may, type Role } from './visit/permissions.ts';
import type { PortalSettings } from './visit/settings.ts';
import type { Person } from './visit/sign-in.ts';
import type { Html, Page } from './visit/visit.ts';

/** What surrounds a page. */
export type Frame = {
  settings: Pick<PortalSettings, 'company'>;
  /** The addresses of the style sheet, the script and the logo. */
  assets: { style: string; script: string; logo?: string };
  language: Language;
  /** The path of this page, for the tabs and for the switch of the language. */
  path: string;
  /** Whether this page can be asked for again in the other language. */
  canSwitch: boolean;
  person?: Person;
  formField?: Html;
  account?: { id: string; role: Role };
};

type Tab = { path: string; name: string };

/** The whole document around a page. */
export function document({ title, body }: Page, frame: Frame): Html {
  const { settings, assets, language, path, person } = frame;
  const text = texts[language];
  const other = language === 'nl' ? 'en' : 'nl';
  return html`<!doctype html>
<html lang="${language}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} - ${settings.company}</title>
<link rel="stylesheet" href="${assets.style}">
<link rel="icon" href="${assets.logo ?? 'data:,'}">
<script src="${assets.script}" defer></script>
</head>
<body>
<a class="skip" href="#content">${text.skip}</a>
<header class="top"><div class="wrap">
<a class="brand" href="/">${assets.logo ? html`<img src="${assets.logo}" alt="">` : ''}<span>${settings.company}</span></a>
${person ? html`<span>${text.signedInAs(person.name)}</span>` : ''}
${frame.canSwitch ? html`<a href="/language?to=${other}&back=${encodeURIComponent(path)}" lang="${other}" hreflang="${other}">${texts[other].language}</a>` : ''}
${
  person
    ? html`<form method="post" action="/sign-out">${frame.formField}<button class="link">${text.signOut}</button></form>`
    : ''
}
</div></header>
${navigation(frame, text)}
<main id="content" tabindex="-1"><div class="wrap">
${frame.account ? html`<p class="crumb">${text.account} ${frame.account.id}</p>` : ''}
<h1>${title}</h1>
${body}
</div></main>
<footer><div class="wrap">${text.service} - ${settings.company}</div></footer>
</body>
</html>`;
}

function navigation({ account, person, path }: Frame, text: Text): Html {
  const operator: Tab[] = person?.operator
    ? [
        { path: '/operator/accounts', name: text.accounts },
        { path: '/operator/plans', name: text.plans },
        { path: '/operator/register', name: text.register },
      ]
    : [];
  const tabs = account ? accountTabs(account, text) : [];
  return html`${operator.length > 0 ? tabList(text.manage, operator, path) : ''}${tabs.length > 0 ? tabList(text.menu, tabs, path) : ''}`;
}

function accountTabs({ id, role }: NonNullable<Frame['account']>, text: Text): Tab[] {
  const at = `/accounts/${id}`;
  const all: (Tab & { action: Action })[] = [
    { path: at, name: text.overview, action: 'account.view' },
    { path: `${at}/keys`, name: text.keys, action: 'account.view' },
    { path: `${at}/usage`, name: text.usage, action: 'usage.view' },
    { path: `${at}/changes`, name: text.changes, action: 'audit.view' },
    { path: `${at}/members`, name: text.members, action: 'member.view' },
    { path: `${at}/api`, name: text.api, action: 'account.view' },
    { path: `${at}/manage`, name: text.manage, action: 'account.manage' },
  ];
  return all.filter(({ action }) => may(role, action));
}

function tabList(label: string, tabs: Tab[], current: string): Html {
  // Of a page below a tab: the tab with the longest path that leads to it.
  const [within] = tabs
    .map(({ path }) => path)
    .filter((path) => current.startsWith(`${path}/`))
    .toSorted((a, b) => b.length - a.length);
  const mark = (path: string) => {
    if (path === current) return html` aria-current="page"`;
    return path === within && !tabs.some((tab) => tab.path === current) ? html` aria-current="true"` : '';
  };
  return html`<nav class="tabs" aria-label="${label}"><div class="wrap"><ul>
${tabs.map(({ path, name }) => html`<li><a href="${path}"${mark(path)}>${name}</a></li>`)}
</ul></div></nav>`;
}
