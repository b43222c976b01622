import { beforeAll, describe, expect, it } from '@jest/globals';
import { maxActiveKeys } from '../../packages/admin/accounts/keys.ts';
import { run, startLocalRun } from '../operator/command-line.ts';
import { startForTests } from '../support/start-for-tests.ts';

const bench = startForTests(startLocalRun);
beforeAll(async () => {
  await bench.run('plan put standard --limit minute=60');
  await bench.run('account create acme --plan standard');
});

describe('a command written wrongly ends with 2, one line that helps, and nothing tried', () => {
  it.each([
    ['an unknown command', 'acount list', /acount.*did you mean account/i],
    ['an unknown subcommand', 'account craete', /craete.*did you mean create/i],
    ['an unknown option', 'plan put x --limits day=1', /--limits.*did you mean --limit/i],
    ['no plan code', 'plan put --limit day=1', /missing required argument 'code'/i],
    [
      'an unknown command before words of others',
      'nope plan list',
      /command 'nope'\. See "npx bag-adres --help"\.$/,
    ],
    [
      'a word too many',
      'plan list all',
      /too many arguments.*: all\. See "npx bag-adres plan list --help"\.$/im,
    ],
    ['no plan for an account', 'account create a', /--plan/],
    ['no label for a key', 'key create --account acme', /--label/],
    [
      'an unknown window',
      'plan put x --limit decade=5',
      /"decade" is not a time window; use minute, hour, day, /,
    ],
    ['a limit without a number', 'plan put x --limit day=', /day=5000, not "day="/],
    ['a limit without a window', 'plan put x --limit =5', /day=5000, not "=5"/],
    ['a limit without either', 'plan put x --limit day', /day=5000, not "day"/],
    ['a negative limit', 'plan put x --limit day=-5', /whole number/],
    ['a fraction', 'plan put x --limit day=1.5', /whole number/],
    ['a number with a letter', 'plan put x --limit day=5k', /whole number/],
    ['a limit past the highest', 'plan put x --limit day=1000000000001', /0 to 1000000000000/],
    [
      "a plan's limit for a plan",
      'plan put x --limit day=plan',
      /whole number of requests or "unlimited"/,
    ],
    ['a window twice', 'plan put x --limit day=5 --limit day=6', /day.* given twice/],
    ['a malformed account id', ['account', 'show', 'a b'], /account id is 1 to 32/],
    ['a malformed plan code', 'account create a --plan p/1', /plan code is 1 to 32/],
    ['a malformed key id', 'key revoke short --account acme', /key id is 8/],
    [
      'a label too long',
      ['key', 'create', '--account', 'acme', '--label', 'x'.repeat(65)],
      /label is 1 to 64/,
    ],
    [
      'an empty label',
      ['key', 'create', '--account', 'acme', '--label', ''],
      /--label is empty\. Give it a value/,
    ],
    ['no number of changes', 'account audit acme --last 0', /1 to 10000/],
    ['nothing to set', 'account set acme', /Give --plan, --limit, --name, --contact or --note/],
    ['two places at once', 'plan list --stage data', /--local.*--stage/],
  ])('%s', async (_, args, message) => {
    const plain = await bench.run(...[args].flat());
    expect([plain.exit, plain.out]).toEqual([2, '']);
    expect(plain.err).toMatch(message);
    expect(plain.err).toMatch(/^bag-adres: [^\n]+$/);
    const json = await bench.run(...[args].flat(), '--json');
    expect([json.exit, json.out]).toEqual([2, '']);
    expect(JSON.parse(json.err)).toEqual({
      error: { code: 'usage', message: expect.stringMatching(message) },
    });
    expect((await bench.json('plan list')).map(({ code }: { code: string }) => code)).toEqual([
      'standard',
    ]);
  });

  it('a group without a command shows the help of the group', async () => {
    const { exit, out, err } = await run(['key']);
    expect([exit, out]).toEqual([2, '']);
    expect(err).toContain('Usage: bag-adres key');
    expect(err).toMatch(/\nbag-adres: Name a command\. See "npx bag-adres key --help"\.$/);
  });

  it('a command without an option for the tables', async () => {
    const { exit, err } = await run(['plan', 'list']);
    expect(exit).toBe(2);
    expect(err).toMatch(/--local .*--stage NAME .*--accounts-table NAME/);
  });

  it('--data without --local', async () => {
    expect(await run(['plan', 'list', '--data', '/tmp'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('--local'),
    });
  });
});

describe('a refused command ends with 1 and one line that helps', () => {
  it.each([
    ['an unknown account', 'account show ghost', 'not_found', /no account "ghost".*account create/],
    ['an unknown plan', 'account create a --plan gold', 'not_found', /no plan "gold".*plan put/],
    [
      'an id that is taken',
      'account create acme --plan standard',
      'exists',
      /Account "acme" already exists\..*account set acme/,
    ],
    [
      'a limit that the plan has no window for',
      'account set acme --limit day=5',
      'invalid',
      /"standard".*"day".*minute/,
    ],
    ['a new plan without limits', 'plan put new', 'invalid', /at least one window/],
    ['an unknown key', 'key revoke 12345678 --account acme', 'not_found', /no key "12345678"/],
  ])('%s', async (_, args, code, message) => {
    const plain = await bench.run(...[args].flat());
    expect([plain.exit, plain.out]).toEqual([1, '']);
    expect(plain.err).toMatch(message);
    expect(plain.err).toMatch(/^bag-adres: [^\n]+$/);
    const json = await bench.run(...[args].flat(), '--json');
    expect([json.exit, json.out]).toEqual([1, '']);
    expect(JSON.parse(json.err)).toEqual({
      error: { code, message: expect.stringMatching(message) },
    });
  });

  it('a key above the maximum', async () => {
    for (let i = 0; i < maxActiveKeys; i++) {
      await bench.run('key', 'create', '--account', 'acme', '--label', `k${i}`);
    }
    const { exit, out, err } = await bench.run('key create --account acme --label more --json');
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err).error.code).toBe('too_many_keys');
  });

  it('--local while nothing runs', async () => {
    const { exit, out, err } = await run([
      'plan',
      'list',
      '--local',
      '--data',
      '/no/such/data',
      '--json',
    ]);
    expect([exit, out]).toEqual([1, '']);
    expect(JSON.parse(err).error).toEqual({
      code: 'not_running',
      message: expect.stringContaining('npm start'),
    });
  });
});

describe('--help', () => {
  it.each(['', 'plan', 'account show'])(
    'of "%s" goes to standard output and exits with 0',
    async (command) => {
      const { exit, out, err } = await run([...command.split(' ').filter(Boolean), '--help']);
      expect([exit, err]).toEqual([0, '']);
      expect(out).toContain(`Usage: ${['bag-adres', command].filter(Boolean).join(' ')} `);
    },
  );
});
