import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readyText, start } from '../../../test/support/start.ts';
import { type Judge, pythonPackages } from '../judge.ts';

const casesEach = 100;

/** A tester that makes requests of the published document alone, valid and invalid, and holds every response to it. */
export const client: Judge = {
  description: 'schemathesis: every check of it on the responses of `npm start`, by the document that this serves',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const packages = await pythonPackages('client/requirements.txt');
    const folder = mkdtempSync(join(tmpdir(), 'judge-client-'));
    const service = start(['--port', '0', '--data', join(folder, 'data')]);
    try {
      const printed = await service.until(readyText);
      const [, origin, key] = /(http:\/\/127\.0\.0\.1:\d+)[\s\S]*?X-API-Key: (\w+)/.exec(printed) ?? [];
      if (!origin || !key) throw new Error(`npm start printed no address and key:\n${printed}`);
      // Only with the key in its settings can it also leave the key out.
      writeFileSync(join(folder, 'schemathesis.toml'), `[auth.openapi.apiKey]\napi_key = "${key}"\n`);
      const options = ['--checks', 'all', '--max-examples', `${casesEach}`, '--continue-on-failure', '--no-color'];
      const { stdout, status } = spawnSync(
        join(packages, 'bin/st'),
        ['run', `${origin}/v1/openapi.json`, ...options, '--workers', '1'],
        { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 },
      );
      const [detail = ''] = /\d+ generated.*/.exec(stdout) ?? [];
      return { findings: status === 0 ? [] : [stdout.slice(stdout.indexOf('= FAILURES ='))], detail };
    } finally {
      service.child.kill('SIGINT');
      await service.ended;
      rmSync(folder, { recursive: true, force: true });
    }
  },
};
