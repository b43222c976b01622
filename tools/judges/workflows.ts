import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';
import { type Judge, root } from './judge.ts';

const actionlint = 'github.com/rhysd/actionlint/cmd/actionlint@v1.7.12';

/** A linter of workflows: those of this repository, and the one that `init` writes. */
export const workflows: Judge = {
  description: 'actionlint: the workflows of GitHub Actions',
  needs: [['go', 'version']],
  async judge() {
    const files = [
      ...globSync('.github/workflows/*.yml', { cwd: root }),
      'docs/examples/pipeline/deploy.yml',
    ];
    const options = { cwd: root, encoding: 'utf8' } as const;
    const { stdout, stderr, status } = spawnSync(
      'go',
      ['run', actionlint, '-oneline', ...files],
      options,
    );
    const findings = stdout.split('\n').filter(Boolean);
    if (status !== 0 && findings.length === 0) {
      throw new Error(`actionlint ended with ${status}: ${stderr}`);
    }
    return { findings, detail: `${files.length} workflows` };
  },
};
