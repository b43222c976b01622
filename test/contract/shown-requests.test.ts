import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { languages } from '../../core/languages.ts';
import { readLocalState } from '../../local/data-folder.ts';
import { administer } from '../../tools/local-run.ts';
import { validationExample } from '../../tools/openapi/answers.ts';
import { readyText, type Start, start } from '../support/start.ts';

/** A request as a page shows it, with the answer that the page shows below it. */
type Shown = { command: string; answer: string };

/** What a reader tries first: the demo that `npm start` serves. */
describe('a request that is shown', () => {
  let demo: Start;
  let data: string;
  let baseUrl: string;
  let key: string;

  beforeAll(async () => {
    data = await mkdtemp(join(tmpdir(), 'bag-adres-shown-'));
    demo = start(['--port', '0', '--data', data]);
    await demo.until(readyText);
    const state = await readLocalState(data);
    ({ baseUrl } = state);
    // The key whose validation the page shows.
    key = await administer(state, async ({ plans, accounts, keys }) => {
      await plans.put({ code: 'standard', limits: validationExample.limits });
      await accounts.create({ id: 'shown', plan: 'standard' });
      return (await keys.create({ account: 'shown', label: 'webshop' })).key;
    });
  });
  afterAll(async () => {
    demo.child.kill('SIGINT');
    await demo.ended;
    await rm(data, { recursive: true });
  });

  /** Sends what a command of curl sends. */
  async function sent(command: string): Promise<unknown> {
    const [, url = ''] = /"([^"]*\/v1\/[^"]*)"/.exec(command) ?? [];
    const [, method] = /-X (\w+)/.exec(command) ?? [];
    const [, body] = /-d '([^']*)'/.exec(command) ?? [];
    const named = [...command.matchAll(/-H "([\w-]+): ([^"]*)"/g)];
    const headers = named.map(([, name = '', value = '']): [string, string] => [
      name,
      value.replace(/YOUR_KEY|\$BAG_ADRES_KEY/, key),
    ]);
    const target = url.replace('$BAG_ADRES_URL', baseUrl);
    const response = await fetch(target, {
      headers,
      ...(method && { method }),
      ...(body && { body }),
    });
    return response.json();
  }

  /** The answer, without the id that each request has of its own. */
  const compared = (answer: unknown) => ({ ...(answer as object), request_id: '' });

  it.each(languages)(
    'in /docs?lang=%s gets the answer that is shown below it',
    async (language) => {
      const page = await (await fetch(`${baseUrl}/docs?lang=${language}`)).text();
      const shown = pairsIn(page);
      expect(shown.length).toBeGreaterThan(7);
      for (const { command, answer } of shown) {
        expect([command, compared(await sent(command))]).toEqual([
          command,
          compared(JSON.parse(answer)),
        ]);
      }
    },
  );

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

/** The requests of a page with an answer, as a reader copies them. */
function pairsIn(page: string): Shown[] {
  const pattern =
    /<figure class="sample request">.*?<code>([\s\S]*?)<\/code><\/pre><\/figure>\s*<figure class="sample response">.*?<code>([\s\S]*?)<\/code>/g;
  return [...page.matchAll(pattern)].map(([, command = '', answer = '']) => ({
    command: textOf(command),
    answer: textOf(answer),
  }));
}

function textOf(html: string): string {
  return html
    .replace(/<[^>]*>/g, '')
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
