import { gunzipSync } from 'node:zlib';
import { mapConcurrently } from '../../core/concurrency.ts';
import { concurrentReads, getUnpacked, paths, type Storage } from '../../loader/storage/storage.ts';
import { readManifest } from '../../loader/storage/stored-loads.ts';
import { type ChangesCsv, changesCsvHead, problemCount, setAsideOf } from '../../loader/verdict/load-counts.ts';
import { type LoadProposal, proposalName } from '../../loader/verdict/load-report.ts';
import { AdminError } from './accounts/admin-error.ts';

/** The register as lookups are answered from it, and the last loads, the newest first. */
export type RegisterView = {
  peildatum: string | null;
  /** Changes of the register that did not match and were set aside: how many, until they are corrected. */
  setAside: { count: number; addresses: number; examples: string[] };
  loads: PublishedLoad[];
};

/** The values that every load has, published or not. Dates as `2026-11-08`. */
export type LoadChanges = {
  load: string;
  peildatum: string;
  /** The number of addresses after it. */
  addresses: number;
  added: number;
  changed: number;
  removed: number;
};

/** A load that was published; `at` is an ISO 8601 instant. */
export type PublishedLoad = LoadChanges & { at: string };

/** One change of a load: what lookups of a key answer before and after it, as `street, town`; `null` for no address. */
export type LoadExample = {
  /** `1381AA#9#A`; `addressText` writes it as people do. */
  key: string;
  before: string[] | null;
  after: string[] | null;
  /** The BAG ids of the address before and after. */
  nummeraanduidingen?: string[];
};

/** One reason why a load waits. */
export type LoadObjection = {
  code: string;
  message: string;
  count?: number;
  of?: number;
  place?: string;
  since?: string;
  examples?: string[];
};

/** A load that waits for an approval, and the changes that it would make. */
export type WaitingLoad = LoadChanges & {
  /** Stands for exactly this: an approval names it, and is refused where something has changed since. */
  proposal: string;
  livePeildatum: string | null;
  /** Addresses that could not be made; `null`: not counted. */
  problems: number | null;
  /**
   * Why it waits. The codes are stable, the messages are English. `count` of `of` addresses or streets are too many, in
   * all or at a `place` (a woonplaats or a street), such as the `examples`; `since`: with the days since that date.
   */
  objections: LoadObjection[];
  /** The ten streets (`Buitenveer, Weesp`) and places with the most changes. */
  streets: { name: string; changes: number }[];
  woonplaatsen: { name: string; changes: number }[];
  /** Up to five of each kind. */
  examples: { added: LoadExample[]; changed: LoadExample[]; removed: LoadExample[] };
  /** How many files `changes` has of it; none of a first load. */
  changesFiles: number;
  /** The last time that it was approved or rejected; `null` if it never was. */
  approval: Approval | null;
};

/** The state of an approved load. `unknown`: the run that approved it can't be found any more. */
export type ApprovalState = 'running' | 'done' | 'failed' | 'unknown';

/** An operator's decision about a refused load. */
export type LoadDecision = 'approve' | 'reject';

/** Who approved or rejected a load, when (ISO 8601), and what became of it. */
export type Approval = { decision: LoadDecision; by: string; time: string; proposal: string; state: ApprovalState };

/** The register, with its last loads. */
export async function readRegister(storage: Storage, last: number): Promise<RegisterView> {
  const { published, history } = await readManifest(storage);
  const loads = history.slice(0, last).map(({ load, peildatum, at, addresses, added, changed, removed }) => {
    return { load, peildatum, at, addresses, added, changed, removed };
  });
  return { peildatum: published?.peildatum ?? null, setAside: setAsideOf(published?.setAside ?? []), loads };
}

/** A refused load as its operators see it. */
export function viewOf(proposal: LoadProposal, approval: Approval | null): WaitingLoad {
  const { load, peildatum, livePeildatum, counts, objections, byPlace } = proposal;
  const { addresses, changes, problems, examples } = counts;
  return {
    load,
    proposal: proposalName(proposal),
    peildatum,
    livePeildatum,
    addresses,
    ...changes,
    problems: problems && problemCount(problems),
    objections,
    changesFiles: changesFilesOf(proposal).length,
    streets: placesIn(byPlace.streets),
    woonplaatsen: placesIn(byPlace.woonplaatsen),
    examples,
    approval,
  };
}

const placesIn = (counted: Record<string, number>) =>
  Object.entries(counted).map(([name, changes]) => ({ name, changes }));

/** A response of a Lambda function holds 6 MB. */
const mostBytes = 4_000_000;

/** The stored parts of the changes of a load, by the file that a reader gets. */
export function changesFilesOf({ csv }: LoadProposal): ChangesCsv[][] {
  const files: ChangesCsv[][] = [];
  let bytes = Infinity;
  for (const part of csv) {
    if (bytes + part.bytes > mostBytes) {
      files.push([]);
      bytes = 0;
    }
    files.at(-1)?.push(part);
    bytes += part.bytes;
  }
  return files;
}

/** One change file, the first is 1, with its head. @throws AdminError `not_found` */
export async function readChanges(storage: Storage, proposal: LoadProposal, file: number): Promise<string> {
  const { load } = proposal;
  const parts = changesFilesOf(proposal)[file - 1];
  if (!parts) throw new AdminError('not_found', `Load ${load} has no file ${file} of its changes.`);
  const texts = await mapConcurrently(parts, concurrentReads, ({ name }) =>
    getUnpacked(storage, paths.changesCsv(load, name), (packed) => gunzipSync(packed).toString()),
  );
  return changesCsvHead + texts.join('');
}
