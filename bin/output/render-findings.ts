import type { Finding } from '../doctor/finding.ts';

/** Findings for people: one line each, and what to do below it. */
export function renderFindings(findings: readonly Finding[]): string {
  const widest = Math.max(...findings.map(({ check }) => check.length));
  return findings
    .flatMap(({ check, state, found, advice }) => [
      `${state.padEnd(7)}  ${check.padEnd(widest)}  ${found}`,
      ...(advice === null ? [] : [`${' '.repeat(9)}${' '.repeat(widest)}  -> ${advice}`]),
    ])
    .join('\n');
}
