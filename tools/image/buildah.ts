import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import type { Engine } from './engine.ts';

const run = promisify(execFile);
const maxBuffer = 64 * 1024 * 1024;
const image = 'localhost/bag-adres-check';
const base = 'localhost/bag-adres-base';

/** The configuration of an image, as the OCI's specification names it. */
type Config = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  WorkingDir: string;
  Healthcheck: { Test: string[] };
};

/**
 * Buildah, and a container of namespaces that util-linux makes: neither needs an engine that runs. The base is made by
 * `debian-base`, once, as such machines reach no registry of images. Undefined where a program is missing, or root.
 */
export async function buildahEngine(context: string): Promise<Engine | undefined> {
  const programs = ['buildah', 'debootstrap', 'unshare'].map((program) => run('which', [program]));
  if (process.getuid?.() !== 0 || !(await Promise.all(programs).catch(() => undefined))) return undefined;
  const folder = mkdtempSync(join(tmpdir(), 'bag-adres-image-'));
  const data = join(folder, 'data');
  let container = '';
  return {
    name: 'buildah',
    build: async () => {
      const hasBase = await run('buildah', ['inspect', '--type', 'image', base]).catch(() => undefined);
      if (!hasBase) await run(join(import.meta.dirname, 'debian-base'), { maxBuffer });
      const options = ['--isolation', 'chroot', '--format', 'docker', '--layers=false', '--build-arg', `BASE=${base}`];
      await run('buildah', ['build', ...options, ...(await settings()), '--tag', image, context], { maxBuffer });
      container = (await run('buildah', ['from', image])).stdout.trim();
      const { stdout } = await run('buildah', ['inspect', '--type', 'image', '--format', '{{.Manifest}}', image]);
      const { layers } = JSON.parse(stdout) as { layers: { size: number }[] };
      return layers.reduce((sum, { size }) => sum + size, 0);
    },
    start: async () => {
      const root = (await run('buildah', ['mount', container])).stdout.trim();
      const config = await configOf(image);
      const [user = ''] = config.User.split(':').map(Number);
      if (!existsSync(data)) mkdirSync(data);
      chownSync(data, Number(user), Number(user));
      const port = await freePort();
      const inside = (command: string[]) => [
        root,
        data,
        config.User,
        config.WorkingDir,
        ...config.Env,
        '--',
        ...command,
      ];
      const script = join(import.meta.dirname, 'contained');
      // Process 1 of its own process namespace, as in a container: it gets no signal that it does not handle.
      const entrypoint = inside([...config.Entrypoint, '--port', String(port)]);
      const child = spawn('unshare', ['--mount', '--pid', '--fork', '--kill-child', script, ...entrypoint], {
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      let log = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
      const ended = once(child, 'exit');
      const processOne = async () => {
        const { stdout } = await run('pgrep', ['--parent', String(child.pid)]);
        return Number(stdout);
      };
      return {
        baseUrl: `http://127.0.0.1:${port}`,
        log: () => log,
        userId: async () => {
          const status = readFileSync(`/proc/${await processOne()}/status`, 'utf8');
          return Number(/^Uid:\s+(\d+)/m.exec(status)?.[1]);
        },
        isHealthy: async () => {
          // The port is another one here, since the network is the machine's.
          const command = config.Healthcheck.Test.slice(1).map((part) => part.replace(':3000', `:${port}`));
          return await run('unshare', ['--mount', script, ...inside(command)]).then(
            () => true,
            () => false,
          );
        },
        stop: async () => {
          process.kill(await processOne(), 'SIGTERM');
          const timer = setTimeout(() => child.kill('SIGKILL'), 10_000);
          const [code, signal] = await ended;
          clearTimeout(timer);
          return code ?? (signal === 'SIGKILL' ? 137 : 143);
        },
      };
    },
    clear: async () => {
      if (container) await run('buildah', ['rm', container]);
      await run('buildah', ['rmi', '--force', image]).catch(() => undefined);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** This machine's certificates and its settings of npm, so that the build reaches the same npm registry. */
async function settings(): Promise<string[]> {
  const { stdout } = await run('npm', ['config', 'get', 'globalconfig']);
  const volumes = [
    ['/etc/ssl/certs', '/etc/ssl/certs'],
    [stdout.trim(), '/usr/local/etc/npmrc'],
  ];
  return volumes.flatMap(([from = '', to]) => (existsSync(from) ? ['--volume', `${from}:${to}:ro`] : []));
}

async function configOf(name: string): Promise<Config> {
  const { stdout } = await run('buildah', ['inspect', '--type', 'image', '--format', '{{.Config}}', name]);
  return JSON.parse(stdout).config;
}
