import { describe, expect, it } from '@jest/globals';
import {
  operatorStatus,
  readIdentity,
  UnusableIdentity,
} from '../../../portal/request/identity.ts';
import { isLoopback } from '../../../portal/request/sign-in.ts';

const settings = {
  subjectClaim: 'sub',
  operators: ['olaf@example.nl'],
  operatorClaim: { name: 'groups', value: 'ops' },
};
const confirmed = '2026-11-21T12:00:00Z';
const at = (minutes: number, isForm = false) => ({
  now: Date.parse(confirmed) + minutes * 60_000,
  isForm,
});

const read = (
  idToken: Record<string, unknown>,
  userInfo: Record<string, unknown> = {},
  over = {},
) => readIdentity({ sub: '1', ...idToken }, userInfo, { ...settings, ...over });

describe('a person who signed in', () => {
  it.each([
    [
      'is an operator by a verified e-mail address',
      { email: 'Olaf@Example.nl', email_verified: true },
      'yes',
    ],
    [
      'is an operator by the text "true" that Cognito sends',
      { email: 'olaf@example.nl', email_verified: 'true' },
      'yes',
    ],
    [
      'is no operator by an e-mail address that is not verified',
      { email: 'olaf@example.nl', email_verified: false },
      'no',
    ],
    ['is no operator by an e-mail address without a flag', { email: 'olaf@example.nl' }, 'no'],
    ['is an operator by one of the values of a claim', { groups: ['staff', 'ops'] }, 'yes'],
    ['is an operator by the value of a claim', { groups: 'ops' }, 'yes'],
    ["is not an operator by part of a claim's value", { groups: 'ops-readers' }, 'no'],
  ])('%s', (_, claims, operator) => {
    expect(operatorStatus({ ...read(claims), confirmed }, settings, at(1))).toBe(operator);
  });

  it.each([
    ['of another person in disguise', 'sub:victim', 'form'],
    ['with a letter that becomes an ASCII one in lower case', '\u212aim@example.nl', 'form'],
    ['with a no-break space', '\u00a0olaf@example.nl', 'form'],
    ['with a tab', 'olaf@example.nl\t', 'form'],
    ['with a space', ' olaf@example.nl', 'form'],
    ['with a quoted local part', '"olaf jansen"@example.nl', 'form'],
    ['that is empty', '', 'form'],
  ])('has no e-mail address %s', (_, email, emailFault) => {
    const identity = read({ email, email_verified: true });
    expect([identity.subject, identity.email, identity.emailFault]).toEqual([
      'sub:1',
      undefined,
      emailFault,
    ]);
    expect(operatorStatus({ ...identity, confirmed }, settings, at(1))).toBe('no');
  });

  it('has the e-mail address and its flag from one source', () => {
    const verified = { email_verified: true };
    expect(read(verified, { email: 'olaf@example.nl' }).email).toBe(undefined);
    expect(read({ email: 'olaf@example.nl' }, { email: 'x@y.nl', ...verified }).email).toBe(
      undefined,
    );
    expect(read(verified, { email: 'olaf@example.nl', email_verified: false }).emailFault).toBe(
      'unverified',
    );
    expect(read({}, { email: 'olaf@example.nl', ...verified }).email).toBe('olaf@example.nl');
  });

  it('is an operator by a claim of the signed ID token only', () => {
    expect(read({}, { groups: 'ops', sub: '2' })).toEqual({ subject: 'sub:1', name: '1' });
  });

  it('has the first name that is not blank, else the e-mail address, else the subject, of 100 characters', () => {
    expect(read({ name: 'Jo' }, { name: 'Anna' }).name).toBe('Jo');
    expect(read({ name: ' ' }, { name: 'Anna' }).name).toBe('Anna');
    expect(read({ name: 7, email: 'jo@acme.nl', email_verified: true }).name).toBe('jo@acme.nl');
    expect(read({ name: '' }, { name: ['x'] }).name).toBe('1');
    expect(read({ name: 'x'.repeat(101) }).name).toBe('x'.repeat(100));
  });

  it.each([
    ['with a space', 'a b'],
    ['with a no-break space', 'a\u00a0b'],
    ['of another alphabet', '\u212aim'],
    ['of more than 255 characters', 'x'.repeat(256)],
    ['that is empty', ''],
    ['that is no text', 7],
  ])('is refused for a subject %s', (_, sub) => {
    expect(() => read({ sub })).toThrow(UnusableIdentity);
  });

  it('is identified by another claim where the configuration names one', () => {
    const over = { subjectClaim: 'oid' };
    expect(read({ oid: 'd3b07384' }, {}, over).subject).toBe('sub:d3b07384');
    expect(() => read({}, { oid: 'd3b07384' }, over)).toThrow('The claim oid');
  });
});

describe('an operator by a claim', () => {
  const identity = read({ groups: 'ops' });

  it.each([
    [5, false, 'yes'],
    [5.0001, false, 'stale'],
    [15, true, 'yes'],
    [15.0001, true, 'stale'],
  ] as const)(
    '%d minutes after the provider confirmed it, for a form: %s, is one: %s',
    (minutes, isForm, status) => {
      expect(operatorStatus({ ...identity, confirmed }, settings, at(minutes, isForm))).toBe(
        status,
      );
    },
  );

  it('is none by another claim than that of the configuration', () => {
    const other = { operators: [], operatorClaim: { name: 'groups', value: 'others' } };
    expect(operatorStatus({ ...identity, confirmed }, other, at(1))).toBe('no');
    expect(operatorStatus({ ...identity, confirmed }, { operators: [] }, at(1))).toBe('no');
  });
});

describe('a URL of this machine', () => {
  it.each([
    ['http://127.0.0.1:3000', true],
    ['http://localhost', true],
    ['http://[::1]:3000/x', true],
    ['http://[::2]', false],
    ['http://127.0.0.1.example.nl', false],
    ['http://portal.example.nl', false],
  ])('is recognised, so that the portal does without TLS there only: %s', (url, expected) => {
    expect(isLoopback(url)).toBe(expected);
  });
});
