import { stateName } from '../../lib/loader/load-states.ts';
import { type StepName, stepsOfALoad } from '../../loader/steps/load-steps.ts';
import type { Execution, RunEvent } from '../support/state-machine/run-machine.ts';

/** The states that an execution went through, without child executions. */
export function states({ events }: Execution): string[] {
  return events.flatMap((event) =>
    event.kind === 'entered' && !event.state.endsWith('Batch') ? [event.state] : [],
  );
}

/** What happened of one kind. */
export function ofKind<K extends RunEvent['kind']>(
  { events }: Execution,
  kind: K,
): Extract<RunEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<RunEvent, { kind: K }> => event.kind === kind);
}

const before = (end: StepName) => stepsOfALoad.slice(0, stepsOfALoad.indexOf(end)).map(stateName);

/** The ways through the machine, of which each execution takes some. */
export const ways = {
  begin: ['Begin', 'ReadQuota', 'Discover', 'ChooseAction'],
  toGuard: [...before('apply'), 'CheckGuardResult'],
  apply: ['Apply', 'Publish', 'CheckIfResumed'],
  release: ['Release', 'ChooseNotification'],
  failure: ['ReleaseAfterFailure', 'NotifyFailure', 'Failed'],
};
