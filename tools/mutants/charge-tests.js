/**
 * The command of `stryker.json`: the tests of `test/core/accounts`, the short ones first, until one
 * fails. Stryker's own runner for Jest tests several changes in one process, and finds the engines
 * of our tests gone from the second one on: each change then looks noticed.
 */
import { spawnSync } from 'node:child_process';
import { globSync } from 'node:fs';

const flags = ['--experimental-vm-modules', '--disable-warning=ExperimentalWarning'];
const jest = [
  'node_modules/jest/bin/jest.js',
  '--runInBand',
  '--silent',
  '--bail',
  '--testEnvironment=<rootDir>/tools/mutants/stop-at-failure.js',
  '--setupFiles=<rootDir>/test/support/quiet.js',
  '--setupFiles=<rootDir>/tools/mutants/first-counterexample.js',
  '--runTestsByPath',
];

const long = ['test/core/accounts/charge/charge-counts-once.property.ts'];
const tests = globSync('test/core/accounts/**/*.{test,property}.ts');
for (const files of [tests.filter((test) => !long.includes(test)), long]) {
  const { status } = spawnSync(process.execPath, [...flags, ...jest, ...files], {
    stdio: 'inherit',
  });
  if (status !== 0) process.exit(1);
}
