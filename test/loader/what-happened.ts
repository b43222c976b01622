import type { RunEvent } from '../support/state-machine/frame.ts';
import type { Execution } from '../support/state-machine/run-state-machine.ts';

/** The states that an execution went through, without child executions. */
export function states({ events }: Execution): string[] {
  return events.flatMap((event) => (event.kind === 'entered' && !event.state.endsWith('Batch') ? [event.state] : []));
}

/** What happened of one kind. */
export function ofKind<K extends RunEvent['kind']>({ events }: Execution, kind: K): Extract<RunEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind);
}

/** The ways through the machine, of which each execution takes some. */
export const ways = {
  begin: ['Begin', 'ReadQuota', 'Discover', 'ChooseAction'],
  toGuard: [
    'Stage',
    'Reference',
    'PartsToExtract',
    'Extract',
    'Collect',
    'CheckForDays',
    'SegmentsToMerge',
    'Merge',
    'Guard',
    'CheckGuardResult',
  ],
  apply: ['Apply', 'Publish', 'CheckIfResumed'],
  release: ['Release', 'ChooseNotification'],
  failure: ['ReleaseAfterFailure', 'NotifyFailure', 'Failed'],
};
