import type { KeyView } from '../../lambdas/shared/admin/key-view.ts';
import { table } from './table.ts';

/** Keys as a table; what they open is not in it. */
export function renderKeys(keys: KeyView[]): string {
  if (keys.length === 0) return 'There are no keys yet; make one with "key create --account ID --label TEXT".';
  return table(
    ['key id', 'label', 'state', 'created', 'revoked'],
    keys.map(({ keyId, label, state, created, revoked }) => [
      keyId,
      label ?? '-',
      state,
      created ?? '-',
      revoked ?? '-',
    ]),
  );
}
