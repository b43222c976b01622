import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startLocalRun } from '../command-line.ts';

let bench: Awaited<ReturnType<typeof startLocalRun>>;
let keyId: string;

beforeAll(async () => {
  bench = await startLocalRun();
  await bench.run('plan put small --limit day=100');
  await bench.run('account create acme --plan small');
  keyId = (await bench.json('key create --account acme --label webshop')).key_id;
}, 30_000);
afterAll(() => bench.stop());

describe('key rotate', () => {
  it('prints the new key, and when the old one ends', async () => {
    const { out, err, exit } = await bench.run('key', 'rotate', keyId, '--account', 'acme', '--ends', '2099-01-31');
    expect([exit, out]).toEqual([0, expect.stringMatching(/^bagadres_acme_\w+$/)]);
    expect(err).toContain(`Key ${keyId} works until 2099-01-31T00:00:00Z.`);
    const [old, next] = await bench.json('key list --account acme');
    expect([old.label, next.label].toSorted()).toEqual(['webshop', 'webshop 2']);
  });

  it.each([
    ['an end that is no date', ['--ends', 'soon'], '--ends takes a date in UTC'],
    ['an end that has passed', ['--ends', '2020-01-01'], 'in the future'],
  ])('refuses %s', async (_, options, message) => {
    const { err, exit } = await bench.run('key', 'rotate', keyId, '--account', 'acme', ...options);
    expect([exit === 0, err.includes(message)]).toEqual([false, true]);
  });
});
