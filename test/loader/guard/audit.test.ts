import { describe, expect, it } from '@jest/globals';
import { auditOf } from '../../../loader/guard/audit.ts';

const january = {
  identity: 'a',
  isNational: false,
  gemeenten: ['0457'],
  peildatum: '2026-01-08',
};
const february = { ...january, peildatum: '2026-02-08' };
const changes = { added: 1, changed: 2, removed: 3 };
const counts = { changes };

type Given = Parameters<typeof auditOf>;
const load: Given[0] = { kind: 'extract', peildatum: '2026-02-08', extract: february };
/** Days were loaded up to February onto the extract of January. */
const days: NonNullable<Given[2]> = {
  peildatum: '2026-02-08',
  extract: january,
  snapshot: { id: 'days', segments: [], buckets: 1, reach: [] },
};

describe('the audit of days', () => {
  it('is the difference of an extract from the days up to its date, also of a planned load', () => {
    expect(auditOf(load, counts, days)).toEqual(changes);
  });

  it.each<[string, Given]>([
    ['of a load of days', [{ ...load, kind: 'mutations' }, counts, days]],
    ['of a rollback', [{ ...load, kind: 'rollback' }, counts, days]],
    ['of a first load', [load, counts, null]],
    ['onto data that came from no extract', [load, counts, { ...days, extract: null }]],
    ['of a load without an extract', [{ ...load, extract: null }, counts, days]],
    ['of another area', [{ ...load, extract: { ...february, gemeenten: ['0363'] } }, counts, days]],
    ['of another date', [{ ...load, peildatum: '2026-02-09' }, counts, days]],
    [
      'onto an extract, without days',
      [load, counts, { ...days, extract: { ...january, peildatum: days.peildatum } }],
    ],
  ])('is none %s', (_, [wanted, found, base]) => {
    expect(auditOf(wanted, found, base)).toBeNull();
  });

  it('counts the objects of addresses too if both have them', () => {
    const objecten = { live: 9, changed: 4, lost: 0, moved: 0 };
    const withObjects = { ...days, snapshot: { ...days.snapshot, objecten: true as const } };
    expect(auditOf(load, { changes, objecten }, withObjects)).toEqual({ ...changes, changed: 6 });
    expect(auditOf(load, { changes, objecten }, days)).toEqual(changes);
  });
});
