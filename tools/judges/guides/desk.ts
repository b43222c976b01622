import { basename, join } from 'node:path';
import { cache } from '../judge.ts';
import { type Answers, Terminal } from './terminal.ts';

/** What a reader needs of this machine, whatever the guide. */
export type Desk = {
  /** An empty folder, which has the name of the part of the judge. */
  work: string;
  /** Packs and publishes the release, once for all parts. */
  release(): Promise<Release>;
  variables: NodeJS.ProcessEnv;
  opened: AsyncDisposableStack;
};

/** The packed release: its folder, and the variables with which npm installs it by name. */
export type Release = { folder: string; variables: NodeJS.ProcessEnv };

/** The terminals keep what they show here. */
export const kept = join(cache, 'guides');

/** Opens a terminal in a folder, which ends with the part. */
export async function openTerminal(
  { work, variables, opened }: Desk,
  folder: string,
  { name = 'terminal', answers = [], environment = {} }: Opening = {},
): Promise<Terminal> {
  const pieces = join(kept, `${basename(work)}-${name}`);
  const terminal = new Terminal(folder, pieces, { ...environment, ...variables }, answers);
  opened.defer(() => terminal.end());
  await terminal.run(failingCurl);
  return terminal;
}

type Opening = { name?: string; answers?: Answers; environment?: NodeJS.ProcessEnv };

/**
 * Otherwise curl shows an error of the service, and succeeds. A 503, which a busy machine gets, is
 * repeated as the API's reference says.
 */
const failingCurl = `curl() { command curl --fail-with-body --retry 3 "$@"; }`;

/** What all commands ask that replace or delete. */
export const confirmations: Answers = [[/\[y\/N\] $/, 'y']];
