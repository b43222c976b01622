/** What every command knows of loads: errors, progress, and where extracts are. It imports no package. */

export { ExtractError } from '../extract-error.ts';
export { isRunning } from '../is-running.ts';
export { LoadError } from '../load-error.ts';
export { type Amount, type LoadStage, noProgress, type Progress } from '../progress.ts';
export { isSameLocation, type Source, SourceChangedError, SourceError, sourceLocation } from '../storage/source.ts';
