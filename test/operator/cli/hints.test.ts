import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { folderForNow } from '../../support/folder-for-now.ts';
import { run, startLocalRun } from '../command-line.ts';

/** `bench.run` pastes each command that is printed, and fails if that fails. */
describe('what a refusal proposes', () => {
  let bench: Awaited<ReturnType<typeof startLocalRun>>;

  beforeAll(async () => {
    bench = await startLocalRun();
  });
  afterAll(() => bench.stop());

  it('is first a plan, then the account, while nothing exists yet', async () => {
    const { err } = await bench.run('account show acme');
    expect(err).toMatch(
      /^bag-adres: There is no account "acme"\. Create a plan with "npx bag-adres plan put standard /,
    );
    const [create, then] = [...err.matchAll(/"npx bag-adres ([^"]+)"/g)].map(([, hint = '']) =>
      hint.split(' '),
    );
    expect((await run(create ?? [])).exit).toBe(0);
    expect((await run(then ?? [])).exit).toBe(0);
  });

  it('is the plan or the account that was meant, if one has nearly that name', async () => {
    expect((await bench.run('account create corner --plan standrd')).err).toMatch(
      /no plan "standrd"\. Did you mean "standard"\? "npx bag-adres plan list /,
    );
    expect((await bench.run('account suspend acem')).err).toMatch(
      /no account "acem"\. Did you mean "acme"\? Look at it with "npx bag-adres account show acme /,
    );
    expect((await bench.run('account create corner --plan gold')).err).toMatch(
      /no plan "gold"\. Create it with "npx bag-adres plan put gold /,
    );
    expect((await bench.run('account show zeta')).err).toMatch(
      /Create it with "npx bag-adres account create zeta --plan standard /,
    );
  });

  it('is not to create an account that was deleted, whose id can not be used again', async () => {
    await bench.run('account suspend acme');
    await bench.run('account delete acme --yes');
    const { exit, err } = await bench.run('account delete acme --yes');
    expect(exit).toBe(1);
    expect(err).toMatch(
      /^bag-adres: Account "acme" was deleted, and its id can't be used again\. "npx bag-adres account audit acme /,
    );
  });

  const folder = folderForNow('hints-');
  it('is an option that the command has, for a stage that does not exist', async () => {
    writeFileSync(join(folder, 'bag-adres.json'), '{"stages":{"test":{},"prod":{}}}');
    const { err } = await run(['config', 'show', '--stage', 'nosuch'], {}, folder);
    expect(err).toContain(
      'There is no stage "nosuch". It has test, prod: name one, for instance with --stage test,',
    );
  });
});
