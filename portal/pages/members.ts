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
  type Visit,
} from '../visit/visit.ts';
import { attempt, choice, confirmation, field, hidden, postForm } from './form.ts';
import { type Column, listOf } from './list.ts';
import { doneNote, faultPage, instantOf, notFoundPage } from './parts.ts';

/** Who may sign in for an account. */
export const memberPages: readonly PageRoute[] = [
  ofAccount('GET', '/members', 'member.view', membersPage),
  ofAccount('POST', '/members', 'member.change', add),
  ofAccount('GET', '/members/remove', 'member.change', removeQuestion),
  ofAccount('POST', '/members/remove', 'member.change', remove),
  ofAccount('GET', '/leave', 'account.leave', leaveQuestion),
  ofAccount('POST', '/leave', 'account.leave', leave),
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
    { name: 'role', label: text.role, show: roleIn(visit, canChange), sort: ({ role: given }) => given },
    { name: 'added', label: text.added, show: ({ added }) => instantOf(visit, added), sort: ({ added }) => added },
    ...(canChange ? [{ name: 'actions', label: text.actions, show: leavingLink(visit) }] : []),
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

/** The role of a member, which an administrator changes where it stands. */
function roleIn(visit: AccountVisit, canChange: boolean): (member: MemberView) => Html {
  const { formField, text } = visit;
  return ({ person, role }) => {
    if (!canChange || isSelf(visit, person)) return text.roles[role];
    const options = roles.map(
      (one) => html`<option value="${one}"${one === role ? html` selected` : ''}>${text.roles[one]}</option>`,
    );
    return html`<form method="post" action="${pathOf(visit)}" class="actions">${formField}${hidden('person', person)}<select name="role" aria-label="${text.role}: ${person}">${options}</select><button class="button plain" aria-label="${text.save}: ${person}">${text.save}</button></form>`;
  };
}

function leavingLink(visit: AccountVisit): (member: MemberView) => Html {
  const { text } = visit;
  return ({ person }) =>
    isSelf(visit, person)
      ? leaveLink(visit, visit.account)
      : html`<span class="actions"><a href="${pathOf(visit)}/remove?person=${encodeURIComponent(person)}" aria-label="${text.remove}: ${person}">${text.remove}</a></span>`;
}

function addForm(visit: AccountVisit): Html {
  const { text } = visit;
  // The one that suits most first.
  const options = (['viewer', 'finance', 'admin'] as const).map((role) => [role, text.roles[role]] as const);
  const fields = html`${field(visit, { name: 'person', label: text.email, required: true })}
${choice(visit, { name: 'role', label: text.role, options })}`;
  return postForm(visit, pathOf(visit), fields, { label: text.addMember });
}

async function add(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const person = somebodyElse(visit, form.person);
  const input = { account, person, role: roles.find((role) => role === form.role) ?? 'viewer' } as const;
  const of = { back: pathOf(visit), about: 'person', form: { show: membersPage, field: 'person' } } as const;
  await attempt(visit, of, () => admin.members.add(input));
  return { goTo: `${pathOf(visit)}?done=member` };
}

async function removeQuestion(visit: AccountVisit): Promise<Page> {
  const { admin, account, query, text } = visit;
  const person = somebodyElse(visit, query.person);
  if (!(await admin.members.list(account)).some((member) => member.person === person)) return noMember(visit, person);
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
  const own = { not_found: noMember(visit, person) };
  await attempt(visit, { back, about: 'person', own }, () => admin.members.remove({ account, person }));
  return { goTo: `${back}?done=removed` };
}

const noMember = (visit: AccountVisit, person: string) =>
  notFoundPage(visit.text, pathOf(visit), visit.text.noSuchMember(person, visit.account));

/** Leads to leaving an account; also for who may not see its members. */
export const leaveLink = ({ text }: Pick<Visit, 'text'>, account: string): Html =>
  html`<span class="actions"><a href="/accounts/${account}/leave" aria-label="${text.leave}: ${account}">${text.leave}</a></span>`;

function leaveQuestion(visit: AccountVisit): Page {
  const { account, text } = visit;
  const [title, explanation] = [text.leaveAccount(account), text.leaveText];
  return confirmation(visit, { title, explanation, action: visit.path, yes: text.leaveYes, cancel: sessionsPath });
}

/** Under each identity, by e-mail address and by subject, under which this person is a member. */
async function leave(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account } = visit;
  const own = (await admin.members.list(account)).filter(({ person }) => isSelf(visit, person));
  for (const { person } of own)
    await attempt(visit, { back: sessionsPath, about: 'other' }, () => admin.members.remove({ account, person }));
  return { goTo: `${sessionsPath}?done=left` };
}

/** Where people see the accounts of which they are a member. */
const sessionsPath = '/sessions';

/** Administrators can't change themselves, so they don't lock themselves out by mistake. @throws OtherPage */
function somebodyElse(visit: AccountVisit, person = ''): string {
  if (!isSelf(visit, person)) return person;
  const { errors, notYourself: explanation } = visit.text;
  throw new OtherPage(
    faultPage(visit.text, { title: errors.forbidden, explanation, back: pathOf(visit), status: 403 }),
  );
}
