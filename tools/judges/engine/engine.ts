import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type GuardedProcess, startGuarded } from '../../../local/engine/engine.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { installed, type Judge, root, run } from '../judge.ts';

/** Of the names and contents of all jars and libraries that version 3.3.1 consists of. */
const expectedDigest = '3b08243e69b839b780ac9a53a01d6fc1ba106bed603106abf8a1422922ca6e2a';

/** Test files that use an engine: those of the accounts and addresses, the API, the loader and the admin package. */
const suites = ['test/core', 'test/lambdas', 'test/packages', 'test/loader', 'test/end-to-end', 'test/portal'];
const workers = 2;

/** What Jest reports of each file. */
type Results = {
  numPassedTests: number;
  testResults: {
    name: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

/** AWS's own engine for development, instead of the embedded one, under the tests that use an engine. */
export const engine: Judge = {
  description: "DynamoDB Local, AWS's own engine: the tests that use a DynamoDB engine",
  needs: [
    ['java', '-version'],
    ['mvn', '--version'],
  ],
  async judge() {
    const folder = await installed('engine/pom.xml', async (into) => {
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${into}/lib`];
      await run('mvn', ['--batch-mode', '--quiet', '--file', join(import.meta.dirname, 'pom.xml'), ...copy]);
      const digest = digestOf(join(into, 'lib'));
      if (digest !== expectedDigest)
        throw new Error(`DynamoDB Local is not what was expected: its digest is ${digest}`);
    });
    const ports = await Promise.all(Array.from({ length: workers }, freePort));
    const engines = ports.map((port) => start(join(folder, 'lib'), port));
    try {
      const endpoints = ports.map((port) => `http://127.0.0.1:${port}`);
      await Promise.all(endpoints.map(answers));
      const results = join(folder, 'results.json');
      rmSync(results, { force: true });
      const options = [`--maxWorkers=${workers}`, '--json', `--outputFile=${results}`];
      const env = { ...process.env, TEST_ENGINES_GIVEN: endpoints.join(' ') };
      spawnSync('npm', ['test', '--silent', '--', ...options, ...suites], { cwd: root, env, stdio: 'ignore' });
      const { testResults, numPassedTests }: Results = JSON.parse(readFileSync(results, 'utf8'));
      const findings = testResults.flatMap(({ name, assertionResults }) =>
        assertionResults
          .filter(({ status }) => status === 'failed')
          .map(
            ({ fullName, failureMessages }) =>
              `${relative(root, name)}: ${fullName}: ${failureMessages[0]?.slice(0, 300)}`,
          ),
      );
      return { findings, detail: `${numPassedTests} tests passed` };
    } finally {
      await Promise.all(engines.map((one) => one.stop()));
    }
  },
};

function start(lib: string, port: number): GuardedProcess {
  const main = 'software.amazon.dynamodb.services.local.main.ServerRunner';
  const options = ['-Xmx1g', `-Djava.library.path=${lib}`, '-cp', `${lib}/*`, main];
  return startGuarded('java', [...options, '-inMemory', '-sharedDb', '-disableTelemetry', '-port', `${port}`]);
}

/** Waits until an engine answers, whatever it says. */
async function answers(endpoint: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await fetch(endpoint);
      return;
    } catch (error) {
      if (attempt > 100) throw new Error(`DynamoDB Local does not answer at ${endpoint}`, { cause: error });
      await sleep(200);
    }
  }
}

function digestOf(folder: string): string {
  const hash = createHash('sha256');
  for (const file of readdirSync(folder).sort()) hash.update(`${file}\0`).update(readFileSync(join(folder, file)));
  return hash.digest('hex');
}
