import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { CommanderError } from 'commander';
import { callersFolder } from '../../local/data-folder.ts';
import { misplacedOptionsText, startOptions } from '../../local/start-options.ts';
import { start } from '../support/start.ts';

const options = [
  { long: '--extract', required: true },
  { long: '--port', required: true },
  { long: '--fresh', required: false },
];
const advice = (args: string[], env: NodeJS.ProcessEnv) =>
  misplacedOptionsText(options, args, { npm_lifecycle_event: 'start', ...env });

describe('options without the "--" before them', () => {
  it.each([
    [['3001'], { npm_config_port: 'true' }, '--port 3001'],
    [[], { npm_config_port: '3001' }, '--port 3001'],
    [[], { npm_config_fresh: 'true' }, '--fresh'],
    [
      ['a.zip'],
      { npm_config_extract: 'true', npm_config_fresh: 'true' },
      '--extract a.zip --fresh',
    ],
    [['--fresh'], { npm_config_port: '3001' }, '--port 3001 --fresh'],
  ])('are reported with what to type: %j %j', (args, env, typed) => {
    expect(advice(args, env)).toMatch(new RegExp(`Type: npm start -- ${typed}$`));
  });

  it('are not reported when npm consumed none, or when npm is not involved', () => {
    expect(advice(['--port', '3001'], {})).toBeUndefined();
    expect(misplacedOptionsText(options, [], { npm_config_port: '3001' })).toBeUndefined();
  });

  it('end npm start with exit code 2, and --help, which describes each, does with 0', async () => {
    const { ended, output } = start([], { line: 'npm start --port 3001' });
    const help = start(['--help']);
    expect([await ended, await help.ended]).toEqual([2, 0]);
    expect(output()).toContain('Type: npm start -- --port 3001');
    for (const word of '--extract --objecten --allow-host --fresh --throttle AWS_ENDPOINT_URL_DYNAMODB'.split(
      ' ',
    )) {
      expect(help.output()).toContain(word);
    }
  });
});

describe('the options of npm start', () => {
  const help = 'See "npm start -- --help".';

  /** What reading these arguments writes, and the exit code that it asks for. */
  async function ended(args: string[]) {
    let printed = '';
    const writeErr = (text: string) => {
      printed += text;
    };
    const ending = await startOptions(args, {}, { writeErr }).catch(
      (error: CommanderError) => error,
    );
    return { exitCode: 'exitCode' in ending ? ending.exitCode : 0, printed };
  }

  it('have defaults, and are read with the paths made absolute', async () => {
    expect(await startOptions([], {})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      objecten: false,
      fresh: false,
    });
    const folder = callersFolder();
    const given =
      '--extract a.zip --mutations days --objecten --port 0 --host ::1 --allow-host A.lan --allow-host b --data d --fresh --throttle 5'.split(
        ' ',
      );
    expect(await startOptions(given, {})).toEqual({
      extract: join(folder, 'a.zip'),
      mutations: join(folder, 'days'),
      objecten: true,
      port: 0,
      host: '::1',
      allowHost: ['a.lan', 'b'],
      data: join(folder, 'd'),
      fresh: true,
      throttle: 5,
    });
  });

  it.each([
    [['--port=-1'], /A port is a number from 0 to 65535/],
    [['--port=65536'], /A port is a number from 0 to 65535/],
    [['--throttle=0'], /A throttle is a number of requests a second, from 1 to 10000/],
    [['--allow-host', 'http://a.lan'], /Use a host name without a scheme, a port or a path/],
    [['--extract', 'ftp://127.0.0.1/x.zip'], /Use a file, an http\(s\) URL or s3:/],
    [['--data='], /The value is empty; give one, or leave the option out/],
    [['--extract='], /The value is empty; give one, or leave the option out/],
    [['--mutations', 'days'], /--mutations needs --extract: mutations apply to an extract/],
    [['--nope'], /unknown option '--nope'/],
    [['--port'], /option '--port <number>' argument missing/],
    [
      ['--extract', 'a.zip', 'b.zip'],
      /"b.zip" follows no option. Each takes one value: npm start -- --extract FILE.zip/,
    ],
  ])(
    'are refused with a line and where to look further when one can’t be used: %j',
    async (args, message) => {
      const { exitCode, printed } = await ended(args);
      expect(exitCode).not.toBe(0);
      expect(printed.trim().split('\n')).toEqual([expect.stringMatching(message), help]);
    },
  );
});
