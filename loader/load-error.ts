/** Why a load or a command about loads ends. Operators know it by its name, and the message says what to do. */
export class LoadError extends Error {
  override readonly name: LoadErrorName;

  constructor(name: LoadErrorName, message: string) {
    super(message);
    this.name = name;
  }
}

type LoadErrorName =
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
