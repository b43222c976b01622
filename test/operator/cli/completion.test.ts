import { spawnSync } from 'node:child_process';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { run } from '../command-line.ts';

describe('completion', () => {
  const scripts: Record<string, string> = {};
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

  it.each([
    ['bag-adres acc', ['account']],
    ['npx bag-adres key r', ['rename', 'rotate', 'revoke']],
    ['npx bag-adres key revoke --ye', ['--yes']],
    ['npx bag-adres key revoke k3yId123 --account acme --pl', ['--plan']],
    ['npx bag-adres rest', ['restore']],
    ['npx bag-adres restore lost-', ['lost-account', 'lost-region']],
    ['npx --vers', []],
    ['npx jest --', []],
  ])('offers in bash after "%s" %j', (line, expected) => {
    expect(offered(line)).toEqual(expected);
  });

  it('in zsh is that of bash, and in fish has the same words', () => {
    expect(scripts.zsh).toBe(`autoload -U +X bashcompinit && bashcompinit\n${scripts.bash}`);
    expect(scripts.fish).toMatch(/= '\/key revoke'" -a '--account --plan --yes /);
  });

  it.each([...['zsh', 'fish']])('has a script that %s reads, where it is installed', (shell) => {
    const { error, status, stderr } = spawnSync(shell, ['-n'], { input: scripts[shell] ?? '', encoding: 'utf8' });
    if (error) return;
    expect([status, stderr]).toEqual([0, '']);
  });

  it('is refused for another shell', async () => {
    expect(await run(['completion', 'cmd'])).toMatchObject({
      exit: 2,
      err: expect.stringContaining('bash, zsh, fish'),
    });
  });
});
