import { generateKeyPairSync } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { createAdmin } from '../../packages/admin/admin.ts';
import { february, january, voorkomensOf } from '../loader/steps/months.ts';
import { run, runWith, startLocalRun } from '../operator/command-line.ts';
import { folderForNow } from '../support/folder-for-now.ts';
import { startForTests } from '../support/start-for-tests.ts';
import { writeExtract } from '../support/write-extract.ts';

const bench = startForTests(startLocalRun);
/** Where the examples are typed; holds the extract that one of them names. */
const folder = folderForNow('bag-adres-examples-');
let examples: string[][];

beforeAll(async () => {
  for (const month of [january, february]) {
    const file = join(folder, 'lvbag-extract-nl.zip');
    await writeFile(file, await writeExtract(month.peildatum, voorkomensOf(month)));
    expect(await bench.run('load', 'run', '--extract', file)).toMatchObject({ exit: 0 });
  }
  // The examples name months of the past.
  const client = DynamoDBDocumentClient.from(bench.client);
  const past = createAdmin({ client, table: 'accounts', now: () => Date.UTC(2026, 8, 1) });
  await past.plans.put({ code: 'old', limits: { month: null } });
  await past.accounts.create({ id: 'old', plan: 'old' });
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  await writeFile(
    join(folder, 'backup-public.pem'),
    publicKey.export({ type: 'spki', format: 'pem' }),
  );
  examples = await collectExamples([]);
});

/** The words of a command line, as a shell splits them. */
const wordsOf = (text: string) =>
  (text.match(/(?:"[^"]*"|\S)+/g) ?? []).map((word) => word.replaceAll('"', ''));

/**
 * The arguments of every example in the help of a command and its subcommands, in the order of the
 * help, if it takes a location: `test/operator/cli/settings-commands.test.ts` and `test/smoke` run
 * the others.
 */
async function collectExamples(command: string[]): Promise<string[][]> {
  const { out } = await run([...command, '--help']);
  const [, subcommands = ''] = /\nCommands:\n([\s\S]*?)(?:\n\n|$)/.exec(out) ?? [];
  const names = [...subcommands.matchAll(/^ {2}([a-z][a-z-]*)/gm)].map(([, name]) => `${name}`);
  const isLocated = names.length > 0 || out.includes('  --local ');
  const own = isLocated
    ? [...out.matchAll(/^ {2}npx bag-adres (.+)$/gm)].map(([, text]) => wordsOf(`${text}`))
    : [];
  const below = [];
  for (const name of names.filter((name) => name !== 'help')) {
    below.push(...(await collectExamples([...command, name])));
  }
  return [...own, ...below];
}

describe('the examples in --help', () => {
  it('exist for many commands, each with its tables', () => {
    expect(examples.length).toBeGreaterThan(10);
    for (const example of examples) {
      expect(example.join(' ')).toMatch(/ --(?:local|stage (?:prod|test)|accounts-table \w+)\b/);
    }
  });

  it('run as printed on a local service', async () => {
    // `usage-commands.test.ts` and `audit-commands.test.ts` in `test/operator/cli` run those for a
    // month with usage.
    const isOfMonth = (example: string[]) =>
      ['usage statement', 'audit export'].includes(example.slice(0, 2).join(' '));
    const local = examples.filter((example) => example.includes('--local') && !isOfMonth(example));
    expect(local.length).toBeGreaterThan(6);
    const env = { INIT_CWD: folder };
    const done = new Set<string>();
    for (const example of local) {
      if (done.has(example.join(' '))) continue;
      done.add(example.join(' '));
      const { exit, err } = await run([...example, '--data', bench.data], env);
      expect([example.join(' '), exit, err]).toEqual([
        example.join(' '),
        0,
        expect.not.stringContaining('bag-adres:'),
      ]);
    }
  });

  it('are valid usage for a deployment', async () => {
    const deployed = examples.filter((example) => example.includes('--stage'));
    expect(deployed.length).toBeGreaterThan(2);
    for (const example of new Set(deployed.map((example) => example.join(' ')))) {
      // Without a region each stops before it reads anything.
      const { exit, err, out } = await runWith(example.split(' '));
      expect([example, exit, `${err}${out}`]).toEqual([
        example,
        1,
        expect.stringMatching(/region/),
      ]);
    }
  });
});
