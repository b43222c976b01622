import { execFile } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../support/address-service.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { startHttpServer } from '../support/http-server.ts';
import { startHttpService } from '../support/http-service.ts';
import { inSweep } from '../support/in-sweep.ts';
import { runs } from '../support/programs.ts';
import { startTestService, unlimitedKey } from '../support/service.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';
import { sample, type TrueAddress, weespTruth } from '../support/weesp-truth.ts';

const examples = fileURLToPath(new URL('../../docs/examples/', import.meta.url));
const programs = [
  ['csv.ts', process.execPath],
  ['csv.py', 'python3'],
] as const;

const service = startForTests(startHttpService);
let key: string;
beforeAll(async () => {
  ({ key } = await newAccount(service, { day: null }));
});

type Call = { addresses: { postcode: string; huisnummer: string; toevoeging: string }[] };
/** Answers a call itself, or lets the service do it and sees the end of the response. */
type Script = (
  call: number,
  response: ServerResponse,
  addresses: Call['addresses'],
) => 'answered' | { answered: () => void } | undefined;

/** The service as a program sees it: every call is seen, and may be answered otherwise. */
async function startProxy(baseUrl: string, script: Script = () => undefined) {
  const calls: { at: number; size: number }[] = [];
  let paid = 0;
  const { url, stop } = await startHttpServer(async (request, response) => {
    const body = await buffer(request);
    const { addresses } = JSON.parse(body.toString()) as Call;
    const scripted = script(
      calls.push({ at: performance.now(), size: addresses.length }),
      response,
      addresses,
    );
    if (scripted === 'answered') return;
    const headers = {
      'x-api-key': String(request.headers['x-api-key']),
      'content-type': 'application/json',
    };
    const answer = await fetch(baseUrl + request.url, { method: 'POST', headers, body });
    if (answer.status === 200) paid += addresses.length;
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    response.end(Buffer.from(await answer.arrayBuffer()), scripted?.answered);
  });
  return { url, stop, calls, paid: () => paid };
}

type Run = { code: number | null; error: string };

/** Starts a program on a file in its folder; `kill` ends it as a power cut does. */
function start(
  [file, command]: readonly [string, string],
  args: string[],
  { url, folder, apiKey = key }: { url: string; folder: string; apiKey?: string },
): { ended: Promise<Run>; kill: () => void } {
  const env = { ...process.env, BAG_ADRES_URL: url, BAG_ADRES_KEY: apiKey };
  const { promise: ended, resolve } = Promise.withResolvers<Run>();
  const child = execFile(
    command,
    [join(examples, file), ...args],
    { cwd: folder, env },
    (_, out, error) => {
      expect(out).toBe('');
      resolve({ code: child.exitCode, error });
    },
  );
  return { ended, kill: () => child.kill('SIGKILL') };
}

const columns = ['--postcode', 'Postcode', '--huisnummer', 'Nr', '--toevoeging', 'Toev'];

/** Rows with every outcome, each with a number of its own. */
const kinds = [
  ['1012RJ', '147', '', 'ok'],
  ['9999SD', '2', 'c', 'not_found'],
  ['9999SD', '3', '', 'ambiguous'],
  ['0123AB', '12A', '', 'invalid'],
  [' 1381 aa ', ' 9', 'a', 'ok'],
] as const;
const rowsOf = (count: number) =>
  Array.from({ length: count }, (_, i) => [
    `row ${i}`,
    ...(kinds[i % kinds.length] ?? []).slice(0, 3),
  ]);
const csvOf = (rows: readonly (readonly string[])[], header = 'Id;Postcode;Nr;Toev') =>
  `${[header, ...rows.map((row) => row.join(';'))].join('\n')}\n`;

const folders = programs.map(([file]) => folderForNow(`example-${file}-`));
let runsSoFar = 0;

/** A new name for the files of a test in the folder of a program. */
function filesFor(index: number, content: string | Buffer) {
  const folder = folders[index] ?? '';
  const name = `${++runsSoFar}`;
  writeFileSync(join(folder, `${name}.csv`), content);
  const args = [`${name}.csv`, '--out', `${name}-out.csv`];
  const outFile = join(folder, `${name}-out.csv`);
  return { folder, args, out: () => readFileSync(outFile), outFile };
}

describe.each(programs.map((program, index) => ({ program, index, file: program[0] })))(
  'the example $file',
  ({ program, index }) => {
    const here = runs(program[1], '--version');
    const test = here ? it : it.skip;
    // In a contributor's run the second program tries what most differs between the two.
    const testOfFirst = here && index > 0 ? inSweep : test;
    const testInSweep = here ? inSweep : test;
    const because = here ? '' : ` (skipped: ${program[1]} is not on this machine)`;

    test(`writes each row of a file of Excel with what the register has of it, and pays for valid rows only${because}`, async () => {
      const file =
        '\ufeffNaam;Postcode;Nr;Toev\r\n"Jan; ""de"" Boer";1381AA;9;a\r\n"twee\nregels";9999SD;3;\r\n' +
        '\r\nZoë;9999SD;2;c\r\nY;0123AB;12A;\r\nkort;1012 rj;147\r\n';
      const { args, out, folder } = filesFor(index, file);
      const proxy = await startProxy(service.baseUrl);
      const { code, error } = await start(program, [...args, ...columns], { ...proxy, folder })
        .ended;
      expect([code, error]).toEqual([
        0,
        expect.stringContaining('5 rows, 2 ok, 1 ambiguous, 1 not_found, 1 invalid.'),
      ]);
      expect(error).toContain('5 of 5 rows, ');
      expect(out().toString()).toBe(
        '\ufeffNaam;Postcode;Nr;Toev;bag_status;bag_straat;bag_woonplaats;bag_toevoegingen;bag_detail\r\n' +
          '"Jan; ""de"" Boer";1381AA;9;a;ok;Buitenveer;Weesp;none, A;\r\n' +
          '"twee\nregels";9999SD;3;;ambiguous;;;none;"Teststraat, Testdorp; Teststraat, Teststad"\r\n' +
          'Zoë;9999SD;2;c;not_found;;;A, B;\r\n' +
          `Y;0123AB;12A;;invalid;;;;${detailOf(out())}\r\n` +
          'kort;1012 rj;147;;ok;Nieuwezijds Voorburgwal;Amsterdam;none;\r\n',
      );
      expect(detailOf(out())).toMatch(
        /^"?postcode can't begin with 0.*huisnummer=12 and toevoeging=A/,
      );
      expect(proxy.paid()).toBe(4);
      expect(readdirSync(folder).filter((name) => /part|progress/.test(name))).toEqual([]);
      await proxy.stop();
    });

    testOfFirst(
      `joins two columns of a toevoeging, reads commas and windows-1252, and adds columns of other names${because}`,
      async () => {
        const latin = Buffer.from(
          'Zoë,Postcode,Nr,Letter,Toev\n"a, b",1381DE,30,a,100\n',
          'latin1',
        );
        const { args, out, folder } = filesFor(index, latin);
        const more = [
          '--toevoeging',
          'Letter',
          '--toevoeging',
          'Toev',
          '--prefix',
          'x_',
          '--encoding',
          'windows-1252',
        ];
        const { code } = await start(program, [...args, ...columns.slice(0, 4), ...more], {
          url: service.baseUrl,
          folder,
        }).ended;
        expect(code).toBe(0);
        expect(out().toString().split('\n').slice(0, 2)).toEqual([
          '\ufeffZoë,Postcode,Nr,Letter,Toev,x_status,x_straat,x_woonplaats,x_toevoegingen,x_detail',
          expect.stringMatching(/^"a, b",1381DE,30,a,100,ok,Hugo de Grootlaan,Weesp,/),
        ]);
      },
    );

    const kills = [0, 1, 2].flatMap((call) =>
      (['before', 'after'] as const).map((when) => [call, when] as const),
    );
    testOfFirst.each(here ? sweep(kills, 1) : kills.slice(0, 1))(
      `loses nothing when it is killed at call %d, %s its response, and pays at most 100 addresses again${because}`,
      async (at, when) => {
        const rows = rowsOf(250);
        const whole = filesFor(index, csvOf(rows));
        await start(program, [...whole.args, ...columns], {
          url: service.baseUrl,
          folder: whole.folder,
        }).ended;
        const { args, out, outFile, folder } = filesFor(index, csvOf(rows));
        let kill = () => undefined as unknown;
        // A call with invalid rows is sent once more without them.
        const proxy = await startProxy(service.baseUrl, (call) => {
          if (call !== 2 * at + 2) return undefined;
          if (when === 'after') return { answered: () => kill() };
          kill();
          return undefined;
        });
        const first = start(program, [...args, ...columns], { ...proxy, folder });
        ({ kill } = first);
        const killed = await first.ended;
        expect([killed.code, existsSync(outFile)]).toEqual([null, false]);
        const again = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
        expect(again.code).toBe(0);
        expect(again.error).toMatch(
          /^Continues after row \d+ of 250: at most 100 addresses, those of the call under way, are paid again\.$/m,
        );
        expect(out().toString()).toBe(whole.out().toString());
        const valid = rows.length * (4 / 5);
        expect(proxy.paid()).toBeGreaterThanOrEqual(valid);
        expect(proxy.paid()).toBeLessThanOrEqual(valid + 100);
        await proxy.stop();
      },
    );

    testInSweep(
      `waits for Retry-After, a second for the gateway, and says which calls may have been counted${because}`,
      async () => {
        const refusals: [number, string | undefined, string][] = [
          [429, '1', '{"title":"Quota exceeded","detail":"Wait."}'],
          [429, undefined, '{"message":"Too Many Requests"}'],
          [503, '1', '{"title":"Unavailable","detail":"Wait."}'],
        ];
        const proxy = await startProxy(service.baseUrl, (call, response) => {
          const [status = 0, wait, body] = refusals[call - 1] ?? [];
          if (status === 0) return undefined;
          response.writeHead(status, wait ? { 'Retry-After': wait } : {}).end(body);
          return 'answered';
        });
        const { args, out, folder } = filesFor(index, csvOf(rowsOf(1)));
        const { code, error } = await start(program, [...args, ...columns], { ...proxy, folder })
          .ended;
        expect([code, out().toString()]).toEqual([0, expect.stringContaining(';ok;')]);
        expect(proxy.calls.length).toBe(4);
        const waits = proxy.calls.slice(1).map(({ at }, i) => at - (proxy.calls[i]?.at ?? 0));
        // Timers may end a little early.
        for (const wait of waits) expect(wait).toBeGreaterThan(950);
        expect(error).toContain('A limit is reached: waits 1 s.');
        expect(error).toContain('503: tries again in 1 s. The 1 addresses may have been counted.');
        await proxy.stop();
      },
    );

    testInSweep(
      `ends where a limit is longer than --wait, and continues there${because}`,
      async () => {
        const rows = rowsOf(150);
        let isLimited = true;
        const proxy = await startProxy(service.baseUrl, (call, response) => {
          if (!isLimited || call <= 2) return undefined;
          response.writeHead(429, { 'Retry-After': '7200' }).end('{}');
          return 'answered';
        });
        const { args, out, folder } = filesFor(index, csvOf(rows));
        const { code, error } = await start(program, [...args, ...columns], { ...proxy, folder })
          .ended;
        expect([code, error]).toEqual([
          1,
          expect.stringContaining('longer than --wait 3600.\nStopped after row 100 of 150.'),
        ]);
        isLimited = false;
        const again = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
        expect([again.code, again.error]).toEqual([
          0,
          expect.stringContaining('Continues after row 100 of 150'),
        ]);
        expect(out().toString().split('\n').length).toBe(152);
        expect(proxy.paid()).toBe(120);
        await proxy.stop();
      },
    );

    testOfFirst(
      `sends no more addresses in a call than a limit allows, and splits a call that is too large${because}`,
      async () => {
        const long = [['long', 'x'.repeat(60_000), '1', '']];
        const proxy = await startProxy(service.baseUrl, (_, response, { length }) => {
          if (length <= 60) return undefined;
          const headers = {
            'Retry-After': '1',
            'RateLimit-Policy': '"minute";q=60;w=60, "day";q=500;w=86400',
          };
          response.writeHead(429, headers).end('{}');
          return 'answered';
        });
        const rows = [...rowsOf(140), ...long, ...long, ...rowsOf(1)];
        const { args, out, folder } = filesFor(index, csvOf(rows));
        const { code } = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
        expect(code).toBe(0);
        expect(proxy.calls.filter(({ size }) => size > 60).length).toBe(1);
        const written: string[][] = recordsIn(out().toString()).slice(1);
        expect(written.map(([id, , , , status]) => [id, status])).toEqual(
          rows.map(([id = ''], i) => [id, id === 'long' ? 'invalid' : kinds[(i % 142) % 5]?.[3]]),
        );
        expect(proxy.paid()).toBe(113);
        await proxy.stop();
      },
    );

    const good = csvOf(rowsOf(1));
    const refused: [name: string, content: string | Buffer, args: string[], message: string][] = [
      [
        'a column that is missing',
        good,
        ['--postcode', 'Plaats'],
        'has no column Plaats. It has: Id, Postcode, Nr, Toev',
      ],
      [
        'an added column that it has',
        csvOf(rowsOf(1), 'bag_status;Postcode;Nr;Toev'),
        [],
        'has a column bag_status already',
      ],
      ['a row that is too long', `${good}a;b;c;d;e\n`, [], 'Row 2 of'],
      ['a quote without an end', `${good}"a;b\n`, [], 'is not a CSV file'],
      [
        'another encoding',
        Buffer.from('Zoë;Postcode;Nr;Toev\n', 'latin1'),
        [],
        'add: --encoding windows-1252',
      ],
      ['an unknown option', good, ['--nothing'], '--postcode'],
    ];
    testOfFirst.each(sweep(refused, 1))(
      `refuses %s before it sends anything${because}`,
      async (_, content, more, message) => {
        const proxy = await startProxy(service.baseUrl);
        const { args, folder, outFile } = filesFor(index, content);
        const { code, error } = await start(program, [...args, ...columns, ...more], {
          ...proxy,
          folder,
        }).ended;
        expect([code === 0, error]).toEqual([false, expect.stringContaining(message)]);
        expect([proxy.calls, existsSync(outFile)]).toEqual([[], false]);
        await proxy.stop();
      },
    );

    testOfFirst(`overwrites nothing, and continues no other file${because}`, async () => {
      const proxy = await startProxy(service.baseUrl, (_, response) => {
        response
          .writeHead(401)
          .end(JSON.stringify({ title: 'Unauthorized', detail: 'Send a valid API key.' }));
        return 'answered';
      });
      const { args, folder, outFile } = filesFor(index, good);
      const wrongKey = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
      expect([wrongKey.code, wrongKey.error]).toEqual([
        1,
        expect.stringContaining('401 Unauthorized: Send a valid API key.'),
      ]);
      writeFileSync(join(folder, args[0] ?? ''), csvOf(rowsOf(2)));
      const other = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
      expect([other.code, other.error]).toEqual([
        1,
        expect.stringContaining('or other options. Use those again to continue'),
      ]);
      writeFileSync(outFile, 'mine');
      const taken = await start(program, [...args, ...columns], { ...proxy, folder }).ended;
      expect([taken.code, taken.error, readFileSync(outFile, 'utf8')]).toEqual([
        1,
        expect.stringContaining('exists. Remove it'),
        'mine',
      ]);
      await proxy.stop();
    });

    testOfFirst(`prints no key, and takes it to no other place${because}`, async () => {
      const followed: (string | undefined)[] = [];
      const elsewhere = await startHttpServer((request, response) => {
        followed.push(request.url);
        response.end();
      });
      const proxy = await startProxy(service.baseUrl, (_, response) => {
        response.writeHead(307, { location: elsewhere.url }).end();
        return 'answered';
      });
      for (const apiKey of [key, `${key}\nx`, '']) {
        const { args, folder } = filesFor(index, good);
        const { code, error } = await start(program, [...args, ...columns], {
          ...proxy,
          folder,
          apiKey,
        }).ended;
        expect([code, error]).toEqual([1, expect.not.stringContaining(key.slice(-12))]);
      }
      expect(followed).toEqual([]);
      await Promise.all([elsewhere.stop(), proxy.stop()]);
    });
  },
);

describe('10,000 rows of Weesp with generated faults', () => {
  const title = 'are written alike by both programs, each as the register has it';
  const missing = existsSync(sample) ? '' : ` (skipped: ${sample} is not on this machine)`;
  (missing ? it.skip : inSweep)(title + missing, async () => {
    const { current } = await weespTruth();
    const weesp = await startTestService({ extract: sample });
    const apiKey = await unlimitedKey(weesp.admin);
    const all = [...current.values()];
    const rows = Array.from({ length: 10_000 }, (_, i) =>
      faultyRow(all[(i * 7) % all.length] as TrueAddress, i),
    );
    const file = `\ufeff${csvOf(rows.map(({ cells }) => cells)).replaceAll('\n', '\r\n')}`;
    const outputs: string[] = [];
    for (const [index, program] of programs.entries()) {
      if (!runs(program[1], '--version')) continue;
      const { args, folder, out } = filesFor(index, file);
      const { code } = await start(program, [...args, ...columns], {
        url: weesp.baseUrl,
        folder,
        apiKey,
      }).ended;
      expect(code).toBe(0);
      outputs.push(out().toString());
    }
    await weesp.stop();
    const [first = '', ...others] = outputs;
    for (const other of others) expect(other === first).toBe(true);
    const written: string[][] = recordsIn(first).slice(1);
    const wrong = rows.filter(({ cells, expected }, i) => {
      const [id, , , , ...added] = written[i] ?? [];
      return (
        id !== unquoted(cells[0] ?? '') || expected.some((value, column) => added[column] !== value)
      );
    });
    expect([written.length, wrong.slice(0, 3)]).toEqual([10_000, []]);
    expect(new Set(rows.map(({ expected }) => expected[0])).size).toBe(3);
  });
});

/** The records of a CSV file with semicolons, read apart from the library of the example. */
function recordsIn(text: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, plain = '', end] of text.matchAll(
    /(?:"((?:[^"]|"")*)"|([^";\r\n]*))(;|\r?\n)/g,
  )) {
    records.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain);
    if (end !== ';') records.push([]);
  }
  return records.slice(0, -1);
}

const unquoted = (cell: string) => cell.replace(/^"(.*)"$/s, '$1').replaceAll('""', '"');

/** The last value of the row that begins with Y. */
const detailOf = (content: Buffer) =>
  /^Y;0123AB;12A;;invalid;;;;(.*)\r$/m.exec(content.toString())?.[1] ?? '';

/** A row as people type it: every other one is right, and the rest each have a fault in turn. */
function faultyRow({ postcode, huisnummer, toevoeging, straat }: TrueAddress, index: number) {
  const number = String(huisnummer);
  const ok = ['ok', straat, 'Weesp'];
  const variants: [string, string, string, string[]][] = [
    [postcode.toLowerCase(), number, toevoeging.toLowerCase(), ok],
    [` ${postcode.slice(0, 4)} ${postcode.slice(4)} `, ` ${number} `, `${toevoeging} `, ok],
    [postcode, `0${number}`, toevoeging, ok],
    [postcode.slice(0, 5), number, toevoeging, ['invalid', '', '']],
    [postcode.replace('1', 'l'), number, toevoeging, ['invalid', '', '']],
    [postcode, `${number}${toevoeging || 'bis'}`, '', ['invalid', '', '']],
    [postcode, '', toevoeging, ['invalid', '', '']],
    [postcode, number, `${toevoeging || 'A'}-2`, ['invalid', '', '']],
    [postcode, number, 'ZZZZZ', ['not_found', '', '']],
    [postcode, '99999', toevoeging, ['not_found', '', '']],
    ['', '', '', ['invalid', '', '']],
  ];
  const right: (typeof variants)[number] = [postcode, number, toevoeging, ok];
  const [typedPostcode, typedNumber, typedToevoeging, expected] =
    (index % 2 === 0 ? undefined : variants[((index - 1) / 2) % variants.length]) ?? right;
  const names = [
    `klant ${index}`,
    `"Fa. ""De Boer"" ${index}"`,
    `"twee; regels ${index}"`,
    `Zoë ${index}`,
  ];
  return { cells: [names[index % 4] ?? '', typedPostcode, typedNumber, typedToevoeging], expected };
}
