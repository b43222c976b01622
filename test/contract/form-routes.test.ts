import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { newAccount } from '../support/address-service.ts';
import { startBrokenService } from '../support/broken-service.ts';
import { startHttpService } from '../support/http-service.ts';
import { runs } from '../support/programs.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { sweep } from '../support/sweep.ts';

const folder = fileURLToPath(new URL('../../packages/form/', import.meta.url));

/** How the route of a language is asked with a query, which it prints the answer of. */
const routes: [
  language: string,
  command: (query: string) => [program: string, ...options: string[]],
][] = [
  [
    'Node',
    (query) => {
      const lookUp = `console.log(JSON.stringify(await lookUp(new URLSearchParams('${query}'), console.error)))`;
      return [
        process.execPath,
        '--input-type=module',
        '-e',
        `import { lookUp } from './routes/node.js'; ${lookUp}`,
      ];
    },
  ],
  [
    'PHP',
    (query) => {
      const script = `parse_str('${query}', $_GET); require 'routes/route.php';`;
      return ['php', '-d', 'arg_separator.output=&amp;', '-r', script];
    },
  ],
  [
    'Python',
    (query) => {
      const path = "import json, sys; sys.path.insert(0, 'routes'); import route";
      return ['python3', '-c', `${path}; print(json.dumps(route.look_up('${query}')))`];
    },
  ],
];

const service = startForTests(startHttpService);
const broken = startForTests(startBrokenService);
let key: string;

beforeAll(async () => {
  ({ key } = await newAccount(service, { minute: 1000 }));
});

async function ask([command = '', ...options]: string[], env: Record<string, string> = {}) {
  const own = {
    BAG_ADRES_URL: `${service.baseUrl}/`,
    BAG_ADRES_KEY: key,
    PYTHONDONTWRITEBYTECODE: '1',
  };
  const { stdout, stderr } = await promisify(execFile)(command, options, {
    cwd: folder,
    env: { ...process.env, ...own, ...env },
  });
  return { answer: JSON.parse(stdout), logged: stderr };
}

describe.each(sweep(routes, 1))('the route in %s', (language, command) => {
  const isHere = runs(command('')[0], '--version');
  const withIt = isHere ? it : it.skip;
  const because = isHere ? '' : ` (skipped: no ${language} on this machine)`;
  const query = command('postcode=1012RJ&huisnummer=147&toevoeging=');

  withIt(`answers with the lookup, and with what is wrong with the input${because}`, async () => {
    // One after the other: a route waits for three seconds, which a busy machine needs for many
    // processes.
    const found = await ask(query);
    const unknown = await ask(command('postcode=9999SD&huisnummer=2&toevoeging='));
    const wrong = await ask(command('postcode=9999SD&huisnummer=2b&toevoeging='));
    expect(found.answer).toMatchObject({
      status: 'ok',
      address: { straat: 'Nieuwezijds Voorburgwal' },
    });
    expect(unknown.answer).toMatchObject({ status: 'not_found', toevoegingen: ['A', 'B'] });
    expect(wrong.answer).toMatchObject({
      status: 'invalid',
      errors: [{ parameter: 'huisnummer' }],
    });
  });

  withIt(`lets people type for any other answer, and logs why${because}`, async () => {
    const [refused, away] = await Promise.all([
      ask(query, { BAG_ADRES_KEY: 'bagadres_wrong' }),
      ask(query, { BAG_ADRES_URL: 'http://127.0.0.1:1' }),
    ]);
    expect([refused.answer, away.answer]).toEqual([
      { status: 'unavailable' },
      { status: 'unavailable' },
    ]);
    expect(refused.logged).toContain('The lookup failed with status 401.');
    expect(away.logged).toContain('The lookup failed');
  });

  withIt(
    `finds the address with white space around the key and the base URL${because}`,
    async () => {
      for (const file of sweep([` ${key}\t`, `${key}\n`, `${key}\r\n`], 1)) {
        const { answer, logged } = await ask(query, {
          BAG_ADRES_KEY: file,
          BAG_ADRES_URL: `${service.baseUrl}\n`,
        });
        expect([answer, logged]).toEqual([expect.objectContaining({ status: 'ok' }), '']);
      }
    },
  );

  withIt(
    `answers "unavailable" with what to set, and logs no part of the key, for any other value${because}`,
    async () => {
      const values = [
        `${key}\n${key}`,
        `${key.slice(0, 20)}\n${key.slice(20)}`,
        `${key}\u0001`,
        `${key}\u20ac`,
        `"${key}"`,
        '',
      ].map((value) => ({ BAG_ADRES_KEY: value }));
      const results = sweep([...values, { BAG_ADRES_URL: '' }, { BAG_ADRES_URL: ' \n' }], 4).map(
        async (env) => ({
          env,
          ...(await ask(query, env)),
        }),
      );
      for (const { env, answer, logged } of await Promise.all(results)) {
        expect([env, answer]).toEqual([env, { status: 'unavailable' }]);
        expect(logged).toContain('Set BAG_ADRES_URL and BAG_ADRES_KEY');
        expect(logged).not.toContain(key.slice(-12));
      }
    },
  );

  withIt(
    `answers "unavailable" for a response that is none, and takes the key nowhere else${because}`,
    async () => {
      const urls = [
        ...broken.urls,
        ...sweep(['no-url', 'http://', 'http://127.0.0.1:99999', 'http://[::1'], 1),
      ];
      for (const { url, answer, logged } of await Promise.all(
        urls.map(async (url) => ({ url, ...(await ask(query, { BAG_ADRES_URL: url })) })),
      )) {
        expect([url, answer, logged]).toEqual([
          url,
          { status: 'unavailable' },
          expect.stringMatching(/The lookup failed|Set BAG_ADRES_URL/),
        ]);
        expect(logged).not.toContain(key.slice(-12));
      }
      expect(broken.redirected()).toBe(0);
    },
  );
});

describe('the script of the form element', () => {
  it('stays under 9,000 bytes when it is compressed', () => {
    expect(gzipSync(readFileSync(`${folder}bag-adres-form.js`)).length).toBeLessThan(9_000);
  });
});
