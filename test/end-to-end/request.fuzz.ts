import { beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { requestTarget } from '../../local/gateway/gateway-request.ts';
import { anyCharacter } from '../support/any-character.ts';
import { expectContract } from '../support/contract.ts';
import { type RawAnswer, type RawRequest, sendRaw } from '../support/raw-http.ts';
import { startTestService, unlimitedKey } from '../support/service.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { isFullSweep } from '../support/sweep.ts';

/** Found nowhere else, so that a search for it in a log means something. */
const label = 'Etiket-7f3c9a';

const service = startForTests(startTestService, 90_000);
let key: string;
let revoked: string;
let port: number;

beforeAll(async () => {
  port = Number(new URL(service.baseUrl).port);
  key = await unlimitedKey(service.admin, label);
  const account = key.split('_')[1] ?? '';
  const issued = await service.admin.keys.create({ account, label });
  await service.admin.keys.revoke({ account, keyId: issued.keyId });
  revoked = issued.key;
});

/** Statuses that the gateway gives by itself, with a message of its own. */
const gatewayStatuses = [400, 408, 413, 414, 417, 431];

/** Any byte but those that would end the part of the request that it stands in. */
const byte = (except: string) =>
  fc.integer({ min: 0, max: 255 }).map((code) => {
    const character = String.fromCharCode(code);
    return `\r\n${except}`.includes(character) ? 'x' : character;
  });
const bytes = (except: string, maxLength: number) =>
  fc.array(byte(except), { maxLength }).map((all) => all.join(''));
const long = fc.integer({ min: 5_000, max: 100_000 }).map((length) => 'a'.repeat(length));

const escaped = fc.oneof(
  fc.constantFrom(
    ...'% %% %0 %zz %00 %FF%FE %C3%28 %ED%A0%80 %F0%9F%8F%A0 + %2B %20 %2F'.split(' '),
  ),
  fc
    .string({ unit: anyCharacter, maxLength: 8 })
    .map((text) => encodeURIComponent(text.toWellFormed())),
  bytes(' #', 12),
);
const method = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom(
      'GET',
      'GET',
      'GET',
      'HEAD',
      'POST',
      'PUT',
      'DELETE',
      'PATCH',
      'OPTIONS',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('TRACE', 'PROPFIND', 'QUERY', 'get', 'GETT', '', 'FOO BAR', '\0'),
  },
);
const path = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '/v1/address',
      '/v1/address',
      '/v1/auth/validate',
      '/v1/openapi.json',
    ),
  },
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      '/',
      '//',
      '/v1',
      '/v1/address/',
      '/v1/%61ddress',
      '/v1%2Faddress',
      '/V1/address',
      '/v1/../v1/address',
      '/problems/unauthorized',
      '/problems/none',
      'http://x/v1/address',
      '*',
      '',
    ),
  },
  {
    weight: 2,
    arbitrary: fc.array(escaped, { maxLength: 4 }).map((parts) => `/${parts.join('/')}`),
  },
  { weight: 1, arbitrary: long.map((text) => `/${text}`) },
);
const value = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom(
      '1012RJ',
      '1012rj',
      '1012+RJ',
      '147',
      '00147',
      '0',
      '-1',
      '1e3',
      'A',
      '%C3%A9',
      '٣',
      '',
    ),
  },
  { weight: 4, arbitrary: escaped },
  { weight: 1, arbitrary: long },
);
const name = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom('postcode', 'huisnummer', 'toevoeging', 'postcode', 'huisnummer'),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom('__proto__', 'constructor', 'Postcode', 'X-API-Key', ''),
  },
  { weight: 1, arbitrary: escaped },
);
const query = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      'postcode=1381AA&huisnummer=9',
      'postcode=9999SD&huisnummer=3',
      '&&&',
      '?',
    ),
  },
  {
    weight: 2,
    arbitrary: fc
      .array(fc.tuple(name, value), { maxLength: 5 })
      .map((pairs) => pairs.map(([left, right]) => `${left}=${right}`).join('&')),
  },
);

/** The key itself is put in later: it is not known yet when the cases are drawn. */
const keyValue = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.constantFrom('KEY', 'KEY', 'REVOKED', 'KEY,KEY', 'KEYx', 'Bearer KEY', ''),
  },
  {
    weight: 1,
    arbitrary: fc
      .string({ unit: 'grapheme-ascii', maxLength: 90 })
      .map((text) => `bagadres_${text}`),
  },
  { weight: 1, arbitrary: bytes('', 60) },
);
const header = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.tuple(fc.constantFrom('X-API-Key', 'x-api-key', 'X-Api-Key'), keyValue),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(
      fc.constantFrom(
        'Accept',
        'Cookie',
        'Content-Type',
        'X-Forwarded-For',
        'Origin',
        'Range',
        'If-None-Match',
        'Expect',
        'Upgrade',
        '__proto__',
      ),
      fc.oneof(
        bytes('', 30),
        fc.constantFrom('100-continue', 'websocket', 'bytes=0-1', 'KEY', '*'),
      ),
    ),
  },
  { weight: 1, arbitrary: fc.tuple(bytes(':', 12), bytes('', 30)) },
  { weight: 1, arbitrary: fc.tuple(fc.constant('X-Long'), long) },
);
const request = fc.record({
  method,
  target: fc
    .tuple(path, fc.option(query))
    .map(([before, after]) => (after === null ? before : `${before}?${after}`)),
  headers: fc.array(header, { maxLength: 3 }),
  body: fc.oneof(
    { weight: 4, arbitrary: fc.constant('') },
    { weight: 1, arbitrary: bytes('', 200) },
  ),
});

function withKeys({ target, headers, ...rest }: RawRequest): RawRequest {
  const filled = (text: string) => text.replaceAll('KEY', key).replaceAll('REVOKED', revoked);
  return {
    ...rest,
    target,
    headers: headers.map(([left, right]) => [left, filled(right)] as const),
  };
}

/** Throws unless the answer is one that the interface describes, or one of the gateway's own. */
function expectDocumented({ method: verb, target }: RawRequest, answer: RawAnswer): void {
  if (answer.headers['api-version'] === undefined) {
    expect(gatewayStatuses).toContain(answer.status);
    if (verb !== 'HEAD') expect(JSON.parse(answer.body)).toEqual({ message: expect.any(String) });
    return;
  }
  expect(answer.status).not.toBe(500);
  expect(answer.headers['x-request-id']).toBe(answer.headers['apigw-requestid']);
  if (verb === 'HEAD') expect(answer.body).toBe('');
  else {
    expectContract(verb, requestTarget(target)?.path ?? '', answer);
  }
}

describe('any HTTP request', () => {
  const counts = new Map<number, number>();

  it('gets a documented response or one of the gateway itself, never a 500', async () => {
    await fc.assert(
      fc.asyncProperty(request, async (drawn) => {
        const sent = withKeys(drawn);
        const answer = await sendRaw(port, sent);
        counts.set(answer.status, (counts.get(answer.status) ?? 0) + 1);
        expectDocumented(sent, answer);
      }),
      { numRuns: Number(process.env.FUZZ_RUNS ?? (isFullSweep ? 2_000 : 100)) },
    );
    // Proof that the cases reach all of it, and not only its front door.
    const rare = isFullSweep ? [200, 422, 431] : [];
    for (const status of [400, 401, 404, 405, ...rare]) {
      expect(counts.get(status)).toBeGreaterThan(0);
    }
  });

  it('leaves the service healthy', async () => {
    const headers = [['X-API-Key', key]] as const;
    const target = '/v1/address?postcode=1381AA&huisnummer=9';
    const answer = await sendRaw(port, { method: 'GET', target, headers, body: '' });
    expect(JSON.parse(answer.body)).toMatchObject({ status: 'ok' });
  });

  it('leaves no key, secret, label or address in any log', async () => {
    const log = await service.functionsLog();
    expect(log.split('\n').length).toBeGreaterThan(20);
    for (const secret of [key, revoked, key.slice(-35), revoked.slice(-35), label, '1381AA']) {
      expect(log).not.toContain(secret);
    }
    expect(log).not.toMatch(/"level":"ERROR"/);
  });
});
