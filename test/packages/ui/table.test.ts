import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { scrollTable } from '../../../packages/ui/table.ts';

describe('a table whose heads sort it', () => {
  const table = async (sortBy?: string) =>
    String(await scrollTable('Keys', ['Label', 'State', 'Last used'], [['a', 'b', 'c']], sortBy));

  it('has the words before its heads on a phone, where the style sheet adds a colon', async () => {
    expect(await table('Sort by')).toContain('<thead><tr data-sort="Sort by">');
    expect(readFileSync('packages/ui/assets/style.css', 'utf8')).toContain(
      'content: attr(data-sort) ":";',
    );
  });

  it('has none if no head sorts it', async () => {
    expect(await table()).toContain('<thead><tr><th');
  });
});
