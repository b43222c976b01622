import { describe, expect, it } from '@jest/globals';
import { drill } from '../../../tools/drill/drill.ts';

describe('the drill', () => {
  it.each([3])(
    'brings back every account and key in a random order, each restore interrupted once: seed %i',
    async (seed) => {
      const lines: string[] = [];
      const results = await drill({ accounts: 4, seed, log: (line) => lines.push(line) });
      expect(results.map(({ procedure }) => procedure).sort()).toEqual([
        'deleted-table',
        'lost-account',
        'wrong-contents',
      ]);
      for (const result of results) {
        expect(result).toMatchObject({ lostAccounts: 0, wrongKeys: 0 });
        expect(result.interruptions).toBeGreaterThan(0);
      }
      expect(lines.filter((line) => line.includes('interrupted:')).length).toBeGreaterThanOrEqual(3);
    },
    60_000,
  );
});
