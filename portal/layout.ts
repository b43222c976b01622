import { createHash } from 'node:crypto';
import { html } from 'hono/html';
import type { Text } from './text/en.ts';
import { type Language, languages, texts } from './text/format.ts';
import {
  type Action,
  type Html,
  may,
  type Page,
  type Person,
  type PortalLinks,
  type PortalRole,
  type PortalSettings,
} from './visit/visit.ts';

/** What surrounds a page. */
export type Frame = {
  settings: Pick<PortalSettings, 'company' | 'links' | 'languages'>;
  /** The addresses of the style sheet, the script and the logo. */
  assets: { style: string; script: string; logo?: string };
  language: Language;
  /** The path of this page, for the tabs, and with its query, for the switch of the language. */
  path: string;
  address: string;
  /** Whether this page can be requested again in the other language. */
  canSwitch: boolean;
  person?: Person;
  formField?: Html;
  account?: { id: string; role: PortalRole };
};

type Tab = { path: string; name: string };

/** The whole document around a page. */
export function document({ title, body }: Page, frame: Frame): Html {
  const { settings, assets, language, address, person } = frame;
  const text = texts[language];
  const others = (settings.languages ?? languages).filter((one) => one !== language);
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
${person ? html`<a href="/sessions">${text.signedInAs(person.name)}</a>` : ''}
${frame.canSwitch ? others.map((other) => html`<a href="/language?to=${other}&amp;back=${encodeURIComponent(address)}" lang="${other}" hreflang="${other}">${texts[other].language}</a>`) : ''}
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
<footer><div class="wrap">${text.service} - ${settings.company}${person ? html` <a href="/help">${text.help.title}</a>` : ''}${footerLinks(settings.links ?? {}, text)}</div></footer>
</body>
</html>`;
}

function footerLinks({ contactUrl, contactEmail, terms, privacy, accessibility }: PortalLinks, text: Text): Html {
  const links: [string | undefined, string][] = [
    [contactUrl, text.contact],
    [contactEmail && `mailto:${contactEmail}`, contactEmail ?? ''],
    [terms, text.terms],
    [privacy, text.privacy],
    [accessibility, text.accessibility],
  ];
  return html`${links.filter(([url]) => url).map(([url, name]) => html` <a href="${url}" rel="noopener">${name}</a>`)}`;
}

function navigation({ account, person, path }: Frame, text: Text): Html {
  const operator: Tab[] = person?.operator
    ? [
        { path: '/operator/accounts', name: text.accounts },
        { path: '/operator/plans', name: text.plans },
        { path: '/operator/register', name: text.register },
        { path: '/operator/statements', name: text.statements },
        { path: '/operator/sessions', name: text.sessions },
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
    { path: `${at}/statements`, name: text.statements, action: 'usage.view' },
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

function luminanceOf(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The contrast of two colours as WCAG 2.2 defines it: 4.5 for text. */
export function contrastOf(one: string, other: string): number {
  const [low = 0, high = 0] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

/** The operator's colour where it can be read on every ground of a mode, else the one of ours. */
function readableOr(colour: string, ours: string, grounds: readonly string[]): string {
  return grounds.every((ground) => contrastOf(colour, ground) >= 4.5) ? colour : ours;
}

/** Black or white, whichever can be read on `#rrggbb`; the better of the two always has a contrast of 4.5 or more. */
export function readableOn(colour: string): '#000000' | '#ffffff' {
  return luminanceOf(colour) > 0.179 ? '#000000' : '#ffffff';
}

const lightGrounds = ['#ffffff', '#f3f5f8'];
const darkGrounds = ['#1a222c', '#10161d'];

/** The style sheet in the operator's colour: links and charts have it too where that can be read. */
export function styleSheet(colour: string): string {
  const light = readableOr(colour, '#0b4fb3', lightGrounds);
  const dark = readableOr(colour, '#8ab8ff', darkGrounds);
  return `:root{--brand:${colour};--on-brand:${readableOn(colour)};--link:${light};--bar:${light};${styles}
@media (prefers-color-scheme:dark){:root{--link:${dark};--bar:${dark}}}`;
}

/** Copies the text of the element that a button names; without it the text can still be selected. */
export const copyScript = `document.querySelector('button[data-go-on]')?.click();
for (const button of document.querySelectorAll('button[data-copy]')) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy);
    try {
      await navigator.clipboard.writeText(source.textContent);
      document.getElementById('copied').textContent = button.dataset.copied;
    } catch {
      getSelection().selectAllChildren(source);
    }
  });
}
`;

/** Part of the address of an asset, so that browsers may keep it for a year and still see another version at once. */
export function fingerprint(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex').slice(0, 12);
}

const styles = `
--ink:#16202c;--muted:#4d5a68;--line:#c9d1da;--paper:#fff;--ground:#f3f5f8;--bad:#a3131b;--bad-ground:#fdecec;--good:#12602f;--warn:#7a4b00;--good-ground:#e6f5ea;color-scheme:light dark}
@media (prefers-color-scheme:dark){:root{--ink:#e8edf3;--muted:#a9b5c2;--line:#3b4754;--paper:#1a222c;--ground:#10161d;--bad:#ff9b9b;--bad-ground:#3a1a1c;--good:#8fdca8;--warn:#f2c572;--good-ground:#15301f;}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);font:1rem/1.55 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;overflow-wrap:break-word}
a{color:var(--link)}
:focus-visible{outline:3px solid var(--link);outline-offset:2px;border-radius:2px}
.skip{position:absolute;left:-999rem}.skip:focus{left:1rem;top:1rem;background:var(--paper);padding:.5rem 1rem;z-index:1}
.wrap{max-width:62rem;margin:0 auto;padding:0 1.25rem}
.top{background:var(--brand);color:var(--on-brand)}
.top .wrap{display:flex;flex-wrap:wrap;gap:.5rem 1.25rem;align-items:center;padding-top:.9rem;padding-bottom:.9rem}
.top a,.top button{color:inherit}.top :focus-visible{outline-color:currentColor}
.brand{display:flex;gap:.75rem;align-items:center;font-weight:700;font-size:1.15rem;text-decoration:none;margin-right:auto}
.brand img{height:2rem;max-width:10rem;display:block}
.top form{margin:0}.link{background:none;border:0;padding:.25rem 0;font:inherit;text-decoration:underline;cursor:pointer}
.tabs{background:var(--paper);border-bottom:1px solid var(--line)}
.tabs ul{display:flex;flex-wrap:wrap;gap:0 1.5rem;list-style:none;margin:0;padding:0}
.tabs a{display:block;padding:.7rem 0;color:var(--muted);text-decoration:none;border-bottom:3px solid transparent}
.tabs a:hover{color:var(--ink)}.tabs a[aria-current]{color:var(--ink);font-weight:600;border-bottom-color:var(--link)}
main{padding:1.5rem 0 3rem}
h1{font-size:1.65rem;line-height:1.2;margin:.5rem 0 1.25rem}h2{font-size:1.15rem;margin:0 0 .75rem}
.crumb{color:var(--muted);margin:0}
.card{background:var(--paper);border:1px solid var(--line);border-radius:.6rem;padding:1.25rem;margin:0 0 1.25rem}
.card>:first-child{margin-top:0}.card>:last-child{margin-bottom:0}
.facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(10rem,100%),1fr));gap:1rem;margin:0}.facts dd{overflow-wrap:anywhere}.facts time{white-space:normal}
.facts dt{color:var(--muted);font-size:.9rem}.facts dd{margin:0;font-weight:600}
.terms{margin:0}.terms>div+div{margin-top:.6rem}.terms dt{font-weight:600}.terms dd{margin:0}
.samples{border:0;margin:0 0 1rem;padding:0;min-width:0}.samples legend{font-weight:600;padding:0}.samples input{position:absolute;opacity:0;width:1px}.samples label{display:inline-block;font-weight:400;margin:.4rem .9rem 0 0;padding:.25rem 0;border-bottom:3px solid transparent;cursor:pointer}
.samples input:checked+label{font-weight:600;border-bottom-color:var(--link)}.samples input:focus-visible+label{outline:3px solid var(--link);outline-offset:2px}.samples .panel{display:none}
.samples input:nth-of-type(1):checked~.panel:nth-of-type(1),.samples input:nth-of-type(2):checked~.panel:nth-of-type(2),.samples input:nth-of-type(3):checked~.panel:nth-of-type(3),.samples input:nth-of-type(4):checked~.panel:nth-of-type(4),.samples input:nth-of-type(5):checked~.panel:nth-of-type(5){display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%}caption{text-align:left;font-weight:600;padding-bottom:.5rem}
th,td{text-align:left;padding:.55rem 1rem .55rem 0;border-bottom:1px solid var(--line);vertical-align:top}
th{color:var(--muted);font-weight:600;font-size:.9rem}tr:last-child td{border-bottom:0}
time{white-space:nowrap}
.number{text-align:right;font-variant-numeric:tabular-nums}
meter{width:100%;min-width:6rem;height:.8rem;display:block;margin-top:.3rem}
.tag{display:inline-block;border-radius:1rem;padding:0 .6rem;font-size:.88rem;border:1px solid currentColor}
.tag.good{color:var(--good)}.tag.bad{color:var(--bad)}.tag.off{color:var(--muted)}
.note{border-left:4px solid;border-radius:.3rem;padding:.7rem 1rem;margin:0 0 1.25rem}
.note.good{color:var(--good);background:var(--good-ground)}.note.bad{color:var(--bad);background:var(--bad-ground)}
.muted{color:var(--muted)}h3{font-size:1rem;margin:0 0 .4rem}.entry+.entry{border-top:1px solid var(--line);margin-top:1rem;padding-top:1rem}
label{display:block;font-weight:600;margin-top:.9rem}.hint{color:var(--muted);font-size:.9rem;margin:.1rem 0 .3rem}
input,select{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--muted);border-radius:.35rem;padding:.5rem .65rem;width:100%;max-width:26rem}
.fields{display:grid;grid-template-columns:repeat(auto-fit,minmax(12rem,1fr));gap:0 1rem}
.button{display:inline-block;font:inherit;font-weight:600;background:var(--brand);color:var(--on-brand);border:1px solid var(--muted);border-radius:.35rem;padding:.5rem 1.1rem;text-decoration:none;cursor:pointer;margin-top:1rem}
.button.plain{background:var(--paper);color:var(--ink)}.button.danger{background:var(--bad);color:var(--paper)}
.actions{display:flex;flex-wrap:wrap;gap:.25rem 1rem}
code,pre{font:.92rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,monospace}
pre{background:var(--ground);border:1px solid var(--line);border-radius:.35rem;padding:.8rem 1rem;margin:.5rem 0 0;white-space:pre-wrap;overflow-wrap:anywhere}
.key{font-size:1.05rem;font-weight:600}
svg.chart{width:100%;max-width:46rem;height:auto;display:block}svg.chart rect{fill:var(--bar)}svg.chart rect.over{fill:var(--bad)}svg.chart line{stroke:var(--line)}svg.chart .limit{stroke:var(--bad);stroke-width:2;stroke-dasharray:7 5}.limit-mark{color:var(--bad)}svg.chart text{fill:var(--muted);font-size:16px}@media(min-width:48rem){svg.chart text{font-size:10px}}
svg.chart g path{fill:transparent}svg.chart g text{visibility:hidden;fill:var(--ink);font-weight:600}svg.chart g:hover text,svg.chart g:focus text{visibility:visible}svg.chart g:focus{outline:0}svg.chart g:focus rect,svg.chart g:hover rect{stroke:var(--ink);stroke-width:2}
.tag.warn{color:var(--warn)}
footer a{margin-left:.6rem}footer{border-top:1px solid var(--line);color:var(--muted);padding:1rem 0 2rem;font-size:.92rem}
@media (prefers-reduced-motion:no-preference){a,.button{transition:color .15s,border-color .15s}}
.fault{color:var(--bad);font-weight:600;margin:.1rem 0 .3rem}[aria-invalid]{border-color:var(--bad);border-width:2px}
.search{display:flex;flex-wrap:wrap;gap:.5rem;align-items:end;margin-bottom:1rem}.search label{margin:0;width:100%}.search .button{margin:0}
td{overflow-wrap:anywhere}td time{white-space:normal}
@media (min-width:40.01rem){td,th{min-width:7rem}td.number,th.number{min-width:0}td .tag,td code,.cards td:first-child a{white-space:nowrap}}
@media (min-width:64rem){td time{white-space:nowrap}}
@media (max-width:40rem){td,th{min-width:5.5rem;padding-right:.5rem}.cards thead{position:absolute;left:-999rem}.cards thead:has(a){position:static;display:block}.cards thead:has(a) tr{display:flex;flex-wrap:wrap;gap:0 1.1rem;border:0;padding:0 0 .4rem}.cards thead th{border:0;padding:.25rem 0;min-width:0}.cards thead th:not(:has(a)),.cards td:has(>div:empty){display:none}.cards,.cards caption,.cards tbody,.cards tr,.cards td{display:block}.cards tr{border-bottom:1px solid var(--line);padding:.6rem 0}.cards tr:last-child{border-bottom:0}
.cards td,.cards td.number{border:0;padding:.15rem 0;display:grid;grid-template-columns:8.5rem 1fr;text-align:left;gap:.5rem}.cards td::before{content:attr(data-label);color:var(--muted);font-size:.9rem}
.card{padding:1rem}h1{font-size:1.4rem}.tabs ul{gap:0 1.1rem}}
`;
