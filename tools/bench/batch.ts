import { BatchWriteCommand, type DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import type { AddressRequest } from '../../core/contract.ts';
import {
  createInstance,
  newAccount,
  startAddressService,
  testTables,
} from '../../test/support/address-service.ts';
import type { Benchmark } from './benchmark.ts';
import {
  type Lookup,
  lookupCosts,
  type Prices,
  priceList,
  type RequestSettings,
  sum,
} from './cost-model.ts';
import { cpuOf, inTurn, median, pairedRatio, rounded } from './measure.ts';

const size = 100;
const rounds = 20;
const million = 1e6;

/**
 * A hundred lookups in one request, against the same hundred one by one: calls and units of the
 * store, CPU, and what a million cost.
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
        usd_a_million_addresses: Object.fromEntries(
          Object.entries(priceList.regions).map(([region, prices]) => {
            const hundred = { write_units: 1, read_units: size / 2, cpu_ms: cpuTogether };
            const one = { write_units: 1, read_units: 0.5, cpu_ms: cpuOneByOne / size };
            const in_hundreds = costOf(prices, hundred, size, answerKb);
            return [region, { in_hundreds, one_by_one: costOf(prices, one, 1, 0.9) }];
          }),
        ),
      };
    } finally {
      process.stdout.write = write;
      await service.stop();
    }
  },
};

/** The defaults of a deployment. */
const deployment: RequestSettings = {
  kms_keys: 0,
  memory_gb: 1,
  system_lines: false,
  tracing: false,
  every_outcome_is_a_metric: false,
  access_log_kb: 0.25,
  access_log_infrequent_access: true,
};

function costOf(
  prices: Prices,
  request: Omit<Lookup, 'log_kb'>,
  addresses: number,
  answerKb: number,
): number {
  const requests = million / addresses;
  const costs = lookupCosts(prices, requests, { ...request, log_kb: 0.2 }, deployment);
  const gigabytes = (requests * answerKb) / 1024 ** 2;
  const data_transfer = gigabytes * Number(prices.data_transfer_out_per_gb);
  return rounded(sum({ ...costs, request_metrics: 0, data_transfer }), 3);
}

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
