import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import type { Engine } from './engine.ts';

const run = promisify(execFile);
const name = 'bag-adres-check';

/** Docker's engine, or undefined where none answers. */
export async function dockerEngine(context: string): Promise<Engine | undefined> {
  const answers = await run('docker', ['info']).catch(() => undefined);
  if (!answers) return undefined;
  return {
    name: 'Docker',
    build: async () => {
      await run('docker', ['build', '--tag', name, context], { maxBuffer: 64 * 1024 * 1024 });
      const { stdout } = await run('docker', ['image', 'inspect', '--format', '{{.Size}}', name]);
      return Number(stdout);
    },
    start: async () => {
      const options = [
        '--rm',
        '--read-only',
        '--tmpfs',
        '/tmp',
        '--publish',
        '127.0.0.1::3000',
        '--volume',
        `${name}:/data`,
      ];
      const child = spawn('docker', ['run', '--name', name, ...options, name], { stdio: ['ignore', 'pipe', 'pipe'] });
      let log = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
      const ended = once(child, 'exit');
      const inContainer = async (...command: string[]) => (await run('docker', ['exec', name, ...command])).stdout;
      const address = async (): Promise<string> =>
        await run('docker', ['port', name, '3000/tcp']).then(({ stdout }) => stdout.trim(), address);
      return {
        baseUrl: `http://${await address()}`,
        log: () => log,
        userId: async () => Number(await inContainer('id', '-u')),
        isHealthy: async () => {
          const { stdout } = await run('docker', ['inspect', '--format', '{{json .Config.Healthcheck.Test}}', name]);
          const [, ...command] = JSON.parse(stdout);
          return await inContainer(...command).then(
            () => true,
            () => false,
          );
        },
        stop: async () => {
          await run('docker', ['stop', '--time', '10', name]);
          const [code] = await ended;
          return code;
        },
      };
    },
    clear: async () => {
      await run('docker', ['rm', '--force', name]).catch(() => undefined);
      await run('docker', ['volume', 'rm', '--force', name]);
      await run('docker', ['image', 'rm', '--force', name]);
    },
  };
}
