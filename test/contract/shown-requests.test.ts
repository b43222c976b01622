import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Limits } from '../../core/accounts/quota.ts';
import { languages } from '../../core/languages.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { administer } from '../../tools/local-run.ts';
import { validationExample } from '../../tools/openapi/answers.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { htmlText } from '../support/html-text.ts';
import { python, runs } from '../support/programs.ts';
import { readyText, type Start, start } from '../support/start.ts';
import { isFullSweep, sweep } from '../support/sweep.ts';

/** A request as a page shows it, in a language, with the answer that the page shows below it. */
type Shown = { label: string; source: string; answer: string };

/** What a reader tries first: the demo that `npm start` serves. */
describe('a request that is shown', () => {
  let demo: Start;
  let data: string;
  let baseUrl: string;
  /** The key whose validation the page shows, and one without a limit for all other requests. */
  let validated: string;
  let unlimited: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'bag-adres-shown-'));
    demo = start(['--port', '0', '--data', data]);
    await demo.until(readyText);
    const state = await readLocalState(data);
    ({ baseUrl } = state);
    [validated, unlimited] = await administer(state, async ({ plans, accounts, keys }) => {
      const keyOf = async (plan: string, limits: Limits) => {
        await plans.put({ code: plan, limits });
        await accounts.create({ id: plan, plan });
        return (await keys.create({ account: plan, label: 'webshop' })).key;
      };
      return [
        await keyOf('standard', validationExample.limits),
        await keyOf('unlimited', { minute: null }),
      ];
    });
  });
  afterAll(async () => {
    demo.child.kill('SIGINT');
    await demo.ended;
    await rm(data, { recursive: true });
  });

  /** However fast the tests are, none uses up a minute: validation is free. */
  const keyFor = (source: string) => (source.includes('/v1/auth/validate') ? validated : unlimited);

  /** Sends what a command of curl sends. */
  async function sent(command: string): Promise<unknown> {
    const [, url = ''] = /"([^"]*\/v1\/[^"]*)"/.exec(command) ?? [];
    const [, body] = /-d '([^']*)'/.exec(command) ?? [];
    const named = [...command.matchAll(/-H "([\w-]+): ([^"]*)"/g)];
    const headers = named.map(([, name = '', value = '']): [string, string] => [
      name,
      value.replace(/YOUR_KEY|\$BAG_ADRES_KEY/, keyFor(url)),
    ]);
    const target = url.replace('$BAG_ADRES_URL', baseUrl);
    const response = await fetch(target, {
      headers,
      ...(body && { method: 'POST', body }),
    });
    return response.json();
  }

  /** The answer, without the id that each request has of its own. */
  const compared = (answer: unknown) => ({ ...(answer as object), request_id: '' });

  it.each(languages)(
    'in /docs?lang=%s gets the answer that is shown below it',
    async (language) => {
      const page = await (await fetch(`${baseUrl}/docs?lang=${language}`)).text();
      const shown = requestsIn(page).filter(({ source }) => source.startsWith('curl '));
      expect(shown.length).toBeGreaterThan(9);
      for (const { source, answer } of shown) {
        expect([source, compared(await sent(source))]).toEqual([
          source,
          compared(JSON.parse(answer)),
        ]);
      }
    },
  );

  describe('as a program of /docs', () => {
    /** How a program is run from a file of that name, and what is there if its language is. */
    const commands: Record<string, [file: string, toRun: string[], toFindIt: [string, string]]> = {
      curl: ['lookup.sh', ['sh'], ['curl', '--version']],
      JavaScript: ['lookup.mjs', [process.execPath], [process.execPath, '--version']],
      Python: ['lookup.py', [python], [python, '--version']],
      PHP: ['lookup.php', ['php'], ['php', '--version']],
      Java: ['Lookup.java', ['java'], ['javac', '--version']],
      Go: ['lookup.go', ['go', 'run'], ['go', 'version']],
      'C#': ['lookup.cs', ['dotnet', 'run'], ['dotnet', '--version']],
    };
    const sources = folderForNow('bag-adres-programs-');

    async function run(label: string, source: string, apiKey: string, name: string) {
      const [file = '', [program = '', ...options] = []] = commands[label] ?? [];
      await mkdir(join(sources, label, name), { recursive: true });
      const path = join(sources, label, name, file);
      await writeFile(path, source);
      const env = { ...process.env, BAG_ADRES_KEY: apiKey };
      return await new Promise<{ hasFailed: boolean; out: string; error: string }>((resolve) => {
        execFile(program, [...options, path], { env }, (failure, out, error) => {
          resolve({ hasFailed: failure !== null, out, error });
        });
      });
    }

    for (const label of Object.keys(commands)) {
      const [, , toFindIt = ['', '']] = commands[label] ?? [];
      const isRun = isFullSweep || !['Java', 'Go', 'C#'].includes(label);
      const isHere = isRun && runs(...toFindIt);
      const because = isHere
        ? ''
        : ` (skipped: ${isRun ? `${toFindIt[0]} is not on this machine` : 'only in a full sweep'})`;
      (isHere ? it : it.skip)(
        `in ${label} prints what the answer below it says, or why there is none${because}`,
        async () => {
          const page = await (await fetch(`${baseUrl}/docs`)).text();
          const shown = requestsIn(page).filter((one) => one.label === label);
          expect(shown.length).toBeGreaterThan(9);
          const printsAll = ['curl', 'Java', 'Go'].includes(label);
          // A program that differs from another in its query alone runs once; curl has every query.
          const forms = new Map(
            shown.map((one) => [one.source.replace(/\?postcode=[^'"]*/, ''), one]),
          );
          const asked = label === 'curl' ? shown : forms.values();
          for (const [index, { source, answer }] of sweep([...asked].entries(), 1)) {
            const { request_id: _, ...told } = JSON.parse(answer);
            const { hasFailed, out, error } = await run(
              label,
              source,
              keyFor(source),
              String(index),
            );
            const printed = wordsOf(printsAll ? out + error : out);
            expect([source, hasFailed, printed.length > 0]).toEqual([
              source,
              printsAll && 'errors' in told,
              true,
            ]);
            const words = wordsOf(JSON.stringify(told));
            const [inner, outer] = printsAll
              ? [words, printed]
              : [printed, words.concat(wordsOfPrograms)];
            expect([source, inner.filter((word) => !outer.includes(word))]).toEqual([source, []]);
          }
          const [{ source } = { source: '' }] = shown;
          const refused = await run(label, source, 'bagadres_no_key', 'refused');
          expect([refused.hasFailed, refused.out + refused.error]).toEqual([
            true,
            expect.stringContaining('Send a valid API key'),
          ]);
        },
      );
    }
  });

  it('in docs/api.md gets the answer that is shown below it, or an address for each that it names', async () => {
    const page = await readFile('docs/api.md', 'utf8');
    const blocks = [...page.matchAll(/^```(\w*)\n([\s\S]*?)^```\n/gm)].map(
      ([, kind, text = '']) => {
        return { kind, text };
      },
    );
    const commands = blocks.filter(({ text }) => text.startsWith('curl'));
    expect(commands.length).toBe(2);
    const [first, many] = commands;
    const below = blocks[blocks.findIndex(({ text }) => text === first?.text) + 1];
    expect(await sent(first?.text ?? '')).toEqual(JSON.parse(below?.text ?? ''));
    const { results } = (await sent(many?.text ?? '')) as { results: { status: string }[] };
    expect(results.map(({ status }) => status)).toEqual(['ok', 'ok']);
  });

  it('in docs/examples has the outcome that the page says', async () => {
    const page = await readFile('docs/examples/README.md', 'utf8');
    const statuses = async (pattern: RegExp) => {
      const asked = [...page.matchAll(pattern)].map(
        ([, postcode = '', huisnummer = '', toevoeging = '']) =>
          sent(
            `-H "X-API-Key: YOUR_KEY" "${baseUrl}/v1/address?postcode=${postcode}&huisnummer=${huisnummer}&toevoeging=${toevoeging}"`,
          ) as Promise<{ status: string }>,
      );
      return (await Promise.all(asked)).map(({ status }) => status);
    };
    const ofCommands = await statuses(/^\w.* (\d{4}[A-Z]{2}) (\d+)(?: ([A-Z]))?(?= >|$)/gm);
    expect(ofCommands.length).toBeGreaterThan(5);
    expect(new Set(ofCommands)).toEqual(new Set(['ok']));
    expect(await statuses(/`(\d{4}[A-Z]{2}) (\d+)`/g)).toEqual(['ok', 'not_found', 'ambiguous']);
  });
});

/** The requests of a page, in each language, with the next answer on it. */
function requestsIn(page: string): Shown[] {
  const pattern =
    /<figure class="sample (request|response)"><figcaption>(.*?)<\/figcaption><pre.*?><code>([\s\S]*?)<\/code>/g;
  const found: Shown[] = [];
  let open: { label: string; source: string }[] = [];
  for (const [, kind, label = '', code = ''] of page.matchAll(pattern)) {
    const text = htmlText(code);
    if (kind === 'request') open.push({ label, source: text });
    else {
      found.push(...open.map((one) => ({ ...one, answer: text })));
      open = [];
    }
  }
  return found;
}

/** What programs print for `null` and for a list, in place of what JSON has. */
const wordsOfPrograms = ['None', 'Array'];

/** Names and values, however a language prints what is around them. */
function wordsOf(text: string): string[] {
  return text.match(/[\w-]+/g) ?? [];
}
