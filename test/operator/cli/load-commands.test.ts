import { copyFile, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { lineOf } from '../../../loader/addresses/lines.ts';
import { dynamoDbAddressTable } from '../../../loader/storage/address-table.ts';
import { httpSource } from '../../../loader/storage/http-source.ts';
import { processOwner } from '../../../loader/storage/lock.ts';
import { openStorage } from '../../../loader/storage/open.ts';
import { explainError } from '../../../operator/deployment/errors.ts';
import type { AuditLine } from '../../../operator/deployment/operator-audit.ts';
import { february, january, type Month, tableOf, voorkomensOf } from '../../loader/steps/months.ts';
import { badExtracts, makeBadExtracts } from '../../support/bad-extracts.ts';
import { folderForNow } from '../../support/folder-for-now.ts';
import { putDelivery } from '../../support/mutation-delivery.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';
import { underLock } from '../../support/under-lock.ts';
import { withObjects } from '../../support/waiting-load.ts';
import { writeExtract } from '../../support/write-extract.ts';
import { type Ended, run, startLocalRun } from '../command-line.ts';

/** Forty addresses in the place of those before: more than may change unseen. */
const another: Month = {
  peildatum: '2026-04-08',
  addresses: Array.from({ length: 40 }, (_, index) => [`1012RJ ${index + 1}`, 'Dam', 'Amsterdam']),
};

const startedAt = new Date();
const bench = startForTests(startLocalRun);
const folder = folderForNow('bag-adres-extracts-');
const bad = folderForNow('bag-adres-bad-');

beforeAll(async () => {
  await makeBadExtracts(bad);
  for (const month of [january, february, another]) {
    await writeFile(fileOf(month), await writeExtract(month.peildatum, voorkomensOf(month)));
  }
});

const fileOf = ({ peildatum }: Month) => join(folder, `${peildatum}.zip`);
const extract = (month: Month) => ['--extract', fileOf(month)];
const load = (...args: string[]) => bench.run('load', ...args);
const json = (...args: string[]) => bench.json('load', ...args);
const table = () => dynamoDbAddressTable(bench.client, 'addresses');
const served = async (month: Month) => {
  const found = await table().read([...tableOf(month).keys()]);
  return new Map([...found].map(([key, { places }]) => [key, places]));
};
const failure = async (...args: string[]) => errorOf(await load(...args, '--json'));
/** What the audit has of the dataset since this file began. */
async function auditOfRegister(): Promise<AuditLine[]> {
  const months = new Set([startedAt, new Date()].map((date) => date.toISOString().slice(0, 7)));
  const entries: AuditLine[] = [];
  for (const month of months) {
    entries.push(...(await bench.json('audit', 'export', '--month', month)));
  }
  return entries.filter(({ kind }) => kind === 'register');
}
const errorOf = ({ exit, out, err }: Ended) => {
  expect([exit, out]).toEqual([1, '']);
  return JSON.parse(err).error;
};

describe('loads on this machine, one after the other', () => {
  it('before the first load, status and history say what to do', async () => {
    const place = bench.local.join(' ');
    expect(await load('status')).toEqual({
      exit: 0,
      out: `No addresses are loaded yet. Load an extract: "npx bag-adres load run ${place}".`,
      err: '',
    });
    expect((await load('history')).out).toContain(
      `No loads yet. Start one: "npx bag-adres load run ${place}".`,
    );
    expect(await json('status')).toEqual({
      published: null,
      mutations: null,
      pending: null,
      age_days: null,
      running: [],
      runs: [],
      refused: [],
    });
    expect(await failure('approve')).toMatchObject({ code: 'not_found' });
    expect(await failure('rollback', '2026-01-08')).toMatchObject({ code: 'unknown_snapshot' });
    const message = expect.stringMatching(/^Nothing was loaded yet/);
    expect(await failure('repair')).toMatchObject({ code: 'unknown_snapshot', message });
  });

  it('a plan prints what would change, and changes nothing', async () => {
    expect(await json('plan', ...extract(january))).toMatchObject({
      outcome: 'planned',
      peildatum: january.peildatum,
      live_peildatum: null,
      voorkomens: 13,
      nummeraanduidingen: 13,
      addresses: 11,
      added: 11,
      changed: 0,
      removed: 0,
      problems: 0,
    });
    expect((await served(january)).size).toBe(0);
    expect((await json('status')).published).toBeNull();
    expect((await auditOfRegister()).map(({ action }) => action)).not.toContain('load run');
  });

  it('a run makes the extract live, with plain lines of progress outside a terminal', async () => {
    const { exit, out, err } = await load('run', ...extract(january));
    expect(exit).toBe(0);
    expect(out).toMatch(/^The snapshot of 2026-01-08 is live\.\n/);
    expect(err).toMatch(/^(?:[a-z]+, (?:[^\n]*, )?done in [^\n]+(?:\n|$))+$/);
    expect(await served(january)).toEqual(tableOf(january));
  });

  it('a plan shows an example of each kind of change', async () => {
    const { out } = await load('plan', ...extract(february));
    expect(out.split('\n')).toEqual(
      expect.arrayContaining([
        'Snapshot of 2026-02-08, replacing the snapshot of 2026-01-08.',
        expect.stringMatching(/^ {2}\+ 1382LJ 30 +Nijverheidslaan, Weesp$/),
        expect.stringMatching(
          /^ {2}~ 9999ZZ 1 +Dorpsstraat, Amsterdam \| Kerkstraat, Weesp {2}-> {2}Kerkstraat, Weesp$/,
        ),
        expect.stringMatching(/^ {2}- 2513AA 2 +Binnenhof, ’s-Gravenhage$/),
        'Would change: 1 added, 4 changed, 1 removed.',
      ]),
    );
  });

  it('a plan writes every change to a file, as CSV that spreadsheets read', async () => {
    const file = join(folder, 'changes.csv');
    expect(await json('plan', ...extract(february), '--csv', file)).toMatchObject({
      added: 1,
      changed: 4,
      removed: 1,
    });
    const [head, ...lines] = (await readFile(file, 'utf8')).split('\r\n');
    expect([head, lines.pop()]).toEqual(['key,before,after,nummeraanduidingen', '']);
    expect(lines.map((line) => line.split(',')[0])).toEqual(
      [...lines.map((line) => line.split(',')[0])].sort(),
    );
    expect(lines).toHaveLength(6);
    const ids = '[0-9]{16}(?: [0-9]{16})*';
    for (const line of [
      `1382LJ#30#,,"Nijverheidslaan, Weesp",${ids}`,
      // Only an id differs.
      `1382LJ#28#,"Nijverheidslaan, Weesp \\(${ids}\\)","Nijverheidslaan, Weesp \\(${ids}\\)",${ids}`,
      `2513AA#2#,"Binnenhof, ’s-Gravenhage",,${ids}`,
      `9999ZZ#1#,"Dorpsstraat, Amsterdam \\| Kerkstraat, Weesp","Kerkstraat, Weesp",${ids}`,
    ]) {
      expect(lines).toContainEqual(expect.stringMatching(new RegExp(`^${line}$`)));
    }
    expect(await failure('plan', ...extract(february), '--csv', file)).toMatchObject({
      code: 'exists',
    });
    expect(await failure('plan', ...extract(february), '--csv', '/proc/none/x.csv')).toMatchObject({
      code: 'file',
    });
  });

  it('an extract that is already live takes no action, and is not a failure', async () => {
    await load('run', ...extract(february));
    const { exit, out } = await load('run', ...extract(february));
    expect(exit).toBe(0);
    const file = join(folder, 'none.csv');
    expect(await json('plan', ...extract(february), '--csv', file)).toMatchObject({
      outcome: 'unchanged',
    });
    expect(await readFile(file, 'utf8')).toBe('key,before,after,nummeraanduidingen\r\n');
    expect(out).toMatch(
      /^Nothing to do: .*2026-02-08\.zip has not changed\.\nThe snapshot of 2026-02-08 is live\.$/,
    );
    expect(await json('run', ...extract(february))).toMatchObject({
      outcome: 'unchanged',
      peildatum: february.peildatum,
      addresses: 11,
    });
  });

  it('a load that changes too much is refused with its reasons, and the live dataset stays', async () => {
    const plan = await load('plan', ...extract(another));
    expect(plan).toMatchObject({
      exit: 0,
      err: expect.stringContaining(
        `"npx bag-adres load run --extract ${extract(another)[1]} --local`,
      ),
    });
    const copy = join(folder, 'copy.zip');
    await copyFile(fileOf(another), copy);
    const error = await failure('run', '--extract', copy);
    const { err } = await load('run', '--extract', copy);
    expect(err).toMatch(
      / is refused; nothing was written:\n(?: {2}- .+\n)+If this is right: "npx .+ --local.*"\nIf it is wrong/,
    );
    await rm(copy);
    expect(error).toEqual({
      code: 'refused',
      message: expect.stringMatching(
        /100%.*If this is right: "npx bag-adres load approve 2026-04-08-[0-9a-f]+ --proposal [0-9a-f]{16} --local/,
      ),
      proposal: expect.stringMatching(/^[0-9a-f]{16}$/),
      load: expect.stringMatching(/^2026-04-08-/),
      peildatum: another.peildatum,
      objections: [
        {
          code: 'too_many_removed',
          message: expect.any(String),
          count: 11,
          of: 11,
          examples: [
            '1012 RJ 147: Nieuwezijds Voorburgwal, Amsterdam → -',
            '1012 RJ 149: Nieuwezijds Achterburgwal, Amsterdam → -',
            '1381 AA 7: Buitenveer, Weesp → -',
          ],
        },
      ],
    });
    expect(await served(february)).toEqual(tableOf(february));
    expect((await load('plan', ...extract(another))).err).toContain('would be refused');
    await writeFile(copy, await readFile(fileOf(another)));
    expect((await load('run', '--extract', copy)).err).toMatch(
      / {2}- 1012RJ 147 .*\n(?:.*\n)+bag-adres: .* is refused/,
    );
    await rm(copy);
    const { load: id, proposal, peildatum, objections } = error;
    expect((await json('status')).refused).toEqual([
      expect.objectContaining({
        load: id,
        proposal,
        peildatum,
        objections,
        removed: 11,
        approval: null,
      }),
    ]);
    expect((await load('status')).out).toContain(
      `"npx bag-adres load approve ${id} --proposal ${proposal} ${bench.local.join(' ')}"`,
    );
  });

  it('an approval runs the refused load, without its extract, which no longer exists', async () => {
    expect(await failure('approve', '2026-04-08-0000000000')).toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/Refused loads: 2026-04-08-/),
    });
    const takeBack = await withObjects(
      await openStorage(bench.data),
      (await json('status')).refused[0].load,
    );
    const says =
      ': 40 added, 0 changed, 11 removed, the objects of 3,000 addresses.\nIt was refused: ';
    expect((await load('approve', '--plan')).out).toContain(says);
    await takeBack();
    // Somebody approves what he saw, and it is something else by now.
    expect(await failure('approve', '--proposal', '0123456789abcdef')).toMatchObject({
      code: 'conflict',
    });
    expect(await json('approve')).toMatchObject({
      outcome: 'published',
      peildatum: another.peildatum,
      removed: 11,
      approved: true,
    });
    expect(await served(another)).toEqual(tableOf(another));
    expect((await json('status')).refused).toEqual([]);
  });

  it('a rollback asks, shows what the guard thinks of it, and is not refused for its size', async () => {
    expect(await failure('rollback', '2026-01-01')).toMatchObject({
      code: 'unknown_snapshot',
      message: expect.stringContaining('Choose one of: 2026-02-08, 2026-01-08'),
    });
    const no = await bench.runAnswering('n', 'load', 'rollback', january.peildatum);
    expect([no.exit, no.asked]).toEqual([
      1,
      [
        expect.stringMatching(
          /It would add 11, change 0 and remove 40 addresses\.\nThe guard would ask: it would remove 40 of the 40 addresses: 100%, over the limit of 10/,
        ),
      ],
    ]);
    expect(await served(another)).toEqual(tableOf(another));
    expect(await json('rollback', january.peildatum, '--yes')).toMatchObject({
      outcome: 'published',
      peildatum: january.peildatum,
    });
    expect(await served(january)).toEqual(tableOf(january));
    const kinds = (await json('history')).map(
      ({ peildatum, kind, kept }: Record<string, unknown>) => [peildatum, kind, kept],
    );
    expect(kinds).toEqual([
      [january.peildatum, 'rollback', true],
      [another.peildatum, 'extract', true],
      [february.peildatum, 'extract', true],
      [january.peildatum, 'extract', true],
    ]);
    expect((await load('history')).out).toMatch(/rollback .* live\n[^\n]*2026-04-08/);
  });

  it('a snapshot that was rolled back is loaded again only on request', async () => {
    expect(await json('run', ...extract(another))).toMatchObject({
      outcome: 'unchanged',
      reason: expect.stringContaining('was rolled back; "load run --again"'),
    });
    expect(await failure('run', '--again', ...extract(another))).toMatchObject({ code: 'refused' });
  });

  it('a table that something else wrote to is compared, and repaired', async () => {
    const good = (await served(january)).get('1012RJ#147#');
    const put = lineOf({
      key: '1381AA#8#',
      places: [{ straat: 'Buitenveer', woonplaats: 'Weesp' }],
    });
    const writes = [{ remove: '1012RJ#147#' }, { put }];
    await underLock(table(), (fence) => table().write(writes, fence));
    const plan = await load('repair', '--plan');
    expect([plan.exit, plan.out.split('\n')]).toEqual([
      0,
      [
        'Compared the table with the snapshot of 2026-01-08 (11 addresses).',
        '',
        expect.stringMatching(/^ {2}\+ 1012RJ 147 +Nieuwezijds Voorburgwal, Amsterdam$/),
        expect.stringMatching(/^ {2}- 1381AA 8 +Buitenveer, Weesp$/),
        '',
        'Would repair: 1 missing, 0 changed, 1 unexpected.',
      ],
    ]);
    const check = await load('check');
    expect([check.exit, check.out]).toEqual([1, plan.out]);
    expect(check.err).toMatch(
      /differs from the snapshot in 2 addresses\. Repair it: "npx bag-adres load repair --local/,
    );
    expect(await json('repair')).toMatchObject({
      outcome: 'repaired',
      added: 1,
      changed: 0,
      removed: 1,
    });
    expect((await served(january)).get('1012RJ#147#')).toEqual(good);
    expect((await table().read(['1381AA#8#'])).size).toBe(0);
    const { exit, out } = await load('repair');
    expect([exit, out]).toEqual([
      0,
      'Compared the table with the snapshot of 2026-01-08 (11 addresses): no differences.',
    ]);
  });

  it('discard deletes only the work of a refused load', async () => {
    const { load: id } = await failure('run', '--again', ...extract(another));
    const planned = await load('discard', id, '--plan');
    expect(planned.out).toMatch(
      new RegExp(`\\nRemoves the work of load ${id}, \\d+ objects\\. The addresses stay`),
    );
    const { out, err } = await load('discard', id);
    expect(err).toBe(planned.out);
    expect(out).toMatch(new RegExp(`^Removed the work of ${id}: \\d+ objects, 1 MB\\.$`));
    expect((await json('status')).refused).toEqual([]);
    expect(await failure('discard', id)).toMatchObject({ code: 'unknown_load' });
    expect(await load('check')).toMatchObject({ exit: 0 });
    expect(await json('history')).toContainEqual(
      expect.objectContaining({ kept: true, peildatum: another.peildatum }),
    );
    expect(await failure('run', '--again', ...extract(another))).toMatchObject({
      code: 'refused',
      load: id,
    });
  });

  it('a rejected load is not loaded again, and only a refused one can be rejected', async () => {
    const { load: id } = await failure('run', '--again', ...extract(another));
    expect((await load('status')).out).toContain(
      `If it is wrong:   "npx bag-adres load reject ${id} --proposal `,
    );
    const [, file] = extract(another);
    const reason = expect.stringContaining(`"load run --again --extract ${file}" loads this one`);
    expect(await json('reject', id)).toMatchObject({ outcome: 'rejected', load: id, reason });
    expect((await json('status')).refused).toEqual([]);
    expect(await json('run', ...extract(another))).toMatchObject({
      outcome: 'unchanged',
      reason: expect.stringContaining('was rejected or was rolled back'),
    });
    expect(await failure('reject', id)).toMatchObject({ code: 'not_found' });
    expect(await failure('reject')).toMatchObject({
      code: 'not_found',
      message: expect.stringContaining('to reject'),
    });
    expect(await failure('run', '--again', ...extract(another))).toMatchObject({
      code: 'refused',
      load: id,
    });
  });

  it('an address is explained, present, gone, or written in a way that no lookup takes', async () => {
    expect(await json('explain', '1381 aa', '9')).toMatchObject({
      key: '1381AA#9#',
      peildatum: january.peildatum,
    });
    expect(await json('explain', '1381', 'AA', '9')).toMatchObject({ key: '1381AA#9#' });
    expect((await load('explain', '1381AA', '9')).out).toMatch(
      /^1381 AA 9: .*, in the dataset of 2026-01-08, from the extract/,
    );
    expect((await load('explain', '9999ZZ', '99')).out).toContain('9999 ZZ 99 is not an address');
    expect(await load('explain', '1381AA', '9-A')).toMatchObject({
      exit: 2,
      err: expect.stringContaining('huisnummer'),
    });
  });

  it('a load that stopped during apply is shown with the command that finishes it', async () => {
    const manifest = join(bench.data, 'manifest.json');
    await load('run', ...extract(february));
    const before = JSON.parse(await readFile(manifest, 'utf8'));
    await writeFile(manifest, JSON.stringify({ ...before, pending: before.published }));
    expect((await load('status')).out).toMatch(
      /started writing at .* finish it with "npx bag-adres load run --finish --local/,
    );
    const { load: pending } = before.published;
    for (const plan of [[], ['--plan']]) {
      expect(await failure('discard', pending, ...plan)).toMatchObject({
        code: 'pending',
        message: expect.stringContaining(
          `so the work of load ${pending} is needed: finish it with`,
        ),
      });
    }
    const check = await load('check');
    expect([check.exit, check.err]).toEqual([1, expect.not.stringContaining('load repair')]);
    expect(check.err).toMatch(
      /is half written, so the table is between two snapshots: finish it with "npx bag-adres load run --finish --local.*", or undo it with "npx bag-adres load rollback \S+ --local/,
    );
    expect((await load('repair', '--plan')).err).toMatch(
      /Compares every address with the snapshot of .*of load \S+, which is half written/,
    );
    // A plan of the same extract says so too: live is the load before.
    const [, earlier] = before.history;
    await writeFile(
      manifest,
      JSON.stringify({ ...before, published: earlier, pending: before.published }),
    );
    const { peildatum, source } = before.published;
    const { out } = await load('plan', '--extract', source.location);
    expect(out).toMatch(
      /^The load of \S+ \(.*\) started writing at .* finish it with "npx bag-adres load run --finish --local/,
    );
    expect(out).toContain(`\nThe snapshot of ${earlier.peildatum} is live.`);
    expect(out).not.toMatch(/Nothing to do|Once it is finished: .* is live\b/);
    expect(await json('plan', '--extract', source.location)).toMatchObject({
      outcome: 'unchanged',
      peildatum: earlier.peildatum,
      interrupted: { load: before.published.load, peildatum },
    });
    await writeFile(manifest, JSON.stringify(before));
  });

  it('an extract that days follow is reported as well as its last day', async () => {
    const days = join(folder, 'days');
    await putDelivery(days, february.peildatum, '2026-02-09');
    const { exit, out, err } = await load(
      'run',
      '--again',
      ...extract(february),
      '--mutations',
      days,
    );
    expect([exit, out.split('\n')[0]]).toEqual([0, 'The snapshot of 2026-02-09 is live.']);
    expect(err).toMatch(
      /\nThe snapshot of 2026-02-08 is live: \d added, \d changed, \d removed\.\n/,
    );
  });
});

describe('an impossible load prints one line that helps', () => {
  const no = (name: string, bytes: string | Buffer) => async () => {
    await writeFile(join(folder, name), bytes);
    return ['run', '--extract', join(folder, name)];
  };

  it.each<[string, () => Promise<string[]>, string, RegExp]>([
    [
      'half a zip',
      async () => no('half.zip', (await readFile(fileOf(january))).subarray(0, 1500))(),
      'bad_extract',
      /half\.zip: .*cut off or damaged/,
    ],
    [
      'a zip of nothing',
      no('none.zip', Buffer.from(`PK\x05\x06${'\0'.repeat(18)}`, 'latin1')),
      'bad_extract',
      /none\.zip: is not an extract of the BAG: it holds nothing\. Use lvbag/,
    ],
    [
      'nothing to follow',
      async () => ['follow'],
      'not_here',
      /runs in the command that started it/,
    ],
  ])('%s', async (_, args, code, message) => {
    const error = await failure(...(await args()));
    expect(error).toEqual({ code, message: expect.stringMatching(message) });
    expect(error.message).not.toContain('\n');
  });

  it('an unreachable server', async () => {
    // A command that fails for this waits seconds between its attempts.
    const failed: unknown = await httpSource('http://127.0.0.1:1/x.zip', undefined, {
      pause: 1,
    }).catch((error) => error);
    const error = explainError(failed);
    expect(error).toEqual({
      code: 'source_unavailable',
      message: expect.stringMatching(/^127\.0\.0\.1:1 .*Check the URL/),
    });
    expect(error.message).not.toContain('\n');
  });

  it.each(sweep(badExtracts, 2))(
    '%s in place of an extract, planned or run',
    async (_, name, code, message) => {
      for (const command of ['plan', 'run']) {
        const error = await failure(command, '--extract', resolve(bad, name));
        expect(error).toEqual({ code, message: expect.stringMatching(message) });
      }
    },
  );

  it('two at once: the second names the holder of the lock, and changes nothing', async () => {
    await table().lock.acquire('someone else', 60);
    expect(await failure('run', ...extract(january))).toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/Another load \(someone else\) is writing to this table/),
    });
    await table().lock.release('someone else');
  });

  it('a lock that an interrupted load left is removed, that of a live one only by force', async () => {
    expect((await load('unlock')).out).toBe('The table is not locked.');
    await table().lock.acquire('elsewhere:1:2:x', -1);
    const planned = await load('unlock', '--plan');
    expect(planned.out).toMatch(
      /\nRemoves the lock of elsewhere:1:2:x, which would end at 20.*Z\. That load has ended/,
    );
    const unlocked = await load('unlock');
    expect([unlocked.out, unlocked.err]).toEqual([
      'Removed the lock of elsewhere:1:2:x.',
      planned.out,
    ]);
    const live = processOwner('test');
    await table().lock.acquire(live, 60);
    expect(await failure('unlock')).toMatchObject({
      code: 'locked',
      message: expect.stringMatching(/still holds the lock.*--force/),
    });
    expect(await json('unlock', '--force')).toEqual({ owner: live });
    const ofRegister = await auditOfRegister();
    const actions = ['run', 'approve', 'reject', 'rollback', 'repair', 'discard', 'unlock'].map(
      (one) => `load ${one}`,
    );
    expect(new Set(ofRegister.map(({ action }) => action))).toEqual(new Set(actions));
    expect(ofRegister.at(-1)).toMatchObject({
      action: 'load unlock',
      detail: { owner: live },
      outcome: 'done',
      actor: expect.stringMatching(/^[^@]+@[^@]+$/),
    });
    const rollbacks = ofRegister
      .filter(({ action }) => action === 'load rollback')
      .map(({ detail }) => detail);
    // What is refused leaves no entry.
    expect(rollbacks).toEqual([{ snapshot: '2026-01-08' }]);
    expect(await table().lock.holder()).toBeNull();
  });

  it('another storage than that of the table', async () => {
    const other = { peildatum: '2020-01-08', load: 'of-someone' };
    await underLock(table(), (fence) => table().setDataset(other, fence));
    expect(await failure('status')).toMatchObject({ code: 'foreign_storage' });
  });

  it('nothing running', async () => {
    const { exit, err } = await run([
      'load',
      'status',
      '--local',
      '--data',
      '/no/such/data',
      '--json',
    ]);
    expect([exit, JSON.parse(err).error.code]).toEqual([1, 'not_running']);
  });
});

describe('a command about loads written wrongly ends with 2', () => {
  it.each([
    ['no word on where', 'load status', /--local .*--stage NAME/],
    ['two places at once', 'load status --local --stage x', /--local.*--stage/],
    ['--data alone', 'load status --data /tmp', /Add --local/],
    ['no snapshot to go back to', 'load rollback --local', /missing required argument 'snapshot'/i],
    [
      'an extract of another kind',
      'load run --local --extract ftp://x/y.zip',
      /file, an http\(s\) URL or s3:/,
    ],
    ['an unknown command', 'load stats --local', /did you mean status/i],
  ])('%s', async (_, line, message) => {
    const { exit, out, err } = await run(line.split(' '));
    expect([exit, out]).toEqual([2, '']);
    expect(err).toMatch(message);
  });
});
