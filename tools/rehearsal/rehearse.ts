import { readFileSync } from 'node:fs';
import { documentedCommands, workflowCommands } from './documented-commands.ts';
import { runInShell } from './run-in-shell.ts';

/** The procedures that an operator follows, in the order in which they build on each other. */
const documents = [
  'docs/deploy.md',
  'docs/runbook.md',
  'docs/recovery.md',
  'docs/examples/pipeline/README.md',
  'docs/examples/pipeline/deploy.yml',
];

/** What a rehearsal ran, and what would not have worked. */
export type Rehearsal = { calls: number; problems: string[] };

/**
 * Walks documents command by command: a shell runs them with stubs in place of the programs, so
 * that variables, functions, loops and quoting are real, and every call that a stub got is checked
 * against the program that it stands for.
 */
export async function rehearse(texts: ReadonlyMap<string, string>): Promise<Rehearsal> {
  const pieces = [...texts].flatMap(([file, text]) =>
    file.endsWith('.yml') ? workflowCommands(file, text) : documentedCommands(file, text),
  );
  const { calls, problems } = await runInShell(pieces);
  // Loaded here because it takes a while, which a wrong call should not.
  const { checkCall } = await import('./check-call.ts');
  for (const call of calls) {
    const problem = await checkCall(call.args);
    if (problem !== null) problems.push(`${call.where}: ${call.args.join(' ')}: ${problem}`);
  }
  return { calls: calls.length, problems };
}

/** Rehearses the deployment guide, the runbook and the example of a pipeline. */
export function rehearseDocs(): Promise<Rehearsal> {
  return rehearse(new Map(documents.map((file) => [file, readFileSync(file, 'utf8')])));
}

// Not import.meta.main: local/launch.js imports this.
if (process.argv[1] === import.meta.filename) {
  if (process.argv.length > 2) {
    process.stderr.write('Usage: npm run rehearse (it takes no options)\n');
    process.exit(2);
  }
  const { calls, problems } = await rehearseDocs();
  for (const problem of problems) process.stderr.write(`${problem}\n`);
  const summary = `${calls} commands of ${documents.join(' and ')} rehearsed, ${problems.length} would not work.`;
  process.stdout.write(`${summary}\n`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
