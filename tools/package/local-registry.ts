import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { freePort } from '../../test/support/free-port.ts';
import { installPackageTools } from './package-tools.ts';

const run = promisify(execFile);

/** A registry of npm on this machine. */
export type LocalRegistry = {
  /** The variables with which npm installs from it. */
  variables: NodeJS.ProcessEnv;
  publish: (packed: string) => Promise<void>;
  stop: () => Promise<void>;
};

/**
 * Starts Verdaccio, which has what is published to it and passes on everything else from the
 * registry of this machine. Undefined where that registry does not answer.
 */
export async function startRegistry(folder: string): Promise<LocalRegistry | undefined> {
  const tools = await installPackageTools();
  if (!tools) return undefined;
  mkdirSync(folder, { recursive: true });
  const [upstream, certificates] = await Promise.all(['registry', 'cafile'].map(setting));
  writeFileSync(
    join(folder, 'config.yaml'),
    `storage: ./storage
uplinks:
  upstream: { url: '${upstream}', maxage: 60m }
packages:
  'bag-adres*': { access: $all, publish: $all, unpublish: $all }
  '**': { access: $all, proxy: upstream }
log: { type: stdout, format: pretty, level: warn }
`,
  );
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/`;
  const child = spawn(
    join(tools, 'verdaccio'),
    ['--config', join(folder, 'config.yaml'), '--listen', url],
    {
      env: {
        ...process.env,
        ...(certificates !== 'null' && { NODE_EXTRA_CA_CERTS: certificates }),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let log = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (log += chunk));
  while (
    !(await fetch(`${url}-/ping`).then(
      ({ ok }) => ok,
      () => false,
    ))
  ) {
    if (child.exitCode !== null) throw new Error(`Verdaccio ended:\n${log}`);
    await sleep(200);
  }
  // npm publishes with a token only; this registry asks nobody for one.
  const variables = {
    npm_config_registry: url,
    [`npm_config_//127.0.0.1:${port}/:_authToken`]: 'none',
  };
  return {
    variables,
    publish: async (packed) => {
      await run('npm', ['publish', packed, '--access', 'public', '--ignore-scripts'], {
        cwd: folder,
        env: { ...process.env, ...variables },
      });
    },
    stop: () => stop(child),
  };
}

async function setting(name: string): Promise<string> {
  return (await run('npm', ['config', 'get', name])).stdout.trim();
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null) return;
  child.kill();
  await once(child, 'exit');
}
