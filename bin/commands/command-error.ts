/** The command failed; `code` is stable for scripts, the message is one line and says what to do. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** The command was written wrongly: nothing was tried, and the exit code is 2. */
export class UsageError extends CommandError {
  override name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
  }
}
