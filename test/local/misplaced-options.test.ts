import { describe, expect, it } from '@jest/globals';
import { misplacedOptionsText } from '../../local/messages.ts';
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
    [['a.zip'], { npm_config_extract: 'true', npm_config_fresh: 'true' }, '--extract a.zip --fresh'],
    [['--fresh'], { npm_config_port: '3001' }, '--port 3001 --fresh'],
  ])('are reported with what to type: %j %j', (args, env, typed) => {
    expect(advice(args, env)).toMatch(new RegExp(`Type: npm start -- ${typed}$`));
  });

  it('are not reported when npm consumed none, or when npm is not involved', () => {
    expect(advice(['--port', '3001'], {})).toBeUndefined();
    expect(misplacedOptionsText(options, [], { npm_config_port: '3001' })).toBeUndefined();
  });

  it('end npm start with exit code 2', async () => {
    const { ended, output } = start(['--port', '3001'], { npm: true, separator: false });
    expect(await ended).toBe(2);
    expect(output()).toContain('Type: npm start -- --port 3001');
  });
});
