import type { loadHistory } from '../../loader/load-history.ts';
import { count } from './render-load-report.ts';
import { table } from './table.ts';

/** Loads as a table, from new to old. @param where how the place is named in another command */
export function renderHistory(entries: Awaited<ReturnType<typeof loadHistory>>, where: string): string {
  if (entries.length === 0) return `Nothing was loaded yet; "load run ${where}" does.`;
  return table(
    ['published', 'state', 'kind', 'keys', 'added', 'changed', 'removed', 'load', 'can be gone back to'],
    entries.map(({ at, state, kind, keys, added, changed, removed, load, kept }, index) => [
      at,
      state,
      kind,
      ...[keys, added, changed, removed].map(count),
      load,
      index === 0 ? 'is served' : kept ? 'yes' : 'no',
    ]),
  );
}
