import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';

const installed = fileURLToPath(new URL('../../bin/installed.js', import.meta.url));

it('the installed command names the versions of Node that it runs on, where this is another one', () => {
  const asBefore = 'data:text/javascript,process.getBuiltinModule=undefined';
  const { status, stderr } = spawnSync(process.execPath, ['--import', asBefore, installed, '--help'], {
    encoding: 'utf8',
  });
  expect(stderr).toContain('bag-adres needs Node 20.16, or 22.3 or newer; this is Node ');
  expect(stderr).not.toContain('TypeError');
  expect(status).toBe(1);
});
