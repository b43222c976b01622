import { execSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  type EngineMissingError,
  engineBinary,
  type GuardedProcess,
  startGuarded,
} from '../../../local/engine/engine.ts';
import { freePort } from '../../../test/support/free-port.ts';
import { readyText, start as startService } from '../../../test/support/start.ts';
import { digestOf, installed, type Judge, root, run } from '../judge.ts';

/** Of the names and contents of all jars and libraries that version 3.3.1 consists of. */
const expectedDigest = '3b08243e69b839b780ac9a53a01d6fc1ba106bed603106abf8a1422922ca6e2a';

/**
 * Test files that use an engine: those of the accounts and addresses, the API, the loader and the
 * admin package.
 */
const suites = ['core', 'lambdas', 'packages', 'loader', 'end-to-end', 'portal'].map(
  (folder) => `test/${folder}`,
);
const workers = 2;
/** DynamoDB Local then holds the statuses of indexes for a while, of which our tables have none. */
const delayed = ['-delayTransientStatuses'];

/** What Jest reports of each file. */
type Results = {
  numPassedTests: number;
  testResults: {
    name: string;
    assertionResults: { status: string; fullName: string; failureMessages: string[] }[];
  }[];
};

/**
 * AWS's own engine for development, instead of the embedded one, under the tests that use an
 * engine.
 */
export const engine: Judge = {
  description:
    "DynamoDB Local, AWS's own engine: the tests that use a DynamoDB engine, and `npm start`",
  needs: [
    ['java', '-version'],
    ['mvn', '--version'],
  ],
  async judge() {
    const folder = await installed('engine/pom.xml', async (into) => {
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${into}/lib`];
      await run('mvn', [
        '--batch-mode',
        '--quiet',
        '--file',
        join(import.meta.dirname, 'pom.xml'),
        ...copy,
      ]);
      const digest = digestOf(join(into, 'lib'));
      if (digest !== expectedDigest) {
        throw new Error(`DynamoDB Local is not what was expected: its digest is ${digest}`);
      }
    });
    const lib = join(folder, 'lib');
    const findings = [...(await serviceOn(lib, [])), ...(await serviceOn(lib, delayed))];
    const ports = await Promise.all(Array.from({ length: workers }, freePort));
    const engines = ports.map((port) => start(lib, port, delayed));
    try {
      const endpoints = ports.map((port) => `http://127.0.0.1:${port}`);
      await Promise.all(endpoints.map(answers));
      const { testResults, numPassedTests } = runTests(suites, endpoints);
      const failing = testResults.filter(({ assertionResults }) => assertionResults.some(isFailed));
      // On a busy machine two tests at once wait too long for an engine of Java's.
      const files = failing.map(({ name }) => name);
      const again = files.length === 0 ? [] : runTests(files, endpoints.slice(0, 1)).testResults;
      const failed = again.flatMap(({ name, assertionResults }) =>
        assertionResults.filter(isFailed).map(({ fullName, failureMessages: [message] }) => {
          return `${relative(root, name)}: ${fullName}: ${message?.slice(0, 300)}`;
        }),
      );
      return {
        findings: [...findings, ...failed],
        detail: `${numPassedTests} tests passed at once, ${failing.length} files were run again`,
      };
    } finally {
      await Promise.all(engines.map((engine) => engine.stop()));
    }
  },
};

const isFailed = ({ status }: { status: string }) => status === 'failed';

/** Runs test files with a worker for each engine. */
function runTests(files: readonly string[], endpoints: readonly string[]): Results {
  const folder = mkdtempSync(join(tmpdir(), 'judge-engine-'));
  const results = join(folder, 'results.json');
  const options = [`--maxWorkers=${endpoints.length}`, '--json', `--outputFile=${results}`];
  const env = { ...process.env, TEST_ENGINES_GIVEN: endpoints.join(' ') };
  spawnSync('npm', ['test', '--silent', '--', ...options, ...files], {
    cwd: root,
    env,
    stdio: 'ignore',
  });
  try {
    return JSON.parse(readFileSync(results, 'utf8'));
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/**
 * Pastes the lines that `npm start` prints where it has no engine, with another port, and holds the
 * service against its contract. The first line runs DynamoDB Local in Docker; without Docker, and
 * with options, it runs here instead.
 */
async function serviceOn(lib: string, options: readonly string[]): Promise<string[]> {
  const port = await freePort();
  const lines = linesWithoutEngine().map((line) => line.replaceAll(':8000', `:${port}`).trim());
  const [container = '', command = ''] = lines;
  const inDocker = options.length === 0 && hasDocker();
  const id =
    inDocker &&
    execSync(container.replace(`${port}:${port}`, `${port}:8000`), { encoding: 'utf8' }).trim();
  const engine = inDocker ? undefined : start(lib, port, options);
  const data = mkdtempSync(join(tmpdir(), 'judge-engine-'));
  try {
    await answers(`http://127.0.0.1:${port}`);
    const service = startService(['--port', '0', '--data', data], { line: command });
    const printed = await service.until(readyText);
    const [, key = '', url = ''] = /X-API-Key: (\w+)' '(http:\/\/[\d.:]+)/.exec(printed) ?? [];
    const smoke = run('npm', ['run', '--silent', 'smoke', '--', '--url', url, '--key', key]);
    const findings = await smoke.then(
      () => [],
      (error: Error) => [`npm start with ${options.join(' ')}: ${error.message}`],
    );
    process.kill(-(service.child.pid ?? 0), 'SIGINT');
    const code = await service.ended;
    return code === 0 ? findings : [...findings, `${command} ended with ${code}`];
  } finally {
    if (id) execSync(`docker rm --force ${id}`);
    await engine?.stop();
    rmSync(data, { recursive: true });
  }
}

/** The first and the last of the lines to paste. */
function linesWithoutEngine(): string[] {
  try {
    engineBinary('linux', 'another');
  } catch (error) {
    return (error as EngineMissingError).message.split('\n').slice(-2);
  }
  throw new Error('there is an engine for every machine');
}

const hasDocker = () =>
  spawnSync('docker', ['info'], { stdio: 'ignore', timeout: 10_000 }).status === 0;

function start(lib: string, port: number, given: readonly string[] = []): GuardedProcess {
  const main = 'software.amazon.dynamodb.services.local.main.ServerRunner';
  const options = ['-Xmx1g', `-Djava.library.path=${lib}`, '-cp', `${lib}/*`, main];
  const ours = ['-inMemory', '-sharedDb', '-disableTelemetry', '-port', `${port}`];
  return startGuarded('java', [...options, ...ours, ...given]);
}

/** Waits until an engine answers, whatever it says. */
async function answers(endpoint: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await fetch(endpoint);
      return;
    } catch (error) {
      if (attempt > 100) {
        throw new Error(`DynamoDB Local does not answer at ${endpoint}`, { cause: error });
      }
      await sleep(200);
    }
  }
}
