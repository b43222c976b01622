import { Logger } from '@aws-lambda-powertools/logger';
import { redactKeys } from '../../core/accounts/api-key.ts';

/**
 * A logger of errors, which may quote the caller's input; `write` receives each line, without its
 * end.
 */
export function errorLogger(service: string, write: (line: string) => void): Logger {
  return new LineLogger({ serviceName: service }, write);
}

class LineLogger extends Logger {
  readonly #write: (line: string) => void;

  constructor(options: ConstructorParameters<typeof Logger>[0], write: (line: string) => void) {
    super({ ...options, jsonReplacerFn: withoutKeys });
    this.#write = write;
  }

  protected override printLog(_level: number, log: { getAttributes(): object }): void {
    this.#write(JSON.stringify(log.getAttributes(), this.getJsonReplacer()));
  }
}

function withoutKeys(_: string, value: unknown): unknown {
  return typeof value === 'string' ? redactKeys(value) : value;
}
