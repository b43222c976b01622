import { html } from 'hono/html';
import type { MemberView } from '../../packages/admin/index.ts';
import { choice, field, hidden } from '../../packages/ui/form-fields.ts';
import { listOf } from '../../packages/ui/list.ts';
import { definitionList, type Html } from '../../packages/ui/table.ts';
import {
  accountRoutes,
  may,
  OtherPage,
  type Page,
  type PageAnswer,
} from '../request/page-routes.ts';
import type { AccountRequest, PortalRequest } from '../request/portal-request.ts';
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

const pathOf = ({ account }: AccountRequest) => `/accounts/${account}/members`;
const isSelf = ({ people }: AccountRequest, person: string) =>
  people.includes(person.toLowerCase()) || people.includes(person);

async function membersPage(request: AccountRequest): Promise<Page> {
  const { admin, account, role, text } = request;
  const canChange = may(role, 'member.change');
  const list = listOf(request, {
    caption: text.tabs.members,
    columns: [
      { name: 'member', label: text.member, show: ({ person }) => personOf(request, person) },
      { name: 'role', label: text.membership.role, show: ({ role: given }) => text.roles[given] },
      {
        name: 'added',
        label: text.changeKinds.added,
        show: ({ added }) => instantOf(request, added),
      },
      ...(canChange
        ? [
            {
              name: 'actions',
              label: text.actions,
              place: 'aside',
              show: changeLink(request),
            } as const,
          ]
        : []),
    ],
    rows: await admin.members.list(account),
    words: ({ person, role: given }) => `${person} ${text.roles[given]}`,
    none: text.noMembers,
  });
  const fields = html`${field(request, { name: 'person', label: text.email, hint: text.emailHint, required: true })}${roleChoice(request)}`;
  const form = canChange
    ? postForm(request, pathOf(request), fields, { label: text.addMember })
    : '';
  return {
    title: text.tabs.members,
    body: html`${doneNote(request)}<div class="card">${list}</div>
${canChange ? html`<div class="card"><h2>${text.addMember}</h2><p>${text.addMemberText}</p>${form}</div>` : ''}`,
  };
}

const personOf = (request: AccountRequest, person: string): Html =>
  html`${person}${isSelf(request, person) ? html` <span class="muted">(${request.text.membership.you})</span>` : ''}`;

function changeLink(request: AccountRequest): (member: MemberView) => Html {
  const { account, text } = request;
  return ({ person }) =>
    isSelf(request, person)
      ? leaveLink(request, account)
      : html`<span class="actions"><a href="${pathOf(request)}/member?person=${encodeURIComponent(person)}" aria-label="${text.membership.changeIt}: ${person}">${text.membership.changeIt}</a></span>`;
}

/** The role that suits most first. */
function roleChoice(request: AccountRequest, value?: string): Html {
  const { text } = request;
  const options = (['viewer', 'finance', 'admin'] as const).map(
    (role) => [role, text.roles[role]] as const,
  );
  return choice(request, { name: 'role', label: text.membership.role, options, value });
}

/** Adds somebody, or gives a member another role. */
async function add(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account, form } = request;
  const person = somebodyElse(request, form.person);
  const input = { account, person, role: form.role as MemberView['role'] };
  const of = {
    back: pathOf(request),
    about: 'person',
    form: { show: membersPage, field: 'person' },
  } as const;
  await attempt(request, of, () => admin.members.add(input));
  return { goTo: `${pathOf(request)}?done=member` };
}

/** Who a member is, with what can be done about it. */
async function memberPage(request: AccountRequest): Promise<Page> {
  const { admin, account, query, text } = request;
  const person = somebodyElse(request, query.person);
  const member = (await admin.members.list(account)).find(
    (candidate) => candidate.person === person,
  );
  if (!member) return noMember(request, person);
  const who = hidden('person', person);
  const cancel = pathOf(request);
  const about = [
    [text.member, person],
    [text.membership.role, text.roles[member.role]],
    [text.changeKinds.added, instantOf(request, member.added)],
  ] as const;
  const role = postForm(request, cancel, html`${who}${roleChoice(request, member.role)}`, {
    label: text.act.save,
    cancel,
  });
  const removal = postForm(request, `${cancel}/remove`, who, {
    label: text.removeMemberYes,
    isDanger: true,
    cancel,
  });
  return {
    title: person,
    body: html`<div class="card">${definitionList(about)}</div><div class="card"><h2>${text.membership.role}</h2>${role}</div>
<div class="card"><h2>${text.removeMember(person)}</h2><p>${text.removeMemberText}</p>${removal}</div>`,
  };
}

async function remove(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account, form } = request;
  const person = somebodyElse(request, form.person);
  const back = pathOf(request);
  const own = { not_found: noMember(request, person) };
  await attempt(request, { back, about: 'person', own }, () =>
    admin.members.remove({ account, person }),
  );
  return { goTo: `${back}?done=removed` };
}

const noMember = (request: AccountRequest, person: string) =>
  notFoundPage(request.text, pathOf(request), request.text.noSuchMember(person, request.account));

/** Leads to leaving an account; also for who may not see its members. */
export const leaveLink = ({ text }: Pick<PortalRequest, 'text'>, account: string): Html =>
  html`<span class="actions"><a href="/accounts/${account}/leave" aria-label="${text.membership.leave}: ${account}">${text.membership.leave}</a></span>`;

function leaveQuestion(request: AccountRequest): Page {
  const { account, text } = request;
  return confirmation(request, {
    title: text.leaveAccount(account),
    explanation: text.leaveText,
    action: request.path,
    yes: text.membership.leaveYes,
    cancel: sessionsPath,
  });
}

/** Removes the member under each of this person's identities, e-mail address and subject. */
async function leave(request: AccountRequest): Promise<PageAnswer> {
  const { admin, account } = request;
  const own = (await admin.members.list(account)).filter(({ person }) => isSelf(request, person));
  for (const { person } of own) {
    await attempt(request, { back: sessionsPath, about: 'other' }, () =>
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
function somebodyElse(request: AccountRequest, person = ''): string {
  if (!isSelf(request, person)) return person;
  const { errors, notYourself: explanation } = request.text;
  throw new OtherPage(
    faultPage(request.text, {
      title: errors.forbidden,
      explanation,
      back: pathOf(request),
      status: 403,
    }),
  );
}
