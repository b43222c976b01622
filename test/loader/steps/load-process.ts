import { runLoad } from '../../../loader/run/run-load.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/dynamodb-address-table.ts';
import { localDynamoDb } from '../../../local/engine/tables.ts';

/** A load in a process of its own, slow enough to be killed: `node load-process.ts ENDPOINT TABLE FOLDER EXTRACT`. */
const [endpoint = '', table = '', storage = '', source = ''] = process.argv.slice(2);
const addresses = dynamoDbAddressTable(localDynamoDb(endpoint), table, { writesPerSecond: 100, concurrency: 1 });
await runLoad({ source, storage, addresses, changesPerFile: 50 });
