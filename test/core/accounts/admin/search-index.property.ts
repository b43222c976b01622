import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { eachAccountWith, eachPlan } from '../../../../core/accounts/admin/search-index.ts';
import { pageOfUnsorted } from '../../../../packages/admin/list-accounts.ts';

/** Few letters, so that texts, accounts, members and plans often contain each other. */
const word = fc.string({ unit: fc.constantFrom('a', 'b', '-'), minLength: 1, maxLength: 4 });
const line = fc.record({ account: word, member: fc.option(word, { nil: '' }), plan: word, found: word });
const textOf = (lines: { account: string; member: string; plan: string; found: string }[]) =>
  lines.map(({ account, member, plan, found }) => `${account}\t${member}\t${member ? '' : plan}\t${found}`).join('\n');

describe('a search', () => {
  it('finds exactly the accounts with a line whose last column contains the text', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), word, (lines, wanted) => {
        const accounts = new Set<string>();
        eachAccountWith(textOf(lines), wanted, (account) => void accounts.add(account));
        const expected = lines.filter(({ found }) => found.includes(wanted)).map(({ account }) => account);
        expect(accounts).toEqual(new Set(expected));
      }),
    );
  });

  it('knows the plan of each account once, and none for a member', () => {
    fc.assert(
      fc.property(fc.array(line, { maxLength: 6 }), (lines) => {
        const plans: [string, string][] = [];
        eachPlan(textOf(lines), (account, plan) => void plans.push([account, plan]));
        const expected = lines.filter(({ member }) => member === '').map(({ account, plan }) => [account, plan]);
        expect(plans).toEqual(expected);
      }),
    );
  });

  it('returns the page that all names in order have, in whatever order they come', () => {
    fc.assert(
      fc.property(fc.array(word, { maxLength: 60 }), word, fc.nat({ max: 2 }), (names, cursor, more) => {
        const limit = more + 1;
        const found = pageOfUnsorted({ limit, cursor: 'a' });
        for (const name of [...names, cursor, ...names]) found.add(name);
        const sorted = [...new Set([...names, cursor])].filter((name) => name > 'a').sort();
        expect(found.page()).toEqual({
          names: sorted.slice(0, limit),
          cursor: sorted.length > limit ? sorted[limit - 1] : null,
        });
      }),
    );
  });
});
