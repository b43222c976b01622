import type { Branch, State } from './schema.ts';

/** The sequences of states within a state. */
export function branchesOf(state: State): Branch[] {
  if (state.Type === 'Parallel') return state.Branches;
  return state.Type === 'Map' ? [state.ItemProcessor] : [];
}
