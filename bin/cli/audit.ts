import type { AuditEntry } from '../../lambdas/shared/accounts/audit.ts';
import { snakeCase, table } from './output.ts';

/** Changes as a table; `unknown` is a change that is still running or whose process died. */
export function renderAudit(entries: AuditEntry[]): string {
  if (entries.length === 0) return 'Nothing was changed yet.';
  return table(
    ['time', 'who', 'what', 'how', 'outcome'],
    entries.map(({ time, actor, action, detail, outcome }) => [time, actor, action, renderDetail(detail), outcome]),
  );
}

/** `plan=standard limits.day=5000`. */
function renderDetail(detail: Record<string, unknown>, path = ''): string {
  return Object.entries(snakeCase(detail) as Record<string, unknown>)
    .map(([name, value]) => {
      if (value === null) return `${path}${name}=unlimited`;
      if (typeof value === 'object') return renderDetail(value as Record<string, unknown>, `${name}.`);
      return `${path}${name}=${value}`;
    })
    .filter(Boolean)
    .join(' ');
}
