import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import type { LeaseTiming } from '../../../loader/storage/lock.ts';
import { runLoad } from '../../../local/load/run-load.ts';
import { testDynamoDb } from '../../support/dynamodb.ts';

/** What a load in a process of its own works with. Plain JSON. */
export type LoadProcess = {
  endpoint: string;
  table: string;
  storage: string;
  source?: string;
  rollback?: string;
  /** As in a storage that never saw this extract's place before. */
  waiveSize?: boolean;
  transactions?: boolean;
  /** As if it ran elsewhere, so that nobody here can tell whether it is alive. */
  owner?: string;
  lease?: LeaseTiming;
};

/**
 * A load in a process of its own, slow enough to be stopped: `node load-process.ts JSON`. Prints
 * the error that ends it.
 */
const {
  endpoint,
  table,
  transactions = false,
  ...options
} = JSON.parse(process.argv[2] ?? '') as LoadProcess;
const addresses = dynamoDbAddressTable(testDynamoDb(endpoint), table, {
  writesPerSecond: 100,
  concurrency: 1,
  transactions,
});
await runLoad({ ...options, addresses, changesPerFile: 50 }).catch((error: Error) => {
  process.stdout.write(`${error.name}: ${error.message}`);
  process.exitCode = 1;
});
