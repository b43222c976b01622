import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AddressRequest } from '../../core/contract.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  testTables,
} from '../../test/support/address-service.ts';
import type { Benchmark } from './benchmark.ts';
import { cpuOf, inTurn, median, pairedRatio, rounded } from './measure.ts';

const size = 100;
const rounds = 20;

/**
 * A hundred lookups in one request, against the same hundred one by one: calls and units of the
 * store, and CPU. `npm run bench -- cost` computes what a million cost.
 */
export const benchmark: Benchmark = {
  async run() {
    const write = process.stdout.write;
    // The lines of the requests.
    process.stdout.write = () => true;
    const service = await startAddressService({ asDeployed: true });
    try {
      const { key } = await newAccount(service, { minute: 1e9, day: 1e9, month: null });
      await putStreet(service.client);
      const instance = createInstance(service.observed);
      const addresses = Array.from({ length: size }, (_, i) => ({
        postcode: '1012AB',
        huisnummer: i + 1,
      }));
      const together = () => instance.lookUpAll(key, { addresses });
      const oneByOne = async () => {
        for (const address of addresses) await instance.lookUp(key, queryOf(address));
      };
      for (let i = 0; i < 20; i++) await Promise.all([together(), oneByOne()]);
      const callsOf = async (work: () => Promise<unknown>) => {
        service.sent.length = 0;
        await work();
        return {
          calls: service.sent.length,
          units: service.sent.reduce((total, { units }) => total + units, 0),
        };
      };
      const batch = await callsOf(together);
      const single = await callsOf(oneByOne);
      const cpu = await inTurn(rounds, {
        together: () => cpuOf(together),
        oneByOne: () => cpuOf(oneByOne),
      });
      const answerKb = Buffer.byteLength((await together()).body) / 1024;
      const cpuTogether = median(cpu.together);
      const cpuOneByOne = median(cpu.oneByOne);
      return {
        addresses: size,
        store_calls: batch.calls,
        store_calls_one_by_one: single.calls,
        store_units: batch.units,
        store_units_one_by_one: single.units,
        cpu_ms: rounded(cpuTogether),
        cpu_ms_one_by_one: rounded(cpuOneByOne),
        cpu_ratio_to_one_by_one: rounded(pairedRatio(cpu.together, cpu.oneByOne), 4),
        answer_kb: rounded(answerKb),
      };
    } finally {
      process.stdout.write = write;
      await service.stop();
    }
  },
};

function queryOf({ postcode, huisnummer }: Omit<AddressRequest, 'toevoeging'>): string {
  return `postcode=${postcode}&huisnummer=${huisnummer}`;
}

async function putStreet(client: DynamoDBDocumentClient): Promise<void> {
  const places = [{ straat: 'Damrak', woonplaats: 'Amsterdam' }];
  for (let from = 1; from <= size; from += 25) {
    const puts = Array.from({ length: 25 }, (_, i) => ({
      PutRequest: { Item: { address: `1012AB#${from + i}#`, places } },
    }));
    await client.send(new BatchWriteCommand({ RequestItems: { [testTables.addresses]: puts } }));
  }
}
