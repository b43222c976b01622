import { describe, expect, it } from '@jest/globals';
import { identityOf, isOperator } from '../../portal/visit/sign-in.ts';

describe('a person who signed in', () => {
  const settings = { operators: ['olaf@example.nl'], operatorClaim: { name: 'groups', value: 'ops' } };

  it.each([
    [
      'has no e-mail address that is not verified',
      { email: 'olaf@example.nl', email_verified: false },
      false,
      undefined,
    ],
    ['has no unverified e-mail address', { email: 'olaf@example.nl' }, false, undefined],
    [
      'is an operator by a verified e-mail address',
      { email: 'Olaf@Example.nl', email_verified: true },
      true,
      'olaf@example.nl',
    ],
    ['is an operator by one of the values of a claim', { groups: ['staff', 'ops'] }, true, undefined],
    ['is an operator by the value of a claim', { groups: 'ops' }, true, undefined],
    ["is not an operator by part of a claim's value", { groups: 'ops-readers' }, false, undefined],
  ])('%s', (_, claims, operator, email) => {
    const identity = identityOf({ sub: '1', ...claims }, settings);
    expect([isOperator(identity, settings), identity.email, identity.subject]).toEqual([operator, email, 'sub:1']);
  });
});
