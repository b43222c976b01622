import { html } from 'hono/html';
import { type MemberView, roles } from '../../packages/admin/index.ts';
import { type AccountVisit, type Html, may, type Page, type PageAnswer, type PageRoute } from '../visit/visit.ts';
import { choice, field, saving } from './form.ts';
import { type Column, listOf } from './list.ts';
import { changing, confirmation, doneNote, faultPage, instantOf, postForm } from './parts.ts';

/** Who may sign in for an account. */
export const memberPages: readonly PageRoute[] = [
  { of: 'account', method: 'GET', path: '/accounts/:account/members', action: 'member.view', handle: membersPage },
  { of: 'account', method: 'POST', path: '/accounts/:account/members', action: 'member.change', handle: add },
  {
    of: 'account',
    method: 'GET',
    path: '/accounts/:account/members/remove',
    action: 'member.change',
    handle: async (visit) => removeQuestion(visit, visit.c.req.query('person') ?? ''),
  },
  { of: 'account', method: 'POST', path: '/accounts/:account/members/remove', action: 'member.change', handle: remove },
];

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/members`;
const isSelf = ({ people }: AccountVisit, person: string) =>
  people.includes(person.toLowerCase()) || people.includes(person);

async function membersPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, role, text } = visit;
  const members = await admin.members.list(account);
  const canChange = may(role, 'member.change');
  const columns: Column<MemberView>[] = [
    {
      name: 'member',
      label: text.member,
      show: ({ person }) =>
        html`${person}${isSelf(visit, person) ? html` <span class="muted">(${text.you})</span>` : ''}`,
      sort: ({ person }) => person,
    },
    { name: 'role', label: text.role, show: ({ role: given }) => text.roles[given], sort: ({ role: given }) => given },
    { name: 'added', label: text.added, show: ({ added }) => instantOf(visit, added), sort: ({ added }) => added },
    ...(canChange
      ? [
          {
            name: 'actions',
            label: text.actions,
            show: ({ person }: MemberView) => (isSelf(visit, person) ? '' : removeLink(visit, person)),
          },
        ]
      : []),
  ];
  const list = listOf(visit, {
    caption: text.members,
    columns,
    rows: members,
    words: ({ person }) => person,
    none: text.noMembers,
  });
  return {
    title: text.members,
    body: html`${doneNote(visit)}<div class="card">${list}</div>
${canChange ? html`<div class="card"><h2>${text.addMember}</h2><p>${text.addMemberText}</p>${addForm(visit)}</div>` : ''}`,
  };
}

function removeLink(visit: AccountVisit, person: string): Html {
  const { text } = visit;
  return html`<a href="${pathOf(visit)}/remove?person=${encodeURIComponent(person)}" aria-label="${text.remove}: ${person}">${text.remove}</a>`;
}

function addForm(visit: AccountVisit): Html {
  const { text } = visit;
  const options = roles.map((role) => [role, text.roles[role]] as const);
  return postForm(
    visit,
    pathOf(visit),
    html`${field(visit, { name: 'person', label: text.email, required: true })}
${choice(visit, { name: 'role', label: text.role, options })}
<div><button class="button">${text.addMember}</button></div>`,
  );
}

async function add(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const { person = '', role = '' } = form;
  if (isSelf(visit, person)) return refuseSelf(visit);
  const input = { account, person, role: role === 'admin' ? 'admin' : 'viewer' } as const;
  const of = { show: membersPage, field: 'person', about: 'person', back: pathOf(visit) } as const;
  const done = await saving(visit, of, () => admin.members.add(input));
  return 'fault' in done ? done.fault : { goTo: `${pathOf(visit)}?done=member` };
}

function removeQuestion(visit: AccountVisit, person: string): Page {
  const { text } = visit;
  if (isSelf(visit, person)) return refuseSelf(visit);
  return confirmation(visit, {
    title: text.removeMember(person),
    explanation: text.removeMemberText,
    action: `${pathOf(visit)}/remove`,
    yes: text.removeMemberYes,
    cancel: pathOf(visit),
    hidden: html`<input type="hidden" name="person" value="${person}">`,
  });
}

async function remove(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form, text } = visit;
  const { person = '' } = form;
  if (isSelf(visit, person)) return refuseSelf(visit);
  const done = await changing(text, pathOf(visit), 'person', () => admin.members.remove({ account, person }));
  return 'fault' in done ? done.fault : { goTo: `${pathOf(visit)}?done=removed` };
}

/** Administrators can't remove themselves, so they don't lock themselves out by mistake. */
function refuseSelf(visit: AccountVisit): Page {
  const { text } = visit;
  return faultPage(text, {
    title: text.errors.forbidden,
    explanation: text.notYourself,
    back: pathOf(visit),
    status: 403,
  });
}
