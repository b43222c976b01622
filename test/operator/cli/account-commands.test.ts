import { basename, dirname } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../../packages/admin/admin.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { writeItems } from '../../support/stored-items.ts';
import { runWith, startLocalRun } from '../command-line.ts';

const bench = startForTests(startLocalRun);
beforeAll(async () => {
  await bench.run('plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited');
  await bench.run('plan put small --limit day=10');
  await bench.run('account create acme --plan standard --limit day=100');
});

describe('plan', () => {
  it('put prints the plan and how many accounts are on it', async () => {
    const { exit, out, err } = await bench.run(
      'plan put standard --limit minute=60 --limit day=5000 --limit month=unlimited',
    );
    expect([exit, err]).toEqual([0, '']);
    expect(out).toBe(
      'Plan "standard" is active: minute=60 day=5000 month=unlimited. 1 account is on this plan.',
    );
  });

  it('put --dry-run prints what would change for how many accounts, and changes nothing', async () => {
    const before = await bench.json('plan list');
    const { out } = await bench.run('plan put standard --limit day=7 --dry-run');
    expect(out).toMatch(
      /before {2}active: minute=60 day=5000 month=unlimited\n {2}after {3}active: day=7\n/,
    );
    expect(out).toContain(
      'It applies to 1 account, except for limits of their own. Nothing was changed.',
    );
    expect(await bench.json('plan put new --limit day=7 --dry-run')).toEqual({
      code: 'new',
      before: null,
      after: { state: 'active', limits: { day: 7 } },
      accounts: 0,
      executed: false,
    });
    expect(await bench.json('plan list')).toEqual(before);
  });

  it('resume finishes a change that was interrupted, which list names', async () => {
    const admin = createAdmin({
      client: DynamoDBDocumentClient.from(bench.client),
      table: 'accounts',
      actor: 'jo@example.nl',
    });
    await admin.plans.begin({ code: 'small', limits: { day: 10 } });
    expect((await bench.run('plan list')).out).toContain(
      '"npx bag-adres plan resume small --local',
    );
    expect((await bench.run('plan resume small')).out).toBe(
      'Every account on plan "small" has the change: 0 accounts.',
    );
    expect((await bench.run('plan resume small')).out).toBe(
      'No change of plan "small" was left to finish.',
    );
    expect((await bench.run('plan list')).out).not.toContain('resume');
    expect(await bench.run('plan resume nothing')).toMatchObject({ exit: 1 });
  });

  it('list shows a window that a plan lacks as a dash, in JSON as no member', async () => {
    const { out } = await bench.run('plan list');
    expect(out).toMatch(/plan +state +minute +hour +day +.* month/);
    expect(out).toMatch(/standard +active +60 +- +5,000 .*unlimited +1/);
    expect(await bench.json('plan list')).toContainEqual({
      code: 'standard',
      state: 'active',
      accounts: 1,
      limits: { minute: 60, day: 5000, month: null },
    });
  });
});

describe('account', () => {
  it('show prints the limits, who set them, and the keys', async () => {
    const { out } = await bench.run('account show acme');
    expect(out).toContain('plan     standard');
    expect(out).toMatch(/minute +60 +0 +60 +plan +in .*, \d{4}-/);
    expect(out).toMatch(/day +100 +0 +100 +account +in .*, \d{4}-/);
    expect(out).toMatch(/month +unlimited +0 +unlimited +plan +in .*, \d{4}-/);
    expect(out).toContain('There are no keys yet');
  });

  it('set changes the name, the contact and the note, which --no-note removes, and list finds them', async () => {
    await bench.run(
      'account create named --plan standard --name',
      'Bakkerij Jansen',
      '--note',
      'by year',
    );
    const made = await bench.json('account set named --contact Jo@jansen.example --no-note');
    expect(made).toMatchObject({
      name: 'Bakkerij Jansen',
      contact: 'Jo@jansen.example',
      note: null,
    });
    expect((await bench.run('account show named')).out).toMatch(
      /account {2}named\nname {5}Bakkerij Jansen\ncontact {2}Jo@jansen.example\nstate/,
    );
    expect(await bench.json('account list --search JANSEN')).toMatchObject([{ id: 'named' }]);
    expect((await bench.run('account list --search jo@jansen')).out).toMatch(
      /named .* Bakkerij Jansen/,
    );
    expect(await bench.run('account set named')).toMatchObject({ exit: 2 });
    expect(await bench.run('account', 'set', 'named', '--name', 'x'.repeat(101))).toMatchObject({
      exit: 2,
      err: expect.stringContaining('The name of an account is 1 to 100 characters'),
    });
    await bench.run('account suspend named');
    await bench.run('account delete named');
  });

  it('set gives a window the limit of the plan again, which create takes too', async () => {
    await bench.run('account create returning --plan small --limit day=plan');
    expect((await bench.run('account set returning --limit day=3')).out).toMatch(
      /day +3 .* account/,
    );
    expect((await bench.run('account set returning --limit day=plan')).out).toMatch(
      /day +10 .* plan/,
    );
    await bench.run('account suspend returning');
    await bench.run('account delete returning');
  });

  it('list prints every account with its usage, in JSON like show', async () => {
    const { out } = await bench.run('account list');
    expect(out).toMatch(/acme +active +standard +0 +0 \/ 60 +- +0 \/ 100 +.* 0 \/ unlimited/);
    const accounts = await bench.json('account list');
    const { keys, ...shown } = await bench.json('account show acme');
    expect(accounts).toContainEqual({ ...shown, active_keys: keys.length });
    expect(await bench.json('account list --prefix ac')).toHaveLength(1);
    expect((await bench.run('account list --prefix none')).out).toMatch(/no such accounts/);
  });

  it('suspend and activate print the new state of the account', async () => {
    expect((await bench.run('account suspend acme')).out).toBe('Account "acme" is suspended.');
    expect(await bench.json('account show acme')).toMatchObject({ state: 'suspended' });
    expect((await bench.run('account activate acme')).out).toBe('Account "acme" is active.');
  });

  it.each([
    ['suspend', 'active', 'refuses with 403'],
    ['activate', 'active', 'answers'],
  ])('%s --plan says what happens to the next request', async (verb, state, effect) => {
    const { out } = await bench.run(`account ${verb} acme --plan`);
    expect(out).toContain(`Account "acme" is ${state}, on the plan standard, `);
    expect(out).toContain(`From the next request on the service ${effect} all of its requests.`);
  });
});

describe('audit', () => {
  it('delete removes a suspended account, and says what to do about an active one', async () => {
    await bench.run('account create leaving --plan small');
    const refused = await bench.run('account delete leaving');
    expect([refused.exit, refused.err]).toEqual([
      1,
      expect.stringMatching(
        /Account "leaving" is active\. Suspend it first\. Use "npx bag-adres account suspend leaving --local/,
      ),
    ]);
    await bench.run('account suspend leaving');
    expect((await bench.run('account delete leaving')).out).toBe(
      'Account "leaving" and its keys are deleted.',
    );
    expect((await bench.run('account audit leaving')).out).toContain('account delete');
  });

  it('prints who changed an account and a plan', async () => {
    await bench.run('account create told --plan small --limit day=unlimited');
    expect((await bench.run('account audit told')).out).toMatch(
      /\S+Z +\S+@\S+ +account create +plan=small limits\.day=unlimited +done/,
    );
    await bench.run('account set told --limit day=5 --name Acme');
    const { out } = await bench.run('account audit told --last 1');
    for (const part of [
      ' limits.day=5 ',
      ' before.limits.day=unlimited ',
      ' name.before=none ',
      ' name.after=Acme ',
    ]) {
      expect(out).toContain(part);
    }
    await bench.run('plan put audited --limit day=5');
    await bench.run('plan put audited --limit day=10');
    expect(await bench.json('plan audit audited --last 1')).toEqual([
      {
        time: expect.stringMatching(/Z$/),
        actor: expect.stringMatching(/.@./),
        action: 'plan put',
        detail: {
          state: 'active',
          limits: { day: 10 },
          before: { state: 'active', limits: { day: 5 } },
        },
        outcome: 'done',
      },
    ]);
  });

  it('prints more changes than are read at once', async () => {
    const entry = { account: 'plan#many', actor: 'ann', action: 'plan put', detail: {} };
    const times = Array.from({ length: 1_002 }, (_, i) => new Date(i).toISOString());
    const items = times.map((time) => ({ ...entry, item: `audit#${time}#000000000000`, time }));
    await bench.run('plan put many --limit day=5');
    await writeItems(DynamoDBDocumentClient.from(bench.client), 'accounts', items);
    const found = (await bench.json('plan audit many --last 1002')) as { time: string }[];
    expect(found.slice(1).map(({ time }) => time)).toEqual(times.slice(1).toReversed());
  });
});

describe('key', () => {
  it('create prints only the key on standard output, and the rest on standard error', async () => {
    const { exit, out, err } = await bench.run('key create --account acme --label webshop');
    expect(exit).toBe(0);
    expect(out).toMatch(/^bagadres_acme_[0-9A-Za-z]{43}$/);
    expect(err).toMatch(/Save it now.*key id is [0-9A-Za-z]{8}\.$/);
    expect(await bench.run('key create --account acme --label json --json')).toMatchObject({
      exit: 0,
      err: '',
    });
  });

  it('create --expires sets when the key expires, the end of a day being that in the Netherlands, and refuses any other text', async () => {
    const made = await bench.json('key create --account acme --label trial --expires 2099-01-31');
    const listed = await bench.json('key list --account acme');
    expect(listed).toContainEqual(
      expect.objectContaining({ key_id: made.key_id, expires: '2099-01-31T23:00:00Z' }),
    );
    const timed = await bench.json(
      'key create --account acme --label timed --expires 2099-07-01T12:00:00Z',
    );
    expect(await bench.json('key list --account acme')).toContainEqual(
      expect.objectContaining({ key_id: timed.key_id, expires: '2099-07-01T12:00:00Z' }),
    );
    for (const bad of ['tomorrow', '2099-02-30', '2099-01-31T12:00', '31-01-2099']) {
      const { exit, err } = await bench.run(
        'key',
        'create',
        '--account',
        'acme',
        '--label',
        'x',
        '--expires',
        bad,
      );
      expect([exit, err]).toEqual([2, expect.stringContaining('--expires takes a last day')]);
    }
    const past = await bench.run('key create --account acme --label x --expires 2020-01-01');
    expect([past.exit, past.err]).toEqual([1, expect.stringContaining('expires in the future')]);
  });

  it('find takes a key on standard input, or its id, but no key in an argument, and says what to do next', async () => {
    const { key, key_id: id } = await bench.json('key create --account acme --label leaked');
    const { out, asked } = await bench.runAnswering(key, 'key find');
    expect(asked).toHaveLength(1);
    expect(out).toMatch(new RegExp(`acme +${id} +leaked +active`));
    expect(out).toContain(`"npx bag-adres key revoke ${id} --account acme --local`);
    expect(out).not.toContain(key);
    expect((await bench.run('key find', id)).out).toBe(out);
    const mistyped = await bench.runAnswering(key.slice(0, -1), 'key find');
    expect(mistyped.out).toMatch(
      new RegExp(`^A character of this key is wrong or missing[\\s\\S]*${id}`),
    );
    expect(await bench.run('key find 00000000')).toMatchObject({
      exit: 0,
      out: 'No key has this id.',
    });
    for (const [words, message] of [
      [['key find', key], 'Never pass the key itself. Leave it out: the key is then asked for'],
      [['key find'], 'or the whole key on standard input'],
    ] as const) {
      expect(await bench.run(...words)).toMatchObject({
        exit: 2,
        err: expect.stringContaining(message),
      });
    }
  });

  it('list and revoke identify a key by its id', async () => {
    const { key_id: id } = await bench.json('key create --account acme --label', 'old till');
    expect((await bench.run('key list --account acme')).out).toMatch(
      new RegExp(`${id} +old till +active +just now +- +0 +-`),
    );
    expect((await bench.run('key', 'revoke', id, '--account', 'acme')).out).toBe(
      `Key ${id} of account "acme" is revoked.`,
    );
    expect((await bench.run('key list --account acme')).out).toMatch(
      new RegExp(`${id} +old till +revoked`),
    );
  });

  it('no command prints a key, or a part of its secret, after create did', async () => {
    const { key, key_id: id } = await bench.json('key create --account acme --label once');
    const secret = key.slice(key.indexOf(id) + id.length);
    const commands = [
      ['account', 'show', 'acme'],
      ['account', 'list'],
      ['key', 'list', '--account', 'acme'],
      ['key', 'revoke', key, '--account', 'acme'],
      ['key', 'revoke', id, '--account', key],
      ['account', 'show', key],
      ['plan', 'put', key, '--limit', 'day=1'],
      ['plan', 'put', 'x', '--limit', `day=${key}`],
      ['plan', 'put', 'x', '--limit', `${key}=1`],
      [key],
      ['key', 'list', `--${key}`],
      ['key', 'revoke', id, '--account', 'acme'],
    ];
    for (const command of commands) {
      for (const json of [[], ['--json']]) {
        const { out, err } = await bench.run(...command, ...json);
        expect(`${out}${err}`).not.toContain(secret.slice(0, 12));
      }
    }
  });
});

describe('key rotate', () => {
  const rotate = async (...options: string[]) => {
    const { key_id: id } = await bench.json('key create --account acme --label rotated');
    return { id, ...(await bench.run('key', 'rotate', id, '--account', 'acme', ...options)) };
  };

  it('prints the new key, and when the old one ends', async () => {
    const { id, out, err, exit } = await rotate('--ends', '2099-01-31');
    expect([exit, out]).toEqual([0, expect.stringMatching(/^bagadres_acme_\w+$/)]);
    expect(err).toContain(`Key ${id} works until 2099-01-31T23:00:00Z.`);
    const labels = (await bench.json('key list --account acme')).map(
      ({ label }: { label: string }) => label,
    );
    expect(labels).toEqual(expect.arrayContaining(['rotated', 'rotated 2']));
  });

  it.each([
    ['an end that is no date', 'soon', 2, '--ends takes a last day'],
    ['an end that has passed', '2020-01-01', 1, 'in the future'],
  ])('refuses %s', async (_, ends, exit, message) => {
    expect(await rotate('--ends', ends)).toMatchObject({
      exit,
      err: expect.stringContaining(message),
    });
  });
});

describe('the sessions of the portal', () => {
  it('are listed without their ids, and ended by person, by account and all', async () => {
    const client = DynamoDBDocumentClient.from(bench.client);
    const { members, sessions } = createAdmin({ client, table: 'accounts' });
    await members.add({ account: 'acme', person: 'jo@acme.nl', role: 'viewer' });
    const jo = await sessions.start('sub:jo', 60, { people: ['jo@acme.nl'], browser: 'Firefox' });
    const olaf = await sessions.start('sub:olaf', 60);
    const listed = await bench.run('session list --account acme');
    expect(listed.out).toMatch(/jo@acme\.nl.*Firefox/);
    expect(listed.out).not.toContain('olaf');
    const all = await bench.json('session list --all');
    expect(all).toHaveLength(2);
    expect(JSON.stringify(all)).not.toContain(jo);
    expect((await bench.run('session end --person jo@acme.nl')).out).toContain('1 session ended.');
    expect(await sessions.find(jo)).toBe(null);
    expect(await bench.json('session end --all')).toEqual({ ended: 1 });
    expect(await sessions.find(olaf)).toBe(null);
    expect((await bench.run('session list --all')).out).toContain('no open sessions');
  });

  it.each([
    ['without a scope', 'session end', 'Name whose sessions: --person, --account or --all.'],
    ['with two scopes', 'session end --all --account acme', 'cannot be used with'],
    ['of no person', 'session list --person jo', 'A member is an e-mail address'],
  ])('%s are refused with what to type', async (_, line, message) => {
    expect(await bench.run(line)).toMatchObject({ exit: 2, err: expect.stringContaining(message) });
  });
});

describe('--data', () => {
  it('is relative to the folder in which npm was run, as for npm start', async () => {
    const { data } = bench;
    const args = ['plan', 'list', '--local', '--data', basename(data)];
    expect(await runWith(args, { INIT_CWD: dirname(data) })).toMatchObject({ exit: 0, err: '' });
    expect(await runWith(args)).toMatchObject({
      exit: 1,
      err: expect.stringContaining('Nothing is running on'),
    });
  });
});
