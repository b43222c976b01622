import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import {
  EngineMissingError,
  engineBinary,
  type GuardedProcess,
  startEngine,
  startGuarded,
} from '../../../local/engine/engine.ts';

const packageJson = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
);
const version = packageJson.optionalDependencies['@dynoxide/linux-x64'];

const reachable = (endpoint: string) =>
  fetch(endpoint).then(
    () => true,
    () => false,
  );

const untilUnreachable = async (endpoint: string) => {
  while (await reachable(endpoint)) await sleep(20);
};

/** A program that prints where it serves. */
const serving = `
const server = require('node:http').createServer((_, response) => response.end()).listen(0, '127.0.0.1', () =>
  console.error('http://127.0.0.1:' + server.address().port));`;

async function endpointOf({ errorOutput }: GuardedProcess): Promise<string> {
  while (!errorOutput().endsWith('\n')) await sleep(5);
  return errorOutput().trim();
}

describe('the embedded engine', () => {
  it('responds once it has started, several at once too, and has exited once it was stopped, even twice', async () => {
    const engines = await Promise.all([startEngine(), startEngine(), startEngine()]);
    expect(new Set(engines.map(({ endpoint }) => endpoint)).size).toBe(3);
    for (const { endpoint } of engines) expect(await reachable(endpoint)).toBe(true);
    await Promise.all([...engines, ...engines].map((engine) => engine.stop()));
    await Promise.all(engines.map(({ ended }) => ended));
    for (const { endpoint } of engines) expect(await reachable(endpoint)).toBe(false);
  });
});

describe.each([
  ['of the shell', true],
  ['of Node, where there is no /bin/sh', false],
])('the guard %s', (_, hasShell) => {
  const run = (program: string) => startGuarded(process.execPath, ['--eval', program], hasShell);

  it('passes on the exit code and the errors of its process, or says which program does not exist', async () => {
    const guarded = run("console.error('the disk is full'); process.exitCode = 7;");
    expect([await guarded.ended, guarded.errorOutput()]).toEqual([7, 'the disk is full\n']);
    const missing = startGuarded('/none/engine', [], hasShell);
    expect([await missing.ended, missing.errorOutput()]).toEqual([
      127,
      expect.stringContaining('/none/engine'),
    ]);
  });

  it('ends its process when it is stopped', async () => {
    const guarded = run(serving);
    const endpoint = await endpointOf(guarded);
    expect(await reachable(endpoint)).toBe(true);
    await Promise.all([guarded.stop(), guarded.stop()]);
    await untilUnreachable(endpoint);
  });

  it('ends its process when the one that started it is killed', async () => {
    const parent = spawn(process.execPath, [
      '--input-type=module-typescript',
      '--eval',
      `import { startGuarded } from '${new URL('../../../local/engine/engine.ts', import.meta.url)}';
       const guarded = startGuarded(process.execPath, ['--eval', ${JSON.stringify(serving)}], ${hasShell});
       setInterval(() => guarded.errorOutput().endsWith('\\n') && process.stdout.write(guarded.errorOutput()), 5);`,
    ]);
    const [chunk] = await once(parent.stdout, 'data');
    const [endpoint = ''] = String(chunk).split('\n');
    expect(await reachable(endpoint)).toBe(true);
    parent.kill('SIGKILL');
    await untilUnreachable(endpoint);
  });
});

describe('the binary of the engine', () => {
  const { platform, arch } = process;

  it('is refused in another version than the one in package.json, whose files an import writes', () => {
    expect(() => engineBinary(platform, arch, '9.9.9')).toThrow(
      `The embedded DynamoDB engine (@dynoxide/${platform}-${arch}) is version ${version}, not 9.9.9. Install it`,
    );
  });

  it.each([
    ['plan9', 'AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000 npm start'],
    ['win32', 'set AWS_ENDPOINT_URL_DYNAMODB=http://127.0.0.1:8000&& npm start'],
  ])(
    'is reported as missing on %s with the lines to paste there: the package, or another engine',
    (system, start) => {
      const lines = [
        `  npm install --no-save @dynoxide/${system}-mips@${version}`,
        '  docker run --detach --publish 127.0.0.1:8000:8000 amazon/dynamodb-local',
        `  ${start}`,
      ];
      expect(() => engineBinary(system, 'mips')).toThrow(EngineMissingError);
      expect(() => engineBinary(system, 'mips')).toThrow(lines.join('\n'));
    },
  );
});
