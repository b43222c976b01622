import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { StoreUnavailable } from '../../core/dynamodb.ts';
import { codeSamples } from '../../tools/openapi/reference.ts';
import { newAccount } from '../support/address-service.ts';
import { startBrokenService } from '../support/broken-service.ts';
import { startHttpServer } from '../support/http-server.ts';
import { startHttpService } from '../support/http-service.ts';
import { python, runs } from '../support/programs.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';

const folder = fileURLToPath(new URL('../../docs/examples/', import.meta.url));
const interpreters: [file: string, command: string[]][] = [
  ['curl.sh', ['sh', 'curl.sh']],
  ['typescript.ts', [process.execPath, 'typescript.ts']],
  ['python.py', [python, 'python.py']],
  ['php.php', ['php', '-d', 'arg_separator.output=&amp;', 'php.php']],
  ['csharp/Program.cs', ['dotnet', 'run', '--project', 'csharp', '--']],
];
const isPresent = ([file, [program = '']]: (typeof interpreters)[number]) =>
  runs(file === 'curl.sh' ? 'curl' : program, '--version');
const present = new Set(interpreters.filter(isPresent).map(([file]) => file));
/** Those that are tried beyond what they print of a lookup. */
const tried = new Set(sweep(present, 1));

const service = startForTests(startHttpService);
const broken = startForTests(startBrokenService);
let key: string;
/** The runs of each program that wait for seconds: they run beside the other tests. */
const waiting = new Map<string, WaitingRuns>();

beforeAll(async () => {
  ({ key } = await newAccount(service, { minute: 1000 }));
  for (const [file, command] of interpreters) {
    if (tried.has(file)) waiting.set(file, startWaiting(file, command));
  }
});

type Result = { code: number; out: string; error: string };

function run(
  [command = '', ...options]: string[],
  query: string[],
  apiKey = key,
  baseUrl = service.baseUrl,
): Promise<Result> {
  const env = { ...process.env, BAG_ADRES_URL: baseUrl, BAG_ADRES_KEY: apiKey };
  return new Promise((resolve) => {
    execFile(command, [...options, ...query], { cwd: folder, env }, (failure, out, error) => {
      resolve({ code: failure ? Number(failure.code) : 0, out, error });
    });
  });
}

describe.each(interpreters)('the example %s', (file, command) => {
  const here = present.has(file);
  const test = here ? it : it.skip;
  const because = here ? '' : ` (skipped: ${command[0]} is not on this machine)`;
  const isCurl = file === 'curl.sh';
  const testAtLength = here && !tried.has(file) ? it.skip : test;

  test(`distinguishes the outcomes${because}`, async () => {
    const outcomes = [
      [['1012RJ', '147'], 'Nieuwezijds Voorburgwal, Amsterdam'],
      [['1381de', '30', 'a 100'], 'Hugo de Grootlaan, Weesp'],
      [['9999SD', '2', 'c'], 'no such address; existing toevoegingen: A, B'],
      [['9999SD', '1', 'c'], 'no such address; existing toevoegingen: none'],
      [['9999ZZ', '1'], 'several: Kerkstraat, Amsterdam; Dorpsstraat, Utrecht'],
      [['9999SD', '4'], 'no such address'],
    ] as const;
    const asked = tried.has(file) ? outcomes : sweep(outcomes, 3);
    const told = await Promise.all(asked.map(([query]) => run(command, [...query])));
    for (const { code, error } of told) expect([code, error]).toEqual([0, '']);
    const lines = isCurl
      ? told.map(({ out }) => describeAnswer(out))
      : told.map(({ out }) => out.trim());
    expect(lines).toEqual(asked.map(([, line]) => line));
  });

  testAtLength(`prints the problem that the service returns, and fails${because}`, async () => {
    const invalid = await run(command, ['0123AB', '0']);
    expect(invalid.code).not.toBe(0);
    for (const said of ['Invalid input', "postcode can't begin with 0", 'huisnummer must be']) {
      expect(isCurl ? invalid.out : invalid.error).toContain(said);
    }
    const refused = await run(command, ['1012RJ', '147'], 'bagadres_no_key');
    expect(isCurl ? refused.out : refused.error).toContain('Send a valid API key');
  });

  testAtLength(
    `waits for Retry-After after a fault of the service, and retries${because}`,
    async () => {
      for (const { code, failed } of await endOf(file).faulted) {
        expect([code, failed]).toEqual([0, true]);
      }
    },
  );

  testAtLength(
    `retries a 429 after the seconds of Retry-After, or a second without it${because}`,
    async () => {
      for (const { code, out, waits } of await endOf(file).retried) {
        expect([code, waits.length, out]).toEqual([0, 1, expect.stringContaining('Teststraat')]);
        // Timers may end a little early.
        expect(waits[0]).toBeGreaterThan(950);
      }
    },
  );

  testAtLength(
    `gives up after a 429 whose Retry-After is too long, and reports that nothing answers${because}`,
    async () => {
      const [long, none] = await Promise.all([endOf(file).givenUp, endOf(file).unanswered]);
      expect([long.code === 0, none.code === 0, long.waits]).toEqual([false, false, []]);
      expect(long.out + long.error).toContain('Quota exceeded');
      expect(none.error).toMatch(isCurl ? /connect|refused/i : /no response/);
    },
  );

  testAtLength(
    `says which variable to set, and accepts a base URL with a trailing slash${because}`,
    async () => {
      const missing = [
        run(command, ['1012RJ', '147'], ''),
        run(command, ['1012RJ', '147'], key, ''),
      ];
      for (const { code, out, error } of await Promise.all(missing)) {
        expect([code === 0, out]).toEqual([false, '']);
        expect(error.trim()).toMatch(/^.*Set BAG_ADRES_URL and BAG_ADRES_KEY\.$/);
      }
      const { code, error } = await run(command, ['1012RJ', '147'], key, `${service.baseUrl}/`);
      expect([code, error]).toEqual([0, '']);
    },
  );

  test(`takes a key with a line end behind it, and prints no part of a key that it can't send${because}`, async () => {
    const taken = sweep([` ${key}\r\n`, `${key}\n`, `${key}\r\n`, ` ${key} `], 1).map((one) =>
      run(command, ['1012RJ', '147'], one),
    );
    for (const { code, out, error } of await Promise.all(taken)) {
      expect([code, out, error]).toEqual([
        0,
        expect.stringContaining('Nieuwezijds Voorburgwal'),
        '',
      ]);
    }
    const refused = [
      `${key}\n${key}`,
      `${key.slice(0, 20)}\r\n${key.slice(20)}`,
      `${key}\u20ac`,
      `"${key}"`,
    ];
    for (const { code, out, error } of await Promise.all(
      sweep(refused, 2).map((one) => run(command, ['1012RJ', '147'], one)),
    )) {
      expect([code, out, error.trim()]).toEqual([1, '', 'BAG_ADRES_KEY is not an API key.']);
    }
  });

  testAtLength(
    `prints a fixed text without the key for a response that is none${because}`,
    async () => {
      const results = broken.urls.map(async (url) => ({
        url,
        ...(await run(command, ['1012RJ', '147'], key, url)),
      }));
      for (const { url, code, out, error } of await Promise.all(results)) {
        // curl prints what it gets.
        if (!isCurl) {
          expect([url, code, out, error.trim()]).toEqual([
            url,
            1,
            '',
            expect.stringMatching(/^.*(no|No) .*response.*$/),
          ]);
        }
        expect([url, out + error]).toEqual([url, expect.not.stringContaining(key.slice(-12))]);
      }
      expect(broken.redirected()).toBe(0);
    },
  );
});

describe('the description', () => {
  it('shows each example program unchanged', async () => {
    const { paths } = JSON.parse(
      await readFile(new URL('../../docs/openapi.json', import.meta.url), 'utf8'),
    );
    const shown: { source: string }[] = paths['/address'].get['x-codeSamples'];
    expect(shown).toEqual(codeSamples());
    const files = await Promise.all(interpreters.map(([file]) => readFile(folder + file, 'utf8')));
    expect(shown.map(({ source }) => source)).toEqual(files);
  });
});

type WaitingRuns = ReturnType<typeof startWaiting>;

function startWaiting(file: string, command: string[]) {
  const faults = [new StoreUnavailable('a moment'), new Error('a fault of ours')];
  const first = 100 + faults.length * interpreters.findIndex(([one]) => one === file);
  return {
    faulted: Promise.all(faults.map((fault, index) => runFaulted(command, first + index, fault))),
    retried: Promise.all([runLimited(command, '1'), runLimited(command, null)]),
    givenUp: runLimited(command, '3600'),
    unanswered: run(command, ['1012RJ', '147'], key, 'http://127.0.0.1:1'),
  };
}

function endOf(file: string): WaitingRuns {
  const runs = waiting.get(file);
  if (!runs) throw new Error(`${file} was not run`);
  return runs;
}

/** Looks a huisnummer up that fails the first time. */
async function runFaulted(
  command: string[],
  huisnummer: number,
  fault: Error,
): Promise<Result & { failed: boolean }> {
  service.faults.next.set(huisnummer, fault);
  const result = await run(command, ['1012RJ', String(huisnummer)]);
  return { ...result, failed: !service.faults.next.has(huisnummer) };
}

async function runLimited(
  command: string[],
  retryAfter: string | null,
): Promise<Result & { waits: number[] }> {
  const limited = await startLimitedService(retryAfter);
  const result = await run(command, ['9999SD', '1'], key, limited.baseUrl);
  await limited.stop();
  return { ...result, waits: limited.waits };
}

/**
 * Answers 429 to the first request and `ok` to the next; `waits` are the milliseconds between them.
 * Without seconds it is the 429 of API Gateway itself.
 */
async function startLimitedService(retryAfter: string | null) {
  const waits: number[] = [];
  let last: number | undefined;
  const ok = {
    status: 'ok',
    address: { straat: 'Teststraat', woonplaats: 'Testdorp' },
    candidates: [],
  };
  const problem = {
    type: '/problems/quota-exceeded',
    title: 'Quota exceeded',
    status: 429,
    detail: 'Wait.',
  };
  const refusal = retryAfter === null ? { message: 'Too Many Requests' } : problem;
  const { url, stop } = await startHttpServer((_, response) => {
    const isFirst = last === undefined;
    if (last !== undefined) waits.push(performance.now() - last);
    last = performance.now();
    response.setHeader(
      'Content-Type',
      isFirst && retryAfter !== null ? 'application/problem+json' : 'application/json',
    );
    if (isFirst && retryAfter !== null) response.setHeader('Retry-After', retryAfter);
    response.writeHead(isFirst ? 429 : 200).end(JSON.stringify(isFirst ? refusal : ok));
  });
  return { baseUrl: url, waits, stop };
}

/** What curl prints is the answer itself. */
function describeAnswer(out: string): string {
  const answer = JSON.parse(out);
  const line = ({ straat, woonplaats }: { straat: string; woonplaats: string }) =>
    `${straat}, ${woonplaats}`;
  if (answer.status === 'ok') return line(answer.address);
  if (answer.status === 'ambiguous') return `several: ${answer.candidates.map(line).join('; ')}`;
  const existing = answer.toevoegingen.map((one: string | null) => one ?? 'none').join(', ');
  return existing ? `no such address; existing toevoegingen: ${existing}` : 'no such address';
}
