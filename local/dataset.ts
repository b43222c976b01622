import { readFile, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { storedAddress } from '../core/addresses/address-item.ts';
import { isAddressKey, parseAddressKey } from '../core/addresses/address-key.ts';
import type { ManifestEntry } from '../loader/dataset/load.ts';
import type { Progress } from '../loader/progress.ts';
import type { LoadReport } from '../loader/steps/load-report.ts';
import { readManifest } from '../loader/steps/manifest.ts';
import { type BulkImport, dynamoDbAddressTable } from '../loader/storage/address-table.ts';
import { openStorage } from '../loader/storage/open.ts';
import { demoExamples, demoExtract } from './demo/demo.ts';
import { runLoad } from './load/run-load.ts';

/** The live dataset. */
export type ServedDataset = {
  readonly report: LoadReport;
  /** Where the dataset came from, if an earlier start had loaded it and none was asked for; else `null`. */
  readonly present: string | null;
  /** Days of mutations that were applied after it. */
  readonly later?: LoadReport;
  /** A lookup to try. It finds one address if the dataset has one that is not ambiguous. */
  readonly example: Example;
};

type Example = { postcode: string; huisnummer: number; toevoeging?: string | undefined };

export type LocalLoadOptions = {
  readonly client: DynamoDBClient;
  readonly table: string;
  /** Whether the engine is the embedded one, for which transactions are faster than batches. */
  readonly embedded?: boolean;
  readonly bulkImport?: BulkImport | undefined;
  readonly storageFolder: string;
  /** Where to write the demo extract. */
  readonly demoFile: string;
  /** A file, a URL or `s3://bucket/key`; the demo extract if undefined. */
  readonly extract: string | undefined;
  readonly progress: Progress;
};

/** The extract that was asked for can't be served; the message says what is there and what to do. */
export class ExtractNotServedError extends Error {
  override readonly name = 'ExtractNotServedError';
}

/**
 * Makes the table hold exactly the addresses of the extract. An extract that it already holds is not loaded again.
 * Without an extract it holds what it held before, or the demo if that was nothing.
 * @throws ExtractNotServedError, and what `runLoad` throws
 */
export async function loadExtract({ client, table, extract, ...options }: LocalLoadOptions): Promise<ServedDataset> {
  const present = extract === undefined ? await datasetOtherThan(options.demoFile, options.storageFolder) : null;
  const report = await runLoad({
    source: present ? undefined : (extract ?? (await writeDemo(options.demoFile))),
    storage: options.storageFolder,
    addresses: dynamoDbAddressTable(client, table, { transactions: options.embedded ?? false }),
    ...(options.bulkImport && { bulkImport: options.bulkImport }),
    progress: options.progress,
    // A constant: the data folder is locked for us, so a load in progress is one of ours that was interrupted.
    owner: 'npm start',
    // Replacing the demo with a municipality, or the reverse, is a large change that the user requested.
    waiveSize: true,
    disposable: options.demoFile,
  });
  if (report.isSkipped) {
    throw new ExtractNotServedError(
      `${extract} was not loaded: ${report.reason}. The data folder still holds the dataset of ${report.peildatum}. ` +
        'Serve that by starting without --extract, or serve this extract with --fresh, which discards what is there, or ' +
        'with --data and another folder.',
    );
  }
  const isDemo = extract === undefined && present === null;
  const [demoExample] = demoExamples;
  return {
    report,
    present: present && sourceOf(present),
    example: (isDemo ? undefined : await anyAddress(client, table)) ?? demoExample,
  };
}

/** The dataset that an earlier start has loaded or begun to apply, unless it is the demo. */
async function datasetOtherThan(demoFile: string, storageFolder: string): Promise<ManifestEntry | null> {
  const { pending, published } = await readManifest(await openStorage(storageFolder));
  const found = pending ?? published;
  return found && sourceOf(found) !== resolve(demoFile) ? found : null;
}

function sourceOf({ source }: ManifestEntry): string {
  return source?.location ?? 'an extract';
}

/** Leaves an unchanged file alone: by its modification time the loader knows that it has loaded it. */
async function writeDemo(file: string): Promise<string> {
  const bytes = await demoExtract();
  const present = await readFile(file).catch(() => undefined);
  if (!present?.equals(bytes)) await writeFile(file, bytes);
  return file;
}

/** An address of the table, one that is not ambiguous if possible. */
async function anyAddress(client: DynamoDBClient, table: string): Promise<Example | undefined> {
  const { Items = [] } = await client.send(new ScanCommand({ TableName: table, Limit: 50 }));
  const found = Items.map(storedAddress).filter(({ key, places }) => isAddressKey(key) && places.length > 0);
  const { key } = found.find(({ places }) => places.length === 1) ?? found[0] ?? {};
  const address = key === undefined ? null : parseAddressKey(key);
  return address ? { ...address, toevoeging: address.toevoeging ?? undefined } : undefined;
}

const everyMilliseconds = 3_600_000;

/** A server that does not respond is retried for minutes; the start reports that after this time. */
const silenceMilliseconds = 10_000;

type Follow = LocalLoadOptions & {
  /** A list, a folder or a zip. */
  mutations: string;
  announce: (line: string) => void;
  pauseMilliseconds?: number;
  silenceMilliseconds?: number;
};

/**
 * Applies the days of mutations that lead on from the live dataset, and looks for further ones every hour. A day that
 * can't be applied is announced, once for each reason, and changes nothing. Returns the report of the days applied at
 * once, if any, and what stops it, after a load in progress.
 */
export async function followMutations({
  client,
  table,
  mutations,
  announce,
  pauseMilliseconds = everyMilliseconds,
  silenceMilliseconds: silence = silenceMilliseconds,
  ...options
}: Follow): Promise<{ report: LoadReport | undefined; stop: () => Promise<void> }> {
  let last = '';
  const announceOnce = (line: string) => {
    if (line !== last) announce(line);
    last = line;
  };
  const apply = async () => {
    let published: LoadReport | undefined;
    try {
      await runLoad({
        mutations: [mutations],
        storage: options.storageFolder,
        addresses: dynamoDbAddressTable(client, table, { transactions: options.embedded ?? false }),
        progress: options.progress,
        owner: 'npm start',
        onPublished: (report) => {
          published = report;
          const { added, changed, removed, days, peildatum } = report;
          const count = days.length === 1 ? '1 day' : `${days.length} days`;
          announceOnce(
            `Applied ${count} of mutations: ${added} addresses added, ${changed} changed, ${removed} removed. The dataset is of ${peildatum}.`,
          );
        },
      });
    } catch (error) {
      announceOnce(`Mutations could not be applied, and what is served stays as it is. ${(error as Error).message}`);
    }
    return published;
  };
  const waiting = setTimeout(
    announce,
    silence,
    `Still reading mutations from ${mutations}; the service starts after that.`,
  );
  const report = await apply();
  clearTimeout(waiting);
  let running: Promise<unknown> = Promise.resolve();
  const timer = setInterval(() => {
    running = running.then(apply);
  }, pauseMilliseconds);
  timer.unref();
  const stop = async () => {
    clearInterval(timer);
    await running;
  };
  return { report, stop };
}
