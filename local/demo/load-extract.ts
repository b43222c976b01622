import { readFile, writeFile } from 'node:fs/promises';
import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { storedAddress } from '../../lambdas/shared/addresses/address-item.ts';
import { isAddressKey, parseAddressKey } from '../../lambdas/shared/addresses/address-key.ts';
import type { Progress } from '../../loader/progress.ts';
import { runLoad } from '../../loader/run/run-load.ts';
import type { LoadReport } from '../../loader/steps/load-report.ts';
import { type BulkImport, dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { demoExamples, demoExtract } from './demo.ts';

/** The live dataset. */
export interface Dataset {
  readonly report: LoadReport;
  /** A lookup to try. It finds one address if the dataset has one that is not ambiguous. */
  readonly example: Example;
}

type Example = { postcode: string; huisnummer: number; toevoeging?: string | undefined };

export interface LoadOptions {
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
}

/**
 * Makes the table hold exactly the addresses of the extract. An extract that it already holds is not loaded again.
 * @throws what `runLoad` throws
 */
export async function loadExtract({ client, table, extract, ...options }: LoadOptions): Promise<Dataset> {
  const report = await runLoad({
    source: extract ?? (await writeDemo(options.demoFile)),
    storage: options.storageFolder,
    addresses: dynamoDbAddressTable(client, table, { transactions: options.embedded ?? false }),
    ...(options.bulkImport && { bulkImport: options.bulkImport }),
    progress: options.progress,
    // A constant: the data folder is locked for us, so a load in progress is one of ours that was interrupted.
    owner: 'npm start',
    // From the demo to a municipality and back is a large change, and it was asked for.
    waiveSize: true,
    disposable: options.demoFile,
  });
  const [demoExample] = demoExamples;
  return { report, example: (extract === undefined ? undefined : await anyAddress(client, table)) ?? demoExample };
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
