/** The faults of an extract, as stable codes for callers. */
export type ExtractErrorCode =
  | 'not_a_zip'
  | 'corrupt_zip'
  | 'unsupported_zip'
  | 'missing_member'
  | 'duplicate_member'
  | 'missing_peildatum'
  | 'future_peildatum'
  | 'mixed_peildatums'
  | 'mutation_delivery'
  | 'invalid_mutations'
  | 'unknown_schema'
  | 'invalid_xml';

/** An extract that can't be read: the message names the file, its fault and the remedy. */
export class ExtractError extends Error {
  override readonly name = 'ExtractError';
  readonly code: ExtractErrorCode;
  /**
   * The file within the extract,
   * `BAGGEM0457L.zip > 0457GEM.zip > 0457NUM.zip > 0457NUM-000001.xml`.
   */
  readonly file: string;

  constructor(code: ExtractErrorCode, file: string, problem: string, options?: ErrorOptions) {
    super(`${file}: ${problem}`, options);
    this.code = code;
    this.file = file;
  }
}

/**
 * Why a load or a command about loads ends. Operators know it by its name, and the message says
 * what to do.
 */
export class LoadError extends Error {
  override readonly name: LoadErrorName;

  constructor(name: LoadErrorName, message: string) {
    super(message);
    this.name = name;
  }
}

type LoadErrorName =
  | 'AmbiguousSnapshotError'
  | 'ForeignStorageError'
  | 'MutationGapError'
  | 'NotRefusedError'
  | 'PendingLoadError'
  | 'ReadBackError'
  | 'StaleLoadError'
  | 'UnknownLoadError'
  | 'UnknownSnapshotError'
  | 'UnmarkedTableError'
  | 'WorkGoneError';
