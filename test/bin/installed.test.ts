import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { sweep } from '../support/sweep.ts';

const installed = fileURLToPath(new URL('../../bin/installed.js', import.meta.url));

const floor = /const packageNode = '(.+)'/.exec(
  readFileSync('tools/release/build-package.ts', 'utf8'),
)?.[1];

/** Starts the command as on another version of Node. */
function startOn(node: string) {
  const versions = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '${node}' } });`;
  const asThere = `data:text/javascript,${encodeURIComponent(versions)}`;
  return spawnSync(process.execPath, ['--import', asThere, installed, '--help'], {
    encoding: 'utf8',
  });
}

it.each(sweep(['22.11.0', '21.7.3', '20.20.2', '18.20.8'], 1))(
  'the installed command names the Node that it needs on %s',
  (node) => {
    const { status, stderr } = startOn(node);
    expect(stderr).toContain(
      `bag-adres needs Node ${floor} or newer; this is Node ${node}. See https://nodejs.org`,
    );
    expect(stderr).not.toContain('TypeError');
    expect(status).toBe(1);
  },
);

it.each(sweep(['22.12.0', '23.0.0', '24.1.0'], 1))(
  'the installed command looks for its program on Node %s',
  (node) => {
    expect(startOn(node).stderr).toMatch(/ERR_MODULE_NOT_FOUND/);
  },
);

it('the docs name the Node that the package needs', () => {
  expect(readFileSync('docs/deploy.md', 'utf8')).toContain(`- Node ${floor} or newer, with npm`);
});
