/** The status, history, proposals, reports and refusals of loads, and where they are stored. */

export {
  type Change,
  type ChangeCounts,
  type ChangeKind,
  diff,
  keyOf,
  type Line,
  type LineWrite,
  parseLine,
  snapshotLine,
  tableLine,
} from '../addresses/lines.ts';
export {
  extractIdentity,
  hasObjecten,
  type Load,
  type ManifestEntry,
  type MutationFile,
  type Snapshot,
} from '../dataset/load.ts';
export { lastExtract, type Manifest } from '../dataset/manifest.ts';
export type { Guarded, LoadRequest, StepContext, StepInput, StepOptions } from '../steps/step.ts';
export { differences, findRefusedProposal, refusedProposals } from '../storage/refused-loads.ts';
export {
  concurrentReads,
  DamagedObjectError,
  findJson,
  findUnpacked,
  getJson,
  getUnpacked,
  MissingObjectError,
  ObjectChangedError,
  paths,
  putJson,
  putPacked,
  type RecordKinds,
  type Storage,
  UnusableObjectError,
} from '../storage/storage.ts';
export { snapshotNamed } from '../storage/stored-loads.ts';
export {
  ageInDays,
  currentManifest,
  type Discovery,
  type LoadContext,
  type LoadStatus,
  loadHistory,
  loadStatus,
  readManifest,
} from '../storage/stored-manifest.ts';
export type { ChangeFile } from '../storage/work.ts';
export { type ChangesCsv, changesCsvHead, changesCsvLine } from '../verdict/changes-csv.ts';
export {
  type ChangeExample,
  countChange,
  nameWithGemeente,
  noChanges,
  problemCount,
  type SegmentCounts,
} from '../verdict/load-counts.ts';
export {
  finishedReport,
  type InterruptedLoad,
  type LoadProposal,
  type LoadReport,
  notServedText,
  proposalName,
  RefusedLoadError,
  refusalText,
  reportOf,
  type Unchanged,
  unchangedReport,
} from '../verdict/load-report.ts';
export { grouped, type Thresholds } from '../verdict/objections.ts';
export { type SetAside, setAsideOf } from '../verdict/set-aside.ts';
