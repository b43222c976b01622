import type { RepairReport } from '../../loader/repair/repair-table.ts';
import { count, renderChanges } from './render-load-report.ts';

/** What a repair found, and did, for people. */
export function renderRepair(report: RepairReport): string {
  const { outcome, state, keys, added, changed, removed } = report;
  const title = `The table was compared with the state of ${state}, ${count(keys)} keys`;
  if (added + changed + removed === 0) return `${title}: none differs.`;
  const tense = outcome === 'planned' ? 'Would be put' : 'Was put';
  const what = [`${count(added)} missing`, `${count(changed)} with other places`, `${count(removed)} too many`];
  return [`${title}.`, '', renderChanges(report), '', `${tense} right: ${what.join(', ')}.`].join('\n');
}
