import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Terminal } from '../../../../tools/judges/guides/terminal.ts';

const hasScript = spawnSync('script', ['--version'], { stdio: 'ignore' }).status === 0;

/** `script` gives a shell a terminal; systems without it skip these tests. */
(hasScript ? describe : describe.skip)('a piece of shell at a terminal', () => {
  let folder: string;
  let terminal: Terminal;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bag-adres-terminal-'));
    terminal = new Terminal(folder, join(folder, 'pieces'), {}, [[/name\? $/, 'Jan']]);
  });
  afterAll(async () => {
    terminal.end();
    await rm(folder, { recursive: true });
  });

  it('ends with the code of a command in it that failed, though others go on', async () => {
    expect(await terminal.run('true')).toMatchObject({ code: 0 });
    const { code, text } = await terminal.run('(exit 3)\necho goes on');
    expect(code).toBe(3);
    expect(text).toContain('goes on');
  });

  it('has the variables and functions of the pieces before it', async () => {
    await terminal.run('said=hello\ngreet() { echo "$said $1"; }');
    expect((await terminal.run('greet you')).text).toContain('hello you');
  });

  it('is asked at a terminal, and gets the answer to the question', async () => {
    const { text } = await terminal.run(
      'test -t 0 && test -t 1\nread -r -p \'Your name? \' name\necho "<$name>"',
    );
    expect(text).toContain('<Jan>');
  });

  it.each([
    [
      'ends by itself',
      "node -e \"process.on('SIGINT', () => process.exit()); setInterval(() => {}, 9e3); console.log('Ready.')\"",
    ],
    ['is ended by it', 'echo Ready.; sleep 600'],
  ])('goes on once it is ready until Ctrl-C, when it %s', async (_, shell) => {
    await terminal.run(`said=hello\n${shell}`, /Ready\./);
    await terminal.interrupt();
    expect((await terminal.run('echo "$said again"')).text).toContain('hello again');
  });

  it('shows megabytes', async () => {
    const { code, text } = await terminal.run("head -c 3000000 /dev/zero | tr '\\0' x; echo");
    expect(code).toBe(0);
    expect(text.length).toBeGreaterThan(3_000_000);
  });
});
