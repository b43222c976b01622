import type { Access } from './account.ts';
import { accessItem } from './account-item.ts';
import { dateOf } from './usage-count.ts';
import { type GuardedChanges, noChanges, toleratedSeconds } from './window-changes.ts';

/**
 * The changes of the usage of `target` when it takes over the totals of `closed`, whose days go to records in the same
 * transaction. Its own days stay the same, also while it is charged.
 */
export function mergeUsage(target: Access, closed: readonly Access[]): GuardedChanges {
  const { changes, guards } = noChanges();
  const total = closed.reduce((sum, { usage }) => sum + usage.total, 0);
  if (total === 0) return { changes, guards };
  if (target.usage.date !== null) {
    changes.raise[accessItem.total] = total;
    changes.raise[accessItem.mark] = total;
  } else {
    // It has not counted a day yet. The first charge takes the total as its mark.
    changes.set[accessItem.total] = target.usage.total + total;
    guards.push({ attribute: accessItem.date, is: 'absent' });
  }
  return { changes, guards };
}

/**
 * The changes that bring a day of usage in the future back to the present: what was counted since becomes usage of
 * today.
 */
export function resetUsage({ usage }: Access, nowSeconds: number): GuardedChanges {
  const { changes, guards } = noChanges();
  const { date, days } = usage;
  if (date === null || date <= dateOf(nowSeconds + toleratedSeconds)) return { changes, guards };
  const today = dateOf(nowSeconds);
  changes.set[accessItem.date] = today;
  guards.push({ attribute: accessItem.date, is: '=', value: date });
  // Counted after today began, and rolled into a day by the wrong clock.
  const later = Object.entries(days).filter(([day]) => day >= today);
  if (later.length === 0) return { changes, guards };
  changes.set[accessItem.days] = Object.fromEntries(Object.entries(days).filter(([day]) => day < today));
  changes.raise[accessItem.mark] = -later.reduce((sum, [, units]) => sum + units, 0);
  guards.push({ attribute: accessItem.days, is: '=', value: days });
  return { changes, guards };
}
