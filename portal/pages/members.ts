import { html } from 'hono/html';
import { type MemberView, roles } from '../../packages/admin/index.ts';
import {
  type AccountVisit,
  type Html,
  may,
  OtherPage,
  ofAccount,
  type Page,
  type PageAnswer,
  type PageRoute,
} from '../visit/visit.ts';
import { attempt, choice, confirmation, field, hidden, postForm } from './form.ts';
import { type Column, listOf } from './list.ts';
import { doneNote, faultPage, instantOf } from './parts.ts';

/** Who may sign in for an account. */
export const memberPages: readonly PageRoute[] = [
  ofAccount('GET', '/members', 'member.view', membersPage),
  ofAccount('POST', '/members', 'member.change', add),
  ofAccount('GET', '/members/remove', 'member.change', removeQuestion),
  ofAccount('POST', '/members/remove', 'member.change', remove),
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
    ...(canChange ? [{ name: 'actions', label: text.actions, show: removeLink(visit) }] : []),
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

function removeLink(visit: AccountVisit): (member: MemberView) => Html {
  const { text } = visit;
  return ({ person }) =>
    isSelf(visit, person)
      ? ''
      : html`<a href="${pathOf(visit)}/remove?person=${encodeURIComponent(person)}" aria-label="${text.remove}: ${person}">${text.remove}</a>`;
}

function addForm(visit: AccountVisit): Html {
  const { text } = visit;
  const options = roles.map((role) => [role, text.roles[role]] as const);
  const fields = html`${field(visit, { name: 'person', label: text.email, required: true })}
${choice(visit, { name: 'role', label: text.role, options })}`;
  return postForm(visit, pathOf(visit), fields, { label: text.addMember });
}

async function add(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const person = somebodyElse(visit, form.person);
  const input = { account, person, role: form.role === 'admin' ? 'admin' : 'viewer' } as const;
  const of = { back: pathOf(visit), about: 'person', form: { show: membersPage, field: 'person' } } as const;
  await attempt(visit, of, () => admin.members.add(input));
  return { goTo: `${pathOf(visit)}?done=member` };
}

function removeQuestion(visit: AccountVisit): Page {
  const { query, text } = visit;
  const person = somebodyElse(visit, query.person);
  return confirmation(visit, {
    title: text.removeMember(person),
    explanation: text.removeMemberText,
    action: visit.path,
    yes: text.removeMemberYes,
    cancel: pathOf(visit),
    fields: hidden('person', person),
  });
}

async function remove(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const person = somebodyElse(visit, form.person);
  const back = pathOf(visit);
  await attempt(visit, { back, about: 'person' }, () => admin.members.remove({ account, person }));
  return { goTo: `${back}?done=removed` };
}

/** Administrators can't change themselves, so they don't lock themselves out by mistake. @throws OtherPage */
function somebodyElse(visit: AccountVisit, person = ''): string {
  if (!isSelf(visit, person)) return person;
  const { errors, notYourself: explanation } = visit.text;
  throw new OtherPage(
    faultPage(visit.text, { title: errors.forbidden, explanation, back: pathOf(visit), status: 403 }),
  );
}
