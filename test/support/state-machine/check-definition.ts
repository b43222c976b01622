import { checkExpressions } from './check-expressions.ts';
import { checkState, type Known } from './check-state.ts';
import { NotInterpretedError } from './errors.ts';
import { type Branch, type Machine, machineSchema, type State } from './schema.ts';

/**
 * The definition, once all of it is known to be what the interpreter and the service take: fields, states that are
 * reached and exist, names that are unique, resources, error names, expressions and the variables in them.
 * @throws NotInterpretedError with every issue
 */
export function parseMachine(definition: unknown, known: Known): Machine {
  const parsed = machineSchema.safeParse(definition);
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => `${path.join('/') || 'definition'}: ${message}`);
    throw new NotInterpretedError(issues);
  }
  const machine = parsed.data;
  const issues = [...branchIssues(machine, known), ...duplicateNames(machine), ...checkExpressions(machine)];
  if (issues.length > 0) throw new NotInterpretedError(issues);
  return machine;
}

function branchIssues(branch: Branch, known: Known): string[] {
  const names = new Set(Object.keys(branch.States));
  const issues: string[] = [];
  const reached = new Set<string>();
  const queue = [branch.StartAt];
  for (let name = queue.pop(); name !== undefined; name = queue.pop()) {
    const state = branch.States[name];
    if (!state) issues.push(`${name}: there is no state of that name where it is gone to`);
    else if (!reached.has(name)) queue.push(...nextOf(state));
    reached.add(name);
  }
  for (const name of names) if (!reached.has(name)) issues.push(`${name}: no state goes there`);
  for (const [name, state] of Object.entries(branch.States)) {
    issues.push(...checkState(state, known).map((issue) => `${name}: ${issue}`));
    if (state.Type === 'Map') issues.push(...branchIssues(state.ItemProcessor, known));
  }
  return issues;
}

function nextOf(state: State): string[] {
  const next: (string | undefined)[] = [];
  if ('Next' in state) next.push(state.Next);
  if ('Catch' in state) next.push(...state.Catch.map((catcher) => catcher.Next));
  if (state.Type === 'Choice') next.push(state.Default, ...state.Choices.map((rule) => rule.Next));
  return next.filter((name) => name !== undefined);
}

function duplicateNames(machine: Branch): string[] {
  const seen = new Set<string>();
  const issues: string[] = [];
  function visit(branch: Branch): void {
    for (const [name, state] of Object.entries(branch.States)) {
      if (seen.has(name)) issues.push(`${name}: there are two states of that name`);
      seen.add(name);
      if (state.Type === 'Map') visit(state.ItemProcessor);
    }
  }
  visit(machine);
  return issues;
}
