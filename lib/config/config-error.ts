/** Says all that is wrong with a configuration at once, a line a fault, each with its field and what is allowed. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`The configuration in cdk.json has ${faults.length} fault(s):\n${faults.map((f) => `  - ${f}`).join('\n')}`);
    this.faults = faults;
  }
}
