import { existsSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { json } from 'node:stream/consumers';
import { paginateScan } from '@aws-sdk/client-dynamodb';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { storedAddress } from '../../core/addresses/address-item.ts';
import { forEachConcurrently } from '../../core/concurrency.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { startTestService, type TestService, unlimitedKey } from '../support/service.ts';
import { sweep } from '../support/sweep.ts';
import { sample, type TrueAddress, weespTruth } from '../support/weesp-truth.ts';

const title = 'the municipality of Weesp, over HTTP';
const describeSample = existsSync(sample) ? describe : describe.skip;

describeSample(
  existsSync(sample) ? title : `${title} (skipped: ${sample} is not on this machine)`,
  () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    let service: TestService;
    let key: string;
    let truth: Awaited<ReturnType<typeof weespTruth>>;

    beforeAll(async () => {
      truth = await weespTruth();
      service = await startTestService({ extract: sample });
      key = await unlimitedKey(service.admin);
    });
    afterAll(async () => {
      agent.destroy();
      await service.stop();
    });

    function lookup(
      { postcode, huisnummer, toevoeging }: TrueAddress,
      more = {},
    ): Promise<unknown> {
      const query = new URLSearchParams({
        postcode,
        huisnummer: `${huisnummer}`,
        toevoeging,
        ...more,
      });
      return new Promise((resolve, reject) => {
        get(
          `${service.baseUrl}/v1/address?${query}`,
          { agent, headers: { 'x-api-key': key } },
          (response) => {
            json(response).then(resolve, reject);
          },
        ).on('error', reject);
      });
    }

    /** The addresses whose answer is another than expected, with both. */
    async function wrongAnswers(
      addresses: TrueAddress[],
      expected: (address: TrueAddress) => object,
    ): Promise<unknown[]> {
      const wrong: unknown[] = [];
      await forEachConcurrently(addresses, 8, async (address) => {
        const answer = (await lookup(address)) as Record<string, unknown>;
        const { request, ...rest } = answer;
        if (JSON.stringify(rest) !== JSON.stringify(expected(address))) {
          wrong.push({ address, answer });
        }
      });
      return wrong;
    }

    it('includes the toevoegingen, gemeente and ids of an address where a lookup asks', async () => {
      const twice = [...truth.current.values()].filter(({ ids }) => ids.length > 1);
      expect(twice).toHaveLength(7);
      const include = 'toevoegingen,gemeente,nummeraanduidingen';
      const gemeente = { code: '0457', naam: 'Weesp', provincie: 'Noord-Holland' };
      for (const address of [...twice, ...sweep(truth.current.values(), 5, 60)]) {
        const { postcode, huisnummer, straat, ids } = address;
        const bare = `${postcode}#${huisnummer}#`;
        const found = [...truth.current.keys()].filter((key) => key.startsWith(bare)).sort();
        expect(await lookup(address, { include })).toMatchObject({
          status: 'ok',
          address: { straat, woonplaats: 'Weesp', gemeente, nummeraanduidingen: ids },
          toevoegingen: found.map((key) => key.slice(bare.length) || null),
        });
      }
    });

    it('loads exactly the current addresses, each with its street and gemeente, and their toevoegingen', async () => {
      const client = localDynamoDb(service.state.endpoint, service.state.accessKeyId);
      const held = new Map<string, unknown>();
      const lists = new Map<string, unknown>();
      for await (const { Items = [] } of paginateScan(
        { client },
        { TableName: service.state.addressesTable },
      )) {
        for (const { key, places, toevoegingen } of Items.map(storedAddress)) {
          if (places.length > 0) held.set(key, places);
          if (toevoegingen) lists.set(key, toevoegingen);
        }
      }
      client.destroy();
      const placesOf = ({ straat, gemeente, ids }: TrueAddress) => [
        { straat, woonplaats: 'Weesp', gemeente, nummeraanduidingen: ids },
      ];
      const expected = [...truth.current].map(
        ([key, address]) => [key, placesOf(address)] as const,
      );
      expect(service.dataset.report).toMatchObject({
        outcome: 'published',
        addresses: 11_920,
        problems: 0,
      });
      expect(held.size).toBe(11_920);
      expect(new Set(Array.from(truth.current.values(), ({ gemeente }) => gemeente))).toEqual(
        new Set(['0457']),
      );
      expect(held).toEqual(new Map(expected));
      const keys = Map.groupBy([...truth.current.keys()].sort(), (key) =>
        key.slice(0, key.lastIndexOf('#') + 1),
      );
      const names = [...keys].map(
        ([bare, all]) => [bare, all.map((key) => key.slice(bare.length) || null)] as const,
      );
      expect(lists).toEqual(new Map(names.filter(([, all]) => all.some((one) => one !== null))));
    });

    it('answers a lookup of a current address with its street', async () => {
      const streets = new Map(
        [...truth.current.values()].map((address) => [address.straat, address]),
      );
      expect(streets.size).toBeGreaterThan(200);
      // A lookup takes 6 ms of CPU; the whole table is compared above.
      const addresses = [...sweep(streets.values(), 10), ...sweep(truth.current.values(), 10, 120)];
      const wrong = await wrongAnswers(addresses, ({ straat }) => ({
        status: 'ok',
        address: { straat, woonplaats: 'Weesp' },
        candidates: [],
      }));
      expect(wrong).toEqual([]);
    });

    it('answers not_found, with the existing toevoegingen, for a withdrawn or expired address', async () => {
      expect(truth.former.size).toBe(362);
      const existing = new Map<string, (string | null)[]>();
      for (const { postcode, huisnummer, toevoeging } of truth.current.values()) {
        const number = `${postcode} ${huisnummer}`;
        existing.set(number, [...(existing.get(number) ?? []), toevoeging.toUpperCase() || null]);
      }
      const sorted = (list: (string | null)[]) => list.map((one) => one ?? '').sort();
      const wrong = await wrongAnswers(
        sweep(truth.former.values(), 10, 90),
        ({ postcode, huisnummer }) => ({
          status: 'not_found',
          address: null,
          candidates: [],
          toevoegingen: sorted(existing.get(`${postcode} ${huisnummer}`) ?? []).map(
            (one) => one || null,
          ),
        }),
      );
      expect(wrong).toEqual([]);
    });
  },
);
