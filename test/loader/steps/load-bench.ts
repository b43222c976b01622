import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  BatchWriteItemCommand,
  type BatchWriteItemCommandOutput,
  paginateScan,
  ScanCommand,
} from '@aws-sdk/client-dynamodb';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  addressItem,
  storedAddress,
  type Toevoeging,
} from '../../../core/addresses/address-item.ts';
import type { Place } from '../../../core/place-fields.ts';
import { type Line, parseLine } from '../../../loader/addresses/lines.ts';
import type { LoadReport } from '../../../loader/guard/load-report.ts';
import {
  type AddressTable,
  dynamoDbAddressTable,
  scanAddresses,
} from '../../../loader/storage/address-table.ts';
import { folderStorage } from '../../../loader/storage/files.ts';
import { s3Storage } from '../../../loader/storage/s3.ts';
import type { Storage } from '../../../loader/storage/storage.ts';
import { type RepairOptions, type RepairReport, repairTable } from '../../../local/load/repair.ts';
import { type RunOptions, runLoad } from '../../../local/load/run-load.ts';
import { createAddressesTable, startDynamoDb } from '../../support/dynamodb.ts';
import { MemoryS3 } from '../../support/memory-s3.ts';
import { sendPlainly } from '../../support/plain-client.ts';
import type { Voorkomens } from '../../support/stand-xml.ts';
import { type Packing, writeExtract } from '../../support/write-extract.ts';
import { type Month, voorkomensOf } from './months.ts';

/** Options of all loads of a dataset, and how its table is written. */
type DatasetOptions = Partial<RunOptions> & { transactions?: boolean; concurrency?: number };

/** Options of one load; `month` is loaded from its extract. */
type Request = Partial<RunOptions> & { month?: Month };

/** A running engine and a folder, for the loads of one test file. */
export type LoadBench = Awaited<ReturnType<typeof startLoadBench>>;

/**
 * A table with the storage of its loads, in a bucket in memory unless the options name another:
 * quicker than a folder for what takes many loads.
 */
export class Dataset {
  readonly table: string;
  readonly bucket: string;
  readonly storage: Storage;
  readonly addresses: AddressTable;
  /** For `runLoad`, and all that looks into a storage and its table. */
  readonly options: RunOptions & { storage: Storage };
  readonly #bench: LoadBench;
  readonly #given: DatasetOptions;

  constructor(
    bench: LoadBench,
    { table, bucket }: { table: string; bucket: string },
    given: DatasetOptions,
  ) {
    const { transactions, concurrency, storage = bench.storageIn(bucket), ...options } = given;
    [this.#bench, this.#given, this.table, this.bucket] = [bench, given, table, bucket];
    this.storage = typeof storage === 'string' ? folderStorage(storage) : storage;
    this.addresses = dynamoDbAddressTable(bench.client, table, {
      ...(transactions && { transactions }),
      ...(concurrency && { concurrency }),
    });
    this.options = { workers: 0, ...options, storage: this.storage, addresses: this.addresses };
  }

  async load({ month, ...request }: Request = {}): Promise<LoadReport> {
    const source = month && (await this.#bench.extractOf(month));
    return runLoad({ ...this.options, ...(source && { source }), ...request });
  }

  /** The report of a load, of one that the guard refuses too. Another error takes its place. */
  tried(request: Request = {}): Promise<LoadReport> {
    return this.load(request).catch((error) => error.report ?? error);
  }

  repair(more: Partial<RepairOptions> = {}): Promise<RepairReport> {
    return repairTable({
      ...this.options,
      scan: () => scanAddresses(this.#bench.client, this.table),
      ...more,
    });
  }

  /** Every address in the table, without what the loader keeps there for itself. */
  served(): Promise<Map<string, Place[]>> {
    return this.#bench.addressesIn(this.table);
  }

  /** The same in the order of the keys. */
  async content(): Promise<[string, Place[]][]> {
    return [...(await this.served())].sort(([a], [b]) => (a < b ? -1 : 1));
  }

  lists(): Promise<Map<string, Toevoeging[]>> {
    return this.#bench.listsIn(this.table);
  }

  /** The write units that the engine has counted for batches in the table. */
  units(): number {
    return this.#bench.units(this.table);
  }

  /** Another table and bucket that hold what these do. */
  async copy(more: DatasetOptions = {}): Promise<Dataset> {
    return new Dataset(this.#bench, await this.#bench.copyPlace(this), { ...this.#given, ...more });
  }
}

/**
 * Starts the engine; `stop` in `afterAll`.
 * @param of how the extracts of months are packed, and what they contain
 */
export async function startLoadBench(
  of: { packing?: Packing; state?: (month: Month) => Voorkomens } = {},
) {
  const { client, endpoint, stop } = await startDynamoDb();
  sendPlainly(client, endpoint);
  const units = new Map<string, number>();
  client.middlewareStack.add(
    (next, { commandName }) =>
      async (args) => {
        if (commandName !== 'BatchWriteItemCommand') return next(args);
        const result = await next({
          ...args,
          input: { ...args.input, ReturnConsumedCapacity: 'TOTAL' },
        });
        const { ConsumedCapacity = [] } = result.output as BatchWriteItemCommandOutput;
        for (const { TableName = '', CapacityUnits = 0 } of ConsumedCapacity) {
          units.set(TableName, (units.get(TableName) ?? 0) + CapacityUnits);
        }
        return result;
      },
    { step: 'initialize' },
  );
  // A folder in memory where there is one: a sweep makes some ten thousand files.
  const root = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'bag-adres-load-'));
  const buckets = new MemoryS3();
  const s3 = buckets.newClient();
  const extracts = new Map<Month, Promise<string>>();
  const loaded = new Map<string, Promise<Dataset>>();
  let made = 0;
  const newTable = async () => {
    const table = `addresses-${made++}`;
    await createAddressesTable(client, table);
    return table;
  };
  async function* itemsIn(table: string) {
    for await (const { Items = [] } of paginateScan(
      { client },
      { TableName: table, ConsistentRead: true },
    )) {
      yield* Items.map(storedAddress);
    }
  }
  const bench = {
    client,
    endpoint,
    /** A new empty table. */
    newTable,
    /** A new empty folder. */
    newFolder: () => mkdtempSync(join(root, 'storage-')),
    storageIn: (bucket: string): Storage => s3Storage(s3, bucket),
    /** From now on this client works on the buckets of the bench. */
    answer: (client: S3Client): void => buckets.answer(client),
    async newDataset(options: DatasetOptions = {}): Promise<Dataset> {
      const bucket = `bucket-${made++}`;
      buckets.createBucket(bucket);
      return new Dataset(bench, { table: await newTable(), bucket }, options);
    },
    /** A dataset into which these months were loaded, one after the other. */
    async after(months: Month[], options: DatasetOptions = {}): Promise<Dataset> {
      const name = JSON.stringify([months.map(({ peildatum }) => peildatum), options]);
      const load = async () => {
        const dataset = await bench.newDataset(options);
        for (const month of months) await dataset.load({ month });
        return dataset;
      };
      if (!loaded.has(name)) loaded.set(name, load());
      return ((await loaded.get(name)) as Dataset).copy();
    },
    async copyPlace(from: { table: string; bucket: string }) {
      const bucket = `bucket-${made++}`;
      buckets.copyBucket(from.bucket, bucket);
      return { table: await bench.copyTable(from.table), bucket };
    },
    /** A new table that holds what this one does. */
    async copyTable(from: string): Promise<string> {
      const { Items = [] } = await client.send(
        new ScanCommand({ TableName: from, ConsistentRead: true }),
      );
      const table = await newTable();
      const puts = Items.map((Item) => ({ PutRequest: { Item } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
      return table;
    },
    /** Every address in the table, without what the loader keeps there for itself. */
    async addressesIn(table: string): Promise<Map<string, Place[]>> {
      const found = new Map<string, Place[]>();
      for await (const { key, places } of itemsIn(table)) {
        if (places.length > 0) found.set(key, places);
      }
      return found;
    },
    /** Every list of toevoegingen in the table, by the key that it lies under. */
    async listsIn(table: string): Promise<Map<string, Toevoeging[]>> {
      const found = new Map<string, Toevoeging[]>();
      for await (const { key, toevoegingen } of itemsIn(table)) {
        if (toevoegingen) found.set(key, toevoegingen);
      }
      return found;
    },
    units: (table: string) => units.get(table) ?? 0,
    /** Puts lines of a snapshot into the table, past the loader. */
    async putLines(table: string, lines: readonly Line[]): Promise<void> {
      const puts = lines.map((line) => ({ PutRequest: { Item: addressItem(parseLine(line)) } }));
      await client.send(new BatchWriteItemCommand({ RequestItems: { [table]: puts } }));
    },
    /** The path of an extract of any contents. */
    async extract(peildatum: string, state: Voorkomens, packing: Packing = {}): Promise<string> {
      const file = join(root, `${peildatum}-${made++}.zip`);
      await writeFile(file, await writeExtract(peildatum, state, packing));
      return file;
    },
    /**
     * The path of a month's extract, which is the same each time unless it is packed in another
     * way.
     */
    extractOf(month: Month, packing?: Packing): Promise<string> {
      const known = packing ? undefined : extracts.get(month);
      const extract =
        known ??
        bench.extract(month.peildatum, (of.state ?? voorkomensOf)(month), packing ?? of.packing);
      if (!packing) extracts.set(month, extract);
      return extract;
    },
    async stop() {
      await stop();
      rmSync(root, { recursive: true });
    },
  };
  return bench;
}
