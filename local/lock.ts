import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rm } from 'node:fs/promises';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';

/** Another process that is still running holds the lock. */
export class LockHeldError extends Error {
  override name = 'LockHeldError';
  readonly pid: number;

  constructor(file: string, pid: number) {
    super(`${file} is held by process ${pid}`);
    this.pid = pid;
  }
}

/**
 * Takes the lock that the path `file` names and gives what releases it. Who holds it listens at an address made from the
 * path, and tells its process id there: the system lets one process listen, and frees the address when that one is gone,
 * however it went.
 * @throws LockHeldError
 */
export async function acquireLock(file: string): Promise<() => Promise<void>> {
  const address = addressOf(file);
  for (;;) {
    const server = await listen(address);
    if (server) return () => close(server);
    const pid = await askHolder(address);
    if (pid !== undefined) throw new LockHeldError(file, pid);
    // Only where addresses are files does one outlive its process.
    if (!isFreedBySystem) await rm(address, { force: true });
  }
}

const isFreedBySystem = process.platform === 'linux' || process.platform === 'win32';

/** Abstract on Linux, a pipe on Windows, elsewhere a socket in the folder for temporary files. */
function addressOf(file: string): string {
  const name = `bag-adres-${createHash('sha256').update(resolve(file)).digest('hex').slice(0, 32)}`;
  if (process.platform === 'linux') return `\0${name}`;
  return process.platform === 'win32' ? `\\\\.\\pipe\\${name}` : join(tmpdir(), name);
}

async function listen(address: string): Promise<Server | undefined> {
  const server = createServer((socket) => socket.on('error', () => undefined).end(`${process.pid}`)).unref();
  server.listen(address);
  try {
    await once(server, 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}

async function close(server: Server): Promise<void> {
  server.close();
  await once(server, 'close');
}

/** The process that holds the lock, or nothing where it is gone by now. */
async function askHolder(address: string): Promise<number | undefined> {
  const pid = Number(await text(connect(address)).catch(() => ''));
  return pid > 0 ? pid : undefined;
}
