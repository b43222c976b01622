import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import type { Admin } from '../../../../lambdas/shared/accounts/admin.ts';
import type { AdminErrorCode, AdminRefusals } from '../../../../lambdas/shared/accounts/admin-error.ts';

type Calls = { [Group in keyof Admin]: `${Group}.${keyof Admin[Group] & string}` }[keyof Admin];

/** Does not compile unless the two are equal. */
function sameKeys<A extends B, B extends C, C = A>(): void {}
sameKeys<Calls, keyof AdminRefusals>();
sameKeys<AdminErrorCode, AdminRefusals[Calls]>();

describe('the messages of the admin module', () => {
  it('name no command, because portals show them too', () => {
    const sources = globSync('lambdas/shared/accounts/*.ts').map((file) => readFileSync(file, 'utf8'));
    const messages = sources.flatMap((source) =>
      [...source.matchAll(/new AdminError\(([\s\S]*?)\);/g)].map(([, text]) => text),
    );
    expect(messages.length).toBeGreaterThan(20);
    expect(messages.filter((text) => /"(account|plan|key) [a-z-]+"|bag-adres|--\w/.test(String(text)))).toEqual([]);
  });
});
