import type { Command } from 'commander';

/** How a person agrees to a replacement or deletion. */
export type Agreement =
  /** It asks on a terminal; elsewhere it needs `--yes`. */
  | 'asks'
  /** It shows its plan, and does it with `--yes`. */
  | 'plans';

/**
 * Every command that replaces or deletes what no other command brings back as it was. Each shows the deployment, its
 * account and its region before it changes anything, is refused where `bag-adres.json` has others for that stage, and
 * can be run again after it was interrupted anywhere.
 */
export const destructive: Readonly<Record<string, Agreement>> = {
  'account delete': 'asks',
  'key revoke': 'asks',
  'rotate-checksum-secret': 'asks',
  'usage close': 'asks',
  'load approve': 'asks',
  'load rollback': 'asks',
  'load repair': 'asks',
  'load discard': 'asks',
  'load unlock': 'asks',
  'person erase': 'plans',
  'restore carry-over': 'plans',
};

/** `key revoke`: the words of a command after the name of the program. */
export function pathOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${pathOf(parent)} ${command.name()}` : command.name();
}
