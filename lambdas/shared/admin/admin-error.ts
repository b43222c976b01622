/** Stable: a portal may branch on them. */
export type AdminErrorCode = 'not_found' | 'exists' | 'conflict' | 'invalid' | 'too_many_keys';

/**
 * A refusal of the admin module; its message says what to do and never holds a key. Nothing was changed, except that
 * after `conflict` a change of a plan may have reached some of its accounts: run it again.
 */
export class AdminError extends Error {
  readonly code: AdminErrorCode;

  constructor(code: AdminErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'AdminError';
    this.code = code;
  }
}
