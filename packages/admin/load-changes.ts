import { gunzipSync } from 'node:zlib';
import { AdminError } from '../../core/accounts/admin/admin-error.ts';
import { mapConcurrently } from '../../core/concurrency.ts';
import { type ChangesCsv, changesCsvHead } from '../../loader/dataset/changes-csv.ts';
import type { LoadProposal } from '../../loader/steps/load-report.ts';
import { concurrentReads, getUnpacked, paths, type Storage } from '../../loader/storage/storage.ts';

/** A response of a Lambda function holds 6 MB. */
const mostBytes = 4_000_000;

/** The stored parts of the changes of a load, by the file that a reader gets. */
export function changesFilesOf({ csv = [] }: LoadProposal): ChangesCsv[][] {
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

/** One of these files, 1 the first, with its head. @throws AdminError `not_found` */
export async function readChanges(storage: Storage, proposal: LoadProposal, file: number): Promise<string> {
  const { load } = proposal;
  const parts = changesFilesOf(proposal)[file - 1];
  if (!parts) throw new AdminError('not_found', `Load ${load} has no file ${file} of its changes.`);
  const texts = await mapConcurrently(parts, concurrentReads, ({ name }) =>
    getUnpacked(storage, paths.changesCsv(load, name), (packed) => gunzipSync(packed).toString()),
  );
  return changesCsvHead + texts.join('');
}
