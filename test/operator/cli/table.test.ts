import { describe, expect, it } from '@jest/globals';
import { renderKeys } from '../../../operator/cli/access.ts';
import { table } from '../../../operator/cli/table.ts';

const widest = (text: string) => Math.max(...text.split('\n').map((line) => line.length));

describe('a table', () => {
  const created = '2026-11-24T04:00:00Z';
  const key = {
    keyId: 'b9uDEGM7',
    label: 'webshop of the north',
    state: 'expired' as const,
    created,
    lastUsed: '2026-11-24',
  };
  const keys = [{ ...key, expires: created, revoked: null, createdBy: null, replacedBy: null }];

  it.each([80, 90, 100, 120])('of keys fits a terminal of %i columns, and keeps the ids whole', (columns) => {
    const text = renderKeys(keys, 'acme', columns);
    expect(widest(text)).toBeLessThanOrEqual(columns);
    expect(text).toContain('b9uDEGM7');
  });

  it('is as wide as its contents where no terminal limits it, and where it fits', () => {
    const natural = renderKeys(keys, 'acme', undefined);
    expect(natural).toContain(created);
    expect(renderKeys(keys, 'acme', 200)).toBe(natural);
  });

  it('loses no character of a cell that it wraps', () => {
    const long = 'x1'.repeat(60);
    const text = table(['id', 'note'], [['acme', long]], 40);
    expect(widest(text)).toBeLessThanOrEqual(40);
    expect(text.replace(/[^x1]/g, '')).toBe(long);
  });
});
