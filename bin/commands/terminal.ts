/** Where a command writes and what it reads of its surroundings. */
export type Terminal = {
  /** Standard output: the result and nothing else. */
  out: (text: string) => void;
  /** Standard error: hints and errors. */
  err: (text: string) => void;
  env: NodeJS.ProcessEnv;
  /** Where a person may be watching how far a command is; without it progress is plain lines of `err`. */
  screen?: NodeJS.WriteStream;
};
