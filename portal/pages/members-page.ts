import { html } from 'hono/html';
import type { MemberView } from '../../packages/admin/index.ts';
import { choice, field, hidden } from '../../packages/look/form-fields.ts';
import { listOf } from '../../packages/look/list.ts';
import { facts, type Html } from '../../packages/look/table.ts';
import { accountRoutes, may, OtherPage, type Page, type PageAnswer } from '../visit/page-routes.ts';
import type { AccountVisit, Visit } from '../visit/visit.ts';
import { attempt, confirmation, postForm } from './page-form.ts';
import { doneNote, faultPage, instantOf, notFoundPage } from './page-parts.ts';

/** Who may sign in for an account. */
export const memberPages = accountRoutes({
  'GET /members': ['member.view', membersPage],
  'POST /members': ['member.change', add],
  'GET /members/member': ['member.change', memberPage],
  'POST /members/remove': ['member.change', remove],
  'GET /leave': ['account.leave', leaveQuestion],
  'POST /leave': ['account.leave', leave],
});

const pathOf = ({ account }: AccountVisit) => `/accounts/${account}/members`;
const isSelf = ({ people }: AccountVisit, person: string) =>
  people.includes(person.toLowerCase()) || people.includes(person);

async function membersPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, role, text } = visit;
  const canChange = may(role, 'member.change');
  const list = listOf(visit, {
    caption: text.tabs.members,
    columns: [
      { name: 'member', label: text.member, show: ({ person }) => personOf(visit, person) },
      { name: 'role', label: text.membership.role, show: ({ role: given }) => text.roles[given] },
      {
        name: 'added',
        label: text.changeKinds.added,
        show: ({ added }) => instantOf(visit, added),
      },
      ...(canChange
        ? [
            {
              name: 'actions',
              label: text.actions,
              place: 'aside',
              show: changeLink(visit),
            } as const,
          ]
        : []),
    ],
    rows: await admin.members.list(account),
    words: ({ person, role: given }) => `${person} ${text.roles[given]}`,
    none: text.noMembers,
  });
  const fields = html`${field(visit, { name: 'person', label: text.email, hint: text.emailHint, required: true })}${roleChoice(visit)}`;
  const form = canChange ? postForm(visit, pathOf(visit), fields, { label: text.addMember }) : '';
  return {
    title: text.tabs.members,
    body: html`${doneNote(visit)}<div class="card">${list}</div>
${canChange ? html`<div class="card"><h2>${text.addMember}</h2><p>${text.addMemberText}</p>${form}</div>` : ''}`,
  };
}

const personOf = (visit: AccountVisit, person: string): Html =>
  html`${person}${isSelf(visit, person) ? html` <span class="muted">(${visit.text.membership.you})</span>` : ''}`;

function changeLink(visit: AccountVisit): (member: MemberView) => Html {
  const { account, text } = visit;
  return ({ person }) =>
    isSelf(visit, person)
      ? leaveLink(visit, account)
      : html`<span class="actions"><a href="${pathOf(visit)}/member?person=${encodeURIComponent(person)}" aria-label="${text.membership.changeIt}: ${person}">${text.membership.changeIt}</a></span>`;
}

/** The role that suits most first. */
function roleChoice(visit: AccountVisit, value?: string): Html {
  const { text } = visit;
  const options = (['viewer', 'finance', 'admin'] as const).map(
    (role) => [role, text.roles[role]] as const,
  );
  return choice(visit, { name: 'role', label: text.membership.role, options, value });
}

/** Adds somebody, or gives a member another role. */
async function add(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const person = somebodyElse(visit, form.person);
  const input = { account, person, role: form.role as MemberView['role'] };
  const of = {
    back: pathOf(visit),
    about: 'person',
    form: { show: membersPage, field: 'person' },
  } as const;
  await attempt(visit, of, () => admin.members.add(input));
  return { goTo: `${pathOf(visit)}?done=member` };
}

/** Who a member is, with what can be done about it. */
async function memberPage(visit: AccountVisit): Promise<Page> {
  const { admin, account, query, text } = visit;
  const person = somebodyElse(visit, query.person);
  const member = (await admin.members.list(account)).find((one) => one.person === person);
  if (!member) return noMember(visit, person);
  const who = hidden('person', person);
  const cancel = pathOf(visit);
  const about = [
    [text.member, person],
    [text.membership.role, text.roles[member.role]],
    [text.changeKinds.added, instantOf(visit, member.added)],
  ] as const;
  const role = postForm(visit, cancel, html`${who}${roleChoice(visit, member.role)}`, {
    label: text.act.save,
    cancel,
  });
  const removal = postForm(visit, `${cancel}/remove`, who, {
    label: text.removeMemberYes,
    isDanger: true,
    cancel,
  });
  return {
    title: person,
    body: html`<div class="card">${facts(about)}</div><div class="card"><h2>${text.membership.role}</h2>${role}</div>
<div class="card"><h2>${text.removeMember(person)}</h2><p>${text.removeMemberText}</p>${removal}</div>`,
  };
}

async function remove(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account, form } = visit;
  const person = somebodyElse(visit, form.person);
  const back = pathOf(visit);
  const own = { not_found: noMember(visit, person) };
  await attempt(visit, { back, about: 'person', own }, () =>
    admin.members.remove({ account, person }),
  );
  return { goTo: `${back}?done=removed` };
}

const noMember = (visit: AccountVisit, person: string) =>
  notFoundPage(visit.text, pathOf(visit), visit.text.noSuchMember(person, visit.account));

/** Leads to leaving an account; also for who may not see its members. */
export const leaveLink = ({ text }: Pick<Visit, 'text'>, account: string): Html =>
  html`<span class="actions"><a href="/accounts/${account}/leave" aria-label="${text.membership.leave}: ${account}">${text.membership.leave}</a></span>`;

function leaveQuestion(visit: AccountVisit): Page {
  const { account, text } = visit;
  return confirmation(visit, {
    title: text.leaveAccount(account),
    explanation: text.leaveText,
    action: visit.path,
    yes: text.membership.leaveYes,
    cancel: sessionsPath,
  });
}

/** Removes the member under each of this person's identities, e-mail address and subject. */
async function leave(visit: AccountVisit): Promise<PageAnswer> {
  const { admin, account } = visit;
  const own = (await admin.members.list(account)).filter(({ person }) => isSelf(visit, person));
  for (const { person } of own) {
    await attempt(visit, { back: sessionsPath, about: 'other' }, () =>
      admin.members.remove({ account, person }),
    );
  }
  return { goTo: `${sessionsPath}?done=left` };
}

/** The page that lists a person's own accounts. */
const sessionsPath = '/sessions';

/**
 * Administrators can't change themselves, so they don't lock themselves out by mistake. @throws
 * OtherPage
 */
function somebodyElse(visit: AccountVisit, person = ''): string {
  if (!isSelf(visit, person)) return person;
  const { errors, notYourself: explanation } = visit.text;
  throw new OtherPage(
    faultPage(visit.text, {
      title: errors.forbidden,
      explanation,
      back: pathOf(visit),
      status: 403,
    }),
  );
}
