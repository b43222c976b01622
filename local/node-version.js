/**
 * The oldest Node that runs the sources as they are: without a build step, and with
 * `AsyncDisposableStack`.
 */
export const oldestNode = 24;

/**
 * What to do when `version`, like `20.20.2`, is too old; `undefined` when it is not. Plain
 * JavaScript: an older Node can't read TypeScript, and would print a stack trace that does not say
 * so.
 */
export function nodeProblem(version = process.versions.node) {
  if (Number.parseInt(version, 10) >= oldestNode) return undefined;
  return (
    `This needs Node ${oldestNode} or newer; this is Node ${version}. On Linux, "npm ci" installs a Node of its own for ` +
    `"npm start", "npm test" and "npm run ...", and "npx node" runs it. Elsewhere, install Node ${oldestNode}: ` +
    `"nvm install ${oldestNode}", or https://nodejs.org/en/download.`
  );
}

/** Ends the process with what to do when this Node is too old. */
export function requireNode() {
  const problem = nodeProblem();
  if (problem === undefined) return;
  console.error(problem);
  process.exit(1);
}
