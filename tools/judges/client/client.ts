import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Judge, pythonPackages } from '../judge.ts';
import { withBothDocuments } from '../with-service.ts';

const casesEach = 100;

/**
 * A tester that makes requests of the published document alone, valid and invalid, and holds every
 * response to it.
 */
export const client: Judge = {
  description:
    'schemathesis: every check of it on the responses of `npm start`, by the document that this serves',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const packages = await pythonPackages('client/requirements.txt');
    return withBothDocuments(async ({ origin, key, folder }) => {
      // Only with the key in its settings can it also leave the key out.
      writeFileSync(
        join(folder, 'schemathesis.toml'),
        `[auth.openapi.apiKey]\napi_key = "${key}"\n`,
      );
      const options = [
        '--checks',
        'all',
        '--max-examples',
        `${casesEach}`,
        '--continue-on-failure',
        '--no-color',
      ];
      const { stdout, status } = spawnSync(
        join(packages, 'bin/st'),
        ['run', `${origin}/v1/openapi.json`, ...options, '--workers', '1'],
        { cwd: folder, encoding: 'utf8', maxBuffer: 2 ** 26 },
      );
      const [detail = ''] = /\d+ generated.*/.exec(stdout) ?? [];
      return {
        findings: status === 0 ? [] : [stdout.slice(stdout.indexOf('= FAILURES ='))],
        detail,
      };
    });
  },
};
