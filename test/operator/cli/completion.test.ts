import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { folderForNow } from '../../support/folder-for-now.ts';
import { run } from '../command-line.ts';

describe('completion', () => {
  const scripts: Record<string, string> = {};
  const folder = folderForNow('bag-adres-completion-');
  beforeAll(async () => {
    for (const shell of ['bash', 'zsh', 'fish']) scripts[shell] = (await run(['completion', shell])).out;
  });

  /** What bash offers after a line. */
  function offered(line: string): string[] {
    const words = line.split(' ').map((word) => `'${word}'`);
    const asked = `COMP_WORDS=(${words.join(' ')}); COMP_CWORD=${words.length - 1}; _bag_adres; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr } = spawnSync('bash', ['-c', `${scripts.bash}\n${asked}`], { encoding: 'utf8' });
    expect(stderr).toBe('');
    return stdout.split('\n').filter(Boolean);
  }

  const lines: [string, string[]][] = [
    ['bag-adres acc', ['account']],
    ['npx bag-adres key r', ['rename', 'rotate', 'revoke']],
    ['npx bag-adres key revoke --ye', ['--yes']],
    ['npx bag-adres key revoke k3yId123 --account acme --pl', ['--plan']],
    ['npx bag-adres rest', ['restore']],
    ['npx bag-adres restore lost-', ['lost-account', 'lost-region']],
    ['npx --vers', []],
    ['npx jest --', []],
  ];

  it.each(lines)('offers in bash after "%s" %j', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  it('in zsh is that of bash', () => {
    expect(scripts.zsh).toBe(`autoload -U +X bashcompinit && bashcompinit\n${scripts.bash}`);
    const { error, status, stderr } = spawnSync('zsh', ['-n'], { input: scripts.zsh ?? '', encoding: 'utf8' });
    if (!error) expect([status, stderr]).toEqual([0, '']);
  });

  it.each(lines)('offers in fish after "%s" %j, where it is installed', (line, expected) => {
    expect(scripts.fish).toMatch(/= '\/key revoke'" -a '--account /);
    const file = join(folder, 'completion.fish');
    writeFileSync(file, scripts.fish ?? '');
    const asked = ['--no-config', '-c', `source ${file}; complete -C '${line}'`];
    const { error, stdout } = spawnSync('fish', asked, { cwd: folder, encoding: 'utf8' });
    // It adds files, and options of others by their own scripts.
    if (!error && expected.length > 0)
      expect(stdout.split('\n').filter((word) => word && word !== 'completion.fish')).toEqual(expected.toSorted());
  });

  it('is refused for another shell', async () => {
    expect(await run(['completion', 'cmd'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
