/** All errors of a configuration at once, one line each, with the field and the allowed values. */
export class ConfigError extends Error {
  override name = 'ConfigError';
  readonly faults: readonly string[];

  /** @param source the file, or what else the configuration is from */
  constructor(faults: readonly string[], source = 'cdk.json') {
    const shown = faults.map(withoutPrivateKeys);
    super(
      `The configuration in ${source} is not valid:\n${shown.map((f) => `  - ${f}`).join('\n')}`,
    );
    this.faults = shown;
  }
}

/**
 * One that was pasted is not printed, wherever it was pasted: as the name of a field or of a stage
 * too.
 */
function withoutPrivateKeys(text: string): string {
  return text.replace(
    /-----BEGIN [A-Z ]*PRIVATE KEY[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
    '(a private key)',
  );
}
