/** The errors of a load whose message says it all, by name: what they are called for scripts. */
const codes: Record<string, string> = {
  ExtractError: 'bad_extract',
  ForeignStorageError: 'foreign_storage',
  LockedError: 'locked',
  MissingObjectError: 'storage_incomplete',
  ReadBackError: 'read_back',
  RefusedLoadError: 'blocked',
  SourceChangedError: 'source_changed',
  SourceError: 'no_extract',
  SourceUnavailableError: 'source_unavailable',
  StaleLoadError: 'stale_load',
  UnknownStateError: 'unknown_state',
  WorkGoneError: 'work_gone',
};

/** Explains an error of a load by its name, which is the same from a Lambda; `undefined` for any other error. */
export function explainLoadFailure(name: string, message: string): { code: string; message: string } | undefined {
  const code = Object.hasOwn(codes, name) ? codes[name] : undefined;
  return code === undefined ? undefined : { code, message };
}
