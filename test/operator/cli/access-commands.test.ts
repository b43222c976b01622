import { beforeAll, describe, expect, it } from '@jest/globals';
import { startForTests } from '../../support/start-for-tests.ts';
import { startLocalRun } from '../command-line.ts';

const bench = startForTests(startLocalRun, 60_000);

beforeAll(async () => {
  await bench.run('plan put standard --limit day=5000');
  await bench.run('account create acme --plan standard');
});

describe('the limit of a key', () => {
  it('is set with the key, changed and removed, and "key list" shows it with the lookups of today', async () => {
    const { key_id: id } = await bench.json('key create --account acme --label l --limit day=500');
    expect((await bench.run('key list --account acme')).out).toMatch(/ today +expires/);
    expect((await bench.run('key list --account acme')).out).toContain(' 0 of 500 ');
    const set = (limit: string) => bench.run(`key set ${id} --account acme --limit ${limit}`);
    expect((await set('day=0')).out).toContain(' 0 of 0 ');
    expect((await set('day=unlimited')).out).not.toContain(' of ');
    const { out } = await bench.run('account audit acme');
    expect(out).toMatch(/key set .*limits\.day=unlimited/);
  });

  it.each([
    ['minute=5', '--limit takes day=NUMBER or day=unlimited for a key, not "minute=5".'],
    ['day=plan', 'a limit is a whole number of requests or "unlimited"'],
    ['500', '--limit takes WINDOW=NUMBER, like day=5000, not "500".'],
    ['day=5 --limit day=6', 'is given twice'],
  ])('is refused before anything is tried: %s', async (limit, message) => {
    const { exit, err } = await bench.run(`key set AAAAAAAA --account acme --limit ${limit}`);
    expect([exit, err]).toEqual([2, expect.stringContaining(message)]);
  });

  it('is refused for a key that does not work', async () => {
    const { exit, err } = await bench.run('key set AAAAAAAA --account acme --limit day=5');
    expect([exit, err]).toEqual([1, expect.stringContaining('has no active key "AAAAAAAA"')]);
  });
});
