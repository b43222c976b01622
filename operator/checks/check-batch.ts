import assert from 'node:assert/strict';
import { isDeepStrictEqual } from 'node:util';
import { assertJson, assertProblem, type Check, type Run, type SmokeAnswer } from './check.ts';
import { assertRoom, lookUp } from './check-lookups.ts';

const path = '/v1/addresses';

function send({ client }: Run, body: unknown, contentType = 'application/json'): Promise<SmokeAnswer> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return client.send(path, { method: 'POST', headers: { 'content-type': contentType }, body: text });
}

/** The lookups that these checks make: three at once, and the same by themselves. */
export const batchLookups = 5;

/** `POST /v1/addresses`. */
export const batchChecks: readonly Check[] = [
  {
    section: 'many at once',
    title: 'returns for each address, in order, what the single lookup returns',
    async run(run) {
      assertRoom(run);
      const { postcode, huisnummer, toevoeging } = run.options.address;
      const address = { postcode, huisnummer, ...(toevoeging && { toevoeging }) };
      const missing = { ...address, huisnummer: '99999' };
      const answer = await send(run, { addresses: [address, missing, address] });
      const { results } = assertJson(answer, ['results']);
      const singles = [];
      for (const { huisnummer } of [address, missing]) {
        const query = new URLSearchParams({
          postcode,
          huisnummer: String(huisnummer),
          ...(toevoeging && { toevoeging }),
        });
        singles.push((await lookUp(run, String(query))).answer.json);
      }
      const expected = [...singles, singles[0]];
      assert(isDeepStrictEqual(results, expected), `${answer.asked}: results differ from those of single lookups`);
    },
  },
  {
    section: 'many at once',
    title: 'reports every fault of the body at its JSON pointer',
    async run(run) {
      const valid = { postcode: '1012RJ', huisnummer: 147 };
      const addresses = [valid, { postcode: '0123AB', huisnummer: '12A' }, { ...valid, note: 'x' }];
      const answer = await send(run, { addresses, include: ['x'] });
      assertProblem(answer, 422, 'invalid-input');
      const errors = (answer.json?.errors ?? []) as { pointer?: unknown; code?: unknown }[];
      const found = errors.map(({ pointer, code }) => `${code} ${pointer}`).sort();
      assert.deepEqual(
        found,
        [
          'huisnummer-with-toevoeging /addresses/1/huisnummer',
          'include-unknown /include',
          'postcode-leading-zero /addresses/1/postcode',
          'unknown-member /addresses/2/note',
        ],
        `${answer.asked}: the faults are ${found.join(', ') || 'none'}`,
      );
    },
  },
  {
    section: 'many at once',
    title: 'refuses 101 addresses, a body over 64 KB, one that is not JSON, and other methods',
    async run(run) {
      const addresses = Array(101).fill({ postcode: '1012RJ', huisnummer: 147 });
      assertProblem(await send(run, { addresses }), 422, 'invalid-input');
      assertProblem(await send(run, 'x'.repeat(64 * 1024 + 1)), 413, 'content-too-large');
      assertProblem(await send(run, '{}', 'text/plain'), 415, 'unsupported-media-type');
      for (const method of ['GET', 'PUT', 'DELETE']) {
        const answer = await run.client.send(path, { method });
        assertProblem(answer, 405, 'method-not-allowed');
        assert.equal(answer.headers.allow, 'POST', `${answer.asked}: Allow is ${answer.headers.allow}`);
      }
    },
  },
];
