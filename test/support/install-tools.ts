import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { isOffline } from './registry.ts';

/**
 * Installs the packages of `manifests`, a folder with a package.json, a lock file and perhaps an
 * `.npmrc`, into `folder`, without their install scripts. Returns whether the registry or npm's
 * cache had them. Installs nothing twice. Processes that do it at once each install a folder of
 * their own; one of them becomes `folder`.
 */
export async function installTools(manifests: string, folder: string): Promise<boolean> {
  const lock = readFileSync(join(manifests, 'package-lock.json'), 'utf8');
  const installed = join(folder, 'installed.json');
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) return true;
  const own = `${folder}-${process.pid}`;
  mkdirSync(own, { recursive: true });
  for (const name of ['package.json', '.npmrc']) {
    if (existsSync(join(manifests, name))) cpSync(join(manifests, name), join(own, name));
  }
  writeFileSync(join(own, 'package-lock.json'), lock);
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline'];
  try {
    await promisify(execFile)('npm', ['ci', ...options], { cwd: own });
  } catch (error) {
    if (isOffline(error)) return false;
    throw error;
  }
  writeFileSync(join(own, 'installed.json'), lock);
  if (existsSync(installed) && readFileSync(installed, 'utf8') === lock) {
    rmSync(own, { recursive: true });
    return true;
  }
  rmSync(folder, { recursive: true, force: true });
  renameSync(own, folder);
  return true;
}
