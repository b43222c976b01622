/** The command failed; `code` is stable for scripts, the message is one line and says what to do. */
export class CommandError extends Error {
  override name = 'CommandError';
  readonly code: string;
  /** More that a script may want to know, beside code and message in the JSON of the error. */
  readonly details: Record<string, unknown>;

  constructor(code: string, message: string, options: ErrorOptions & { details?: Record<string, unknown> } = {}) {
    super(message, options);
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The command was written wrongly: nothing was tried, and the exit code is 2. */
export class UsageError extends CommandError {
  override name = 'UsageError';

  constructor(message: string, options?: ErrorOptions) {
    super('usage', message, options);
  }
}
